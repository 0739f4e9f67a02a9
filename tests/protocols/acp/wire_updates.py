"""Updates as any agent may send them: right, wrong in a field, late, twice, or never heard of."""

from typing import Any

from hypothesis import strategies as st
from tests.strategies import json_values

__all__ = ["STEPS", "SUBAGENT_STEPS", "Step", "updates"]

Step = tuple[str, Any]
"""What happens to a decoder: a method of it, and what that is given."""

_TEXTS = st.text(alphabet="ab é😀\n", max_size=5)
_IDS = st.sampled_from(["a", "b", "c"])
_MAYBE_IDS = st.none() | st.sampled_from(["m1", "m2", "a"])
_BLOCKS = st.one_of(
    st.fixed_dictionaries({"type": st.just("text"), "text": _TEXTS}),
    st.just({"type": "image", "data": "aGk=", "mimeType": "image/png"}),
    st.just({"type": "resource_link", "uri": "file:///a", "name": "a"}),
    st.just({"type": "resource", "resource": {"uri": "file:///a", "text": "x"}}),
    st.just({"type": "hologram"}),
)
_TOOL_CONTENT = st.one_of(
    st.fixed_dictionaries({"type": st.just("content"), "content": _BLOCKS}),
    st.just({"type": "diff", "path": "/a", "oldText": None, "newText": "x"}),
    st.fixed_dictionaries({"type": st.just("terminal"), "terminalId": st.sampled_from(["x", "y"])}),
)
_TERMINAL = st.fixed_dictionaries(
    {"data": _TEXTS}, optional={"terminal_id": st.sampled_from(["x", "y"]), "exit_code": st.just(3)}
)
_META = st.fixed_dictionaries(
    {},
    optional={
        "claudeCode": st.fixed_dictionaries(
            {},
            optional={
                "toolName": _TEXTS,
                "toolResponse": json_values,
                "parentToolUseId": _IDS,
            },
        ),
        "trunkline": st.fixed_dictionaries({"lane": st.sampled_from(["l1", "a"])}),
        "terminal_info": _TERMINAL,
        "terminal_output": _TERMINAL,
        "terminal_output_delta": _TERMINAL,
        "terminal_exit": _TERMINAL,
        "vendor": json_values,
    },
)
_STATUSES = st.sampled_from(["pending", "in_progress", "completed", "failed", "paused", "cancelled"])
_NOTHING: st.SearchStrategy[Any] = st.just({})
_CALL: dict[str, st.SearchStrategy[Any]] = {
    "title": _TEXTS,
    "name": _TEXTS,
    "kind": st.sampled_from(["read", "execute", "teleport"]),
    "status": _STATUSES,
    "rawInput": _NOTHING | json_values,
    "rawOutput": json_values,
    "content": st.lists(_TOOL_CONTENT, max_size=2),
    "locations": st.lists(st.just({"path": "/a", "line": 2}), max_size=1),
    "_meta": _META,
}
_ENTRIES = st.lists(st.fixed_dictionaries({"content": _TEXTS, "status": _STATUSES}), max_size=2)
_OPTION = {
    "id": "mode",
    "name": "Mode",
    "category": "mode",
    "type": "select",
    "currentValue": "a",
    "options": [{"value": "a", "name": "A"}],
}


_STATES: list[Any] = [{"state": "running"}, {"state": "idle"}, {"state": "idle", "error": {}}]
_MODES: list[Any] = [{"currentModeId": "a", "availableModes": [{"id": "a", "name": "A"}]}]
_MODELS: list[Any] = [{"currentModelId": "b", "availableModels": []}]


def _update(kind: str, needed: dict[str, Any], /, **optional: Any) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({"sessionUpdate": st.just(kind), **needed}, optional=optional)


def _chunk(kind: str) -> st.SearchStrategy[dict[str, Any]]:
    return _update(kind, {"content": _BLOCKS}, messageId=_MAYBE_IDS, _meta=_META)


_KNOWN = st.one_of(
    _chunk("agent_message_chunk"),
    _chunk("agent_thought_chunk"),
    _chunk("user_message_chunk"),
    _update("tool_call", {"toolCallId": _IDS}, **_CALL),
    _update("tool_call_update", {"toolCallId": _IDS}, **_CALL),
    _update("tool_call_update", {"toolCallId": _IDS}, **_CALL),
    _update("plan", {"entries": _ENTRIES}, _meta=_META),
    _update(
        "plan_update",
        {
            "plan": st.fixed_dictionaries({"type": st.just("items"), "planId": _IDS, "entries": _ENTRIES})
            | st.fixed_dictionaries({"type": st.just("markdown"), "planId": _IDS, "content": _TEXTS})
        },
    ),
    _update("plan_removed", {"planId": _IDS}),
    _update(
        "available_commands_update", {"availableCommands": st.just([{"name": "go", "description": "d"}])}
    ),
    _update("current_mode_update", {"currentModeId": _IDS}, _meta=_META),
    _update("config_option_update", {"configOptions": st.lists(st.just(_OPTION), max_size=2)}),
    _update("session_info_update", {}, title=st.none() | _TEXTS, updatedAt=_TEXTS),
    _update("usage_update", {"used": st.integers(0, 9), "size": st.just(10)}, cost=json_values),
    _update("notice", {"severity": st.sampled_from(["info", "fatal"]), "title": _TEXTS}),
    _update(
        "compaction_update",
        {"compactionId": _IDS, "status": _STATUSES},
        summary=st.lists(_BLOCKS, max_size=1),
        error=_TEXTS,
    ),
    _update("compaction_summary_chunk", {"compactionId": _IDS, "content": _BLOCKS}),
    _update(
        "subagent_update",
        {"sessionId": st.sampled_from(["s1", "l1"])},
        title=_TEXTS,
        state=st.sampled_from(_STATES),
    ),
    _update("session_message", {"messageId": _IDS}, content=st.lists(_BLOCKS, max_size=1)),
    _update("session_message_chunk", {"messageId": _IDS, "content": _BLOCKS}),
)


@st.composite
def _spoiled(draw: st.DrawFn) -> Any:
    """Give an update with any value in one of its fields, or in one below."""
    update = draw(_KNOWN)
    inside: Any = update
    while True:
        key = draw(st.sampled_from(sorted(inside)))
        if isinstance(inside[key], dict) and inside[key] and draw(st.booleans()):
            inside[key] = dict(inside[key])
            inside = inside[key]
        else:
            inside[key] = draw(json_values)
            return update


updates: st.SearchStrategy[Any] = st.one_of(_KNOWN, _KNOWN, _KNOWN, _spoiled(), json_values)

_RESULTS = st.fixed_dictionaries(
    {},
    optional={
        "modes": json_values | st.sampled_from(_MODES),
        "models": json_values | st.sampled_from(_MODELS),
        "configOptions": json_values | st.just([_OPTION]),
    },
)
STEPS: st.SearchStrategy[list[Step]] = st.lists(
    st.one_of(
        *[st.tuples(st.just("feed"), updates)] * 8,
        st.tuples(st.just("begin_turn"), st.lists(_BLOCKS, max_size=1)),
        st.tuples(st.just("close"), st.sampled_from(["end_turn", "cancelled", "tired"])),
        st.tuples(
            st.just("permission"),
            st.fixed_dictionaries(
                {"toolCall": st.fixed_dictionaries({"toolCallId": _IDS}, optional=_CALL) | json_values}
            ),
        ),
        st.tuples(st.just("denied"), _IDS),
        st.tuples(st.just("terminal"), st.sampled_from(["x", "z"])),
        st.tuples(st.just("take_result"), _RESULTS),
        st.tuples(st.just("set_option"), _IDS | st.just("mode")),
    ),
    max_size=25,
)

_OF_SUBAGENT = st.fixed_dictionaries({"claudeCode": st.fixed_dictionaries({"parentToolUseId": _IDS})})
SUBAGENT_STEPS: st.SearchStrategy[list[Step]] = st.lists(
    st.one_of(
        st.tuples(
            st.just("feed"),
            _update("tool_call", {"toolCallId": _IDS}, _meta=_OF_SUBAGENT)
            | _update("tool_call_update", {"toolCallId": _IDS, "status": st.just("completed")})
            | _update(
                "agent_message_chunk", {"content": st.just({"type": "text", "text": "x"})}, _meta=_OF_SUBAGENT
            ),
        ),
        st.tuples(st.just("denied"), _IDS),
    ),
    max_size=12,
)
"""Subagents that begin, work and end in any order, and calls that are each other's parents."""
