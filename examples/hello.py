"""A whole agent: `trunkline chat examples/hello.py:hello`, or in an editor (docs/editors.md)."""

import trunkline


@trunkline.agent(name="hello", title="Hello")
async def hello(prompt, ctx):
    yield f"You said {prompt.text}.\n"
    if await ctx.permission("Write hello.txt?", tool="write_file", kind="edit", input={"path": "hello.txt"}):
        await ctx.files.write("hello.txt", prompt.text)
        yield "I wrote it down."
