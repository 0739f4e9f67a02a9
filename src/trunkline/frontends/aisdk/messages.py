"""The messages of a chat as a page holds them: a fold over the encoder's own chunks."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, cast

from trunkline import events as ev
from trunkline.conversation import is_imported
from trunkline.cursor import Entry
from trunkline.frontends.aisdk.content_parts import user_part
from trunkline.frontends.aisdk.encoder import AisdkEncoder
from trunkline.frontends.aisdk.message_reducer import MessageReducer
from trunkline.frontends.aisdk.options import AisdkOptions
from trunkline.frontends.aisdk.user_parts import DATA_PARTS, data_parts_of
from trunkline.json_patch import PatchError, apply_patch
from trunkline.protocols.aisdk.wire import JsonObject, VersionNumber, version_of

__all__ = ["CLIENT_TOOLS", "MessageFolder", "client_tools_of", "fold_ui_messages", "user_message"]

CLIENT_TOOLS = "aisdk.clientTools"
"""Where the meta of a person's message says which tools its page has."""
_OWN_META = (CLIENT_TOOLS, DATA_PARTS)


def fold_ui_messages(
    events: Iterable[ev.Event | Entry],
    options: AisdkOptions | None = None,
    *,
    version: VersionNumber | None = None,
    client_tools: Collection[str] = (),
) -> list[JsonObject]:
    """Give the messages that a page holds after these events; the id of an assistant's is its turn's.

    It holds the same when it took the responses of all turns one after the other.
    """
    folder = MessageFolder(options, version=version, client_tools=client_tools)
    for event in events:
        folder.feed(event)
    return folder.messages


def user_message(event: ev.UserMessage) -> JsonObject:
    """Give what a person said as a message of a page."""
    parts = [user_part(block) for block in event.content]
    for at, part in data_parts_of(event.meta):
        parts.insert(at, part)
    message: JsonObject = {"id": event.message_id, "role": "user", "parts": parts}
    metadata = {name: value for name, value in (event.meta or {}).items() if name not in _OWN_META}
    return {**message, "metadata": metadata} if metadata else message


def client_tools_of(event: ev.UserMessage) -> list[str]:
    """Give the names of the page's own tools, which came with a person's message."""
    names: Any = (event.meta or {}).get(CLIENT_TOOLS)
    return [str(name) for name in cast("list[Any]", names)] if isinstance(names, list) else []


def _says_something(message: JsonObject) -> bool:
    """Whether an assistant's message has a part; one that a page brought along, more than a step."""
    if is_imported(message["id"]):
        return any(part["type"] != "step-start" for part in message["parts"])
    return bool(message["parts"])


class _Turn:
    """A turn under way: its encoder, its message, and the messages of the journal in it."""

    def __init__(self, encoder: AisdkEncoder, reducer: MessageReducer) -> None:
        self.encoder = encoder
        self.reducer = reducer
        self.message_ids: list[str] = []


class MessageFolder:
    """Folds events one by one; ``messages`` is right after every event."""

    def __init__(
        self,
        options: AisdkOptions | None = None,
        *,
        version: VersionNumber | None = None,
        client_tools: Collection[str] = (),
    ) -> None:
        self._options = options or AisdkOptions()
        self._version: VersionNumber = version if version is not None else self._options.version
        self._client_tools = client_tools
        self._folded: list[tuple[str, JsonObject | _Turn]] = []
        """The messages, and by which ids the journal knows what is in them."""
        self._turn: _Turn | None = None
        self._is_listed = False
        self._state: Any = None
        self._seq = 0

    @property
    def messages(self) -> list[JsonObject]:
        """The messages so far."""
        folded = [item.reducer.message if isinstance(item, _Turn) else item for _, item in self._folded]
        return [message for message in folded if message["role"] != "assistant" or _says_something(message)]

    def feed(self, item: ev.Event | Entry) -> None:
        """Take one event."""
        self._seq += 1
        event: Any = item.event if isinstance(item, Entry) else item
        if isinstance(event, ev.Rewound):
            self._rewind(event.to_message_id)
        elif isinstance(event, ev.TurnStarted):
            self._begin(event)
        self._remember(event)
        turn = self._turn
        entry = item if isinstance(item, Entry) else Entry(self._seq, 0, 0, float(self._seq), event)
        chunks = [] if turn is None else turn.encoder.feed(entry)
        if isinstance(event, ev.UserMessage) and not chunks:
            # What joined the turn is a part of the assistant's message, if the version has one.
            self._folded.append((event.message_id, user_message(event)))
            return
        if turn is None:
            return
        turn.reducer.feed_all(chunks)
        if not self._is_listed and not isinstance(event, ev.TurnStarted):
            # The person's message comes first, which is told in the turn.
            self._folded.append((event.turn_id or "", turn))
            self._is_listed = True
        if (message_id := getattr(event, "message_id", None)) is not None:
            turn.message_ids.append(message_id)
        if isinstance(event, ev.TurnFinished | ev.TurnFailed):
            self._turn = None

    def _begin(self, event: ev.TurnStarted) -> None:
        turn_id = event.turn_id or ""
        encoder = AisdkEncoder(
            turn_id,
            self._options,
            version=self._version,
            state=self._state,
            client_tools=self._client_tools,
            folds=True,
        )
        self._turn = _Turn(encoder, MessageReducer(turn_id, version_of(self._version)))
        self._turn.reducer.feed_all(encoder.begin())
        self._is_listed = False

    def _remember(self, event: Any) -> None:
        """Keep the shared state, with which the next turn begins."""
        if isinstance(event, ev.StateReplaced):
            self._state = event.state
        elif isinstance(event, ev.StatePatched):
            try:
                self._state = apply_patch(self._state, event.patch)
            except PatchError:
                return

    def _rewind(self, to_message_id: str | None) -> None:
        """Drop what was taken back; a turn of which something is left stays whole."""
        if to_message_id is None:
            self._folded.clear()
            return
        for index, (name, item) in enumerate(self._folded):
            ids = item.message_ids if isinstance(item, _Turn) else ()
            if to_message_id == name or to_message_id in ids:
                del self._folded[index + 1 :]
                return
