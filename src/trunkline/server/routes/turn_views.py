"""One turn through the encoder of each front end: what its clients are sent, with the times of the records.

A run of AG-UI and a response of the AI SDK end where the turn waits for answers, and the next one begins
when it goes on, as their clients see it. Of ACP there is what the agent side sends: updates, the requests
of questions, and the answer to the prompt.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, Protocol

import msgspec

from trunkline import events as ev
from trunkline.cursor import Entry
from trunkline.error_redaction import without_words
from trunkline.frontends.acp.encoder import AcpEncoder, Ask, EndPrompt, Out, WaitForMessage
from trunkline.frontends.acp.prompt_view import answer_to_prompt
from trunkline.frontends.acp.questions import Asker
from trunkline.frontends.agui.encoder import AguiEncoder
from trunkline.frontends.agui.options import AguiOptions
from trunkline.frontends.aisdk.encoder import AisdkEncoder
from trunkline.frontends.aisdk.options import AisdkOptions
from trunkline.frontends.unified.encoder import UnifiedEncoder
from trunkline.frontends.unified.options import UnifiedOptions
from trunkline.protocols.acp import wire as acp
from trunkline.protocols.jsonrpc.messages import RpcError

_encode = msgspec.json.Encoder().encode

CLIENT = msgspec.convert(
    {
        "session": {"notices": {}, "compaction": {}, "configOptions": {"boolean": {}}},
        "elicitation": {"form": {}, "url": {}},
    },
    acp.ClientCapabilities,
)
"""An editor that can show everything."""


class TurnView(Protocol):
    """A turn on one wire."""

    def feed(self, entry: Entry) -> list[bytes]:
        """Give the messages of an event, as JSON."""
        ...

    def close(self) -> list[bytes]:
        """Give what is still to be sent."""
        ...


class EventsView:
    """The neutral events themselves."""

    def feed(self, entry: Entry) -> list[bytes]:
        """Give the event."""
        return [_encode(without_words(entry.event))]

    def close(self) -> list[bytes]:
        """Give nothing more."""
        return []


class AcpView:
    """What an editor is sent."""

    def __init__(self, session_id: str, folder: str | None) -> None:
        self._session_id = session_id
        self._encoder = AcpEncoder(session_id, CLIENT, folder=folder, shows_exceptions=False)

    def feed(self, entry: Entry) -> list[bytes]:
        """Give the lines of an event."""
        return self._lines(self._encoder.feed(entry))

    def close(self) -> list[bytes]:
        """Give what still waits."""
        return self._lines(self._encoder.close())

    def _lines(self, outs: list[Out]) -> list[bytes]:
        lines: list[bytes] = []
        for out in outs:
            if isinstance(out, bytes):
                lines.append(out)
            elif isinstance(out, Ask):
                lines += self._request(out)
            elif isinstance(out, EndPrompt):
                lines.append(_encode(_prompt_answer(out.terminal)))
            elif isinstance(out, WaitForMessage):
                lines.append(_encode(_prompt_answer(None)))
        return lines

    def _request(self, ask: Ask) -> list[bytes]:
        """Give the request of a question, as it is sent to a client that has not answered yet."""
        sent = _Sent()
        asking = Asker(sent, self._session_id, _no_answer, CLIENT).ask(ask)
        # It goes on to the first answer of the client, which never comes.
        with suppress(StopIteration):
            asking.send(None)
        asking.close()
        return [_encode(request) for request in sent.requests]


class _Sent:
    """A connection on which requests are only written down."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []

    def ask(self, method: str, params: dict[str, Any]) -> tuple[int, asyncio.Future[Any]]:
        """Write a request down."""
        number = len(self.requests)
        self.requests.append({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        return number, asyncio.get_running_loop().create_future()

    def withdraw_request(self, request_id: int) -> None:
        """Nothing was sent."""

    def notify(self, method: str, params: dict[str, Any]) -> None:
        """Nothing is sent after the first request."""

    def spawn(self, work: Coroutine[Any, Any, Any]) -> object:
        """Nothing runs beside it."""
        work.close()
        return None


async def _no_answer(answer: object) -> None:
    """Take the answer to a question that no client could be asked; here it is nobody's."""


def _prompt_answer(terminal: ev.TurnFinished | ev.TurnFailed | None) -> dict[str, Any]:
    """Give the answer to ``session/prompt``."""
    answer: dict[str, Any] = {"jsonrpc": "2.0", "id": "prompt"}
    if isinstance(terminal, ev.TurnFailed):
        terminal = without_words(terminal)
    try:
        return {**answer, "result": answer_to_prompt(terminal)}
    except RpcError as error:
        return {**answer, "error": {"code": error.rpc_code, "message": error.message, "data": error.data}}


class RunsView:
    """A wire with runs, which end where the turn waits for answers."""

    def __init__(self, encoder: AguiEncoder | AisdkEncoder) -> None:
        self._encoder: Any = encoder
        self._runs = 0
        self._in_run = False

    def feed(self, entry: Entry) -> list[bytes]:
        """Give the messages of an event, and before them the beginning of a run."""
        out: list[Any] = []
        if not self._in_run and not isinstance(entry.event, ev.RunOpened | ev.RunClosed):
            out += self._encoder.begin(entry.at)
            # A run inside a turn announces what is open: its client has seen no start of it in this run.
            out += self._encoder.announce() if self._runs else []
            self._runs, self._in_run = self._runs + 1, True
        out += self._encoder.feed(entry)
        if isinstance(entry.event, ev.TurnSuspended):
            self._in_run = False
        return [_encode(message) for message in out]

    def close(self) -> list[bytes]:
        """Give nothing more: a turn that still runs has no end yet."""
        return []


class UnifiedView:
    """UnifiedMessages."""

    def __init__(self, session_id: str, options: UnifiedOptions) -> None:
        self._encoder = UnifiedEncoder(session_id, options)

    def feed(self, entry: Entry) -> list[bytes]:
        """Give the messages of an event."""
        return [_encode(message) for message in self._encoder.feed(entry)]

    def close(self) -> list[bytes]:
        """Give nothing more."""
        return []


def views_of(
    session_id: str,
    turn_id: str,
    *,
    folder: str | None,
    state: Any,
    agui: AguiOptions,
    aisdk: AisdkOptions,
    unified: UnifiedOptions,
) -> dict[str, TurnView]:
    """Give a view of a turn for each wire; ``state`` is the shared state where the turn begins."""
    return {
        "events": EventsView(),
        "acp": AcpView(session_id, folder),
        "agui": RunsView(AguiEncoder(session_id, turn_id, agui, state=state)),
        "aisdk": RunsView(AisdkEncoder(turn_id, aisdk, state=state)),
        "unified": UnifiedView(session_id, unified),
    }
