"""Two clients on one thread, one that runs and one that follows: `python examples/agui/two_clients.py`.

Behind `trunkline.asgi` a thread outlives its requests. The second client comes in the middle of a run, gets
what was said so far, and hears the rest as the first one does. If the first one hangs up, the run goes on
for as long as anybody follows it.
"""

import asyncio
import json
import socket

import httpx
import uvicorn

import trunkline

TOKEN = "a-token-of-your-own"
company = asyncio.Event()


@trunkline.agent(name="narrator")
async def narrator(prompt, ctx):
    yield "Once upon a time "
    async with asyncio.timeout(20):
        await company.wait()  # The second client is here now.
    yield "there were two readers."


app = trunkline.asgi(narrator, tokens=TOKEN)


async def read(client, path, on_text=None):
    """Take part in the thread, as an AG-UI client does; give the text that was heard."""
    body = {"threadId": "tale", "runId": path, "messages": [{"id": "1", "role": "user", "content": "Tell"}]}
    heard = ""
    async with client.stream("POST", path, json=body) as response:
        response.raise_for_status()
        async for line in response.aiter_lines():
            event = json.loads(line.removeprefix("data: ")) if line.startswith("data: ") else {}
            if event.get("type") == "TEXT_MESSAGE_CONTENT":
                heard += event["delta"]
                if on_text:
                    on_text()
    return heard


async def main():
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    begun = asyncio.Event()
    address = f"http://127.0.0.1:{listener.getsockname()[1]}"
    async with httpx.AsyncClient(
        base_url=address, headers={"authorization": f"Bearer {TOKEN}"}, timeout=30
    ) as client:
        first = asyncio.create_task(read(client, "/agui", begun.set))
        await begun.wait()
        second = asyncio.create_task(read(client, "/copilotkit/agent/default/connect", company.set))
        for name, heard in (("runs", first), ("follows", second)):
            print(f"the one that {name} heard: {await heard}")
    server.should_exit = True
    await serving


if __name__ == "__main__":
    asyncio.run(main())
