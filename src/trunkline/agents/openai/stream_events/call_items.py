"""Output items that are calls of tools: functions, custom tools, and the tools of the SDK and of OpenAI.

Each is read as one description: the name, the arguments as people see them, the arguments by which title,
files and diff are found (``trunkline.tools.naming``), and for tools that the provider runs itself how the
call ended.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import Any, cast

import msgspec

from trunkline import content as c
from trunkline import events as ev
from trunkline.agents.openai.stream_events.fields import (
    as_fields,
    as_json,
    field,
    id_of,
    list_field,
    read_arguments,
    text_field,
)
from trunkline.agents.openai.stream_events.outputs import Outcome, content_of, failed

__all__ = ["CALL_TYPES", "OUTPUT_TYPES", "CallItem", "image_of", "read_call"]

OUTPUT_TYPES = frozenset({
    "function_call_output", "custom_tool_call_output", "computer_call_output", "shell_call_output",
    "local_shell_call_output", "apply_patch_call_output", "program_output", "tool_search_output",
})  # fmt: skip
"""Items that are the output of a call."""

_IMAGE_TYPES = {"jpeg": "image/jpeg", "webp": "image/webp", "gif": "image/gif", "svg": "image/svg+xml"}
_PATCH_HEADERS = {"create_file": "Add", "update_file": "Update", "delete_file": "Delete"}


class CallItem(msgspec.Struct, frozen=True, kw_only=True):
    """A call as its item describes it."""

    native_id: str | None
    name: str
    input: Any = None
    """The arguments; None while they are not known."""
    named: Any = None
    """The arguments under the names by which title, files and diff are found; None: those of ``input``."""
    server: str | None = None
    """The MCP server that the provider asks."""
    kind: ev.ToolKind | None = None
    outcome: Outcome | None = None
    """How it ended, if the provider runs it itself."""


def read_call(item: Any, *, whole: bool = True) -> CallItem | None:
    """Read an item as a call; None if it is none. Of an item that is not ``whole`` only the name is read."""
    read = _READERS.get(text_field(item, "type"))
    if read is None:
        return None
    call = read(item)
    return call if whole else msgspec.structs.replace(call, input=None, named=None, outcome=None)


# -- calls that the program runs --------------------------------------------------------------------


def _function(item: Any) -> CallItem:
    return CallItem(
        native_id=id_of(item),
        name=text_field(item, "name"),
        input=read_arguments(field(item, "arguments")),
    )


def _custom(item: Any) -> CallItem:
    return CallItem(
        native_id=id_of(item), name=text_field(item, "name"), input={"input": text_field(item, "input")}
    )


def _computer(item: Any) -> CallItem:
    actions = as_json(field(item, "actions") or [field(item, "action")])
    checks = as_json(list_field(item, "pending_safety_checks"))
    given = {"actions": actions} | ({"pending_safety_checks": checks} if checks else {})
    words = [text_field(action, "type") for action in cast("list[Any]", actions)]
    return CallItem(
        native_id=id_of(item),
        name="computer",
        input=given,
        named={"description": ", ".join(filter(None, words))},
        kind="execute",
    )


def _shell(item: Any) -> CallItem:
    action = field(item, "action")
    commands = [one for one in list_field(action, "commands") if isinstance(one, str)]
    return CallItem(
        native_id=id_of(item), name="shell", input=as_json(action), named={"command": " && ".join(commands)}
    )


def _local_shell(item: Any) -> CallItem:
    action = field(item, "action")
    words = [str(one) for one in list_field(action, "command")]
    return CallItem(
        native_id=id_of(item), name="local_shell", input=as_json(action), named={"command": shlex.join(words)}
    )


def _apply_patch(item: Any) -> CallItem:
    operation = field(item, "operation")
    path, header = text_field(operation, "path"), _PATCH_HEADERS.get(text_field(operation, "type"), "Update")
    patch = f"*** {header} File: {path}\n{text_field(operation, 'diff')}"
    return CallItem(
        native_id=id_of(item),
        name="apply_patch",
        input=as_json(operation),
        named={"patch": patch, "description": path},
        kind="delete" if header == "Delete" else "edit",
    )


def _tool_search(item: Any) -> CallItem:
    return CallItem(
        native_id=id_of(item), name="tool_search", input=as_json(field(item, "arguments")), kind="search"
    )


def _program(item: Any) -> CallItem:
    return CallItem(
        native_id=id_of(item), name="program", input={"code": text_field(item, "code")}, kind="execute"
    )


# -- calls that the provider runs -------------------------------------------------------------------


def _web_search(item: Any) -> CallItem:
    action = field(item, "action")
    pages = [url for source in list_field(action, "sources") if (url := text_field(source, "url"))]
    queries = [text_field(action, "query"), *(str(query) for query in list_field(action, "queries"))]
    words = next(filter(None, [*queries, text_field(action, "pattern"), text_field(action, "url")]), None)
    opens = text_field(action, "type") == "open_page"
    return CallItem(
        native_id=id_of(item),
        name="web_search",
        input=as_json(action),
        named={"query": words} if words else {},
        kind="fetch" if opens else "search",
        outcome=_outcome(item, tuple(c.SourceBlock(source_id=url, url=url) for url in pages), pages or None),
    )


def _file_search(item: Any) -> CallItem:
    queries = [str(query) for query in list_field(item, "queries")]
    results = list_field(item, "results")
    passages = tuple(
        c.ResourceBlock(
            uri=f"file:{text_field(one, 'filename') or text_field(one, 'file_id')}",
            text=text_field(one, "text"),
        )
        for one in results
    )
    return CallItem(
        native_id=id_of(item),
        name="file_search",
        input={"queries": queries},
        named={"query": ", ".join(queries)},
        outcome=_outcome(item, passages, as_json(results) or None),
    )


def _code_interpreter(item: Any) -> CallItem:
    outputs = list_field(item, "outputs")
    shown: list[c.Content] = []
    for output in outputs:
        if text_field(output, "type") == "logs":
            shown += content_of(text_field(output, "logs"))
        else:
            shown += content_of([output])
    return CallItem(
        native_id=id_of(item),
        name="code_interpreter",
        input={"code": text_field(item, "code")},
        outcome=_outcome(item, tuple(shown), as_json(outputs) or None),
    )


def _mcp(item: Any) -> CallItem:
    error, output = field(item, "error"), field(item, "output")
    content = content_of(output)
    reason = _mcp_error(error) if error is not None else None
    ended = _outcome(item, content, as_json(output))
    return CallItem(
        # A call that was asked about goes on under the id of the question.
        native_id=text_field(item, "approval_request_id") or id_of(item),
        name=text_field(item, "name"),
        input=read_arguments(field(item, "arguments")),
        server=text_field(item, "server_label") or None,
        outcome=failed(content, as_json(error), reason) if reason is not None else ended,
    )


def _mcp_error(error: Any) -> str:
    if isinstance(error, str):
        return error
    return text_field(error, "message") or c.text_of(content_of(field(error, "content"))) or "the tool failed"


def _mcp_approval(item: Any) -> CallItem:
    return CallItem(
        native_id=id_of(item),
        name=text_field(item, "name"),
        input=read_arguments(field(item, "arguments")),
        server=text_field(item, "server_label") or None,
    )


def _image_generation(item: Any) -> CallItem:
    kept = ("action", "background", "quality", "size", "output_format", "revised_prompt")
    given = {key: value for key, value in as_fields(item).items() if key in kept}
    image = image_of(text_field(item, "result"), text_field(item, "output_format"))
    error = field(item, "error")
    ended = _outcome(item, () if image is None else (image,), None)
    return CallItem(
        native_id=id_of(item),
        name="image_generation",
        input=given,
        named={"description": text_field(item, "revised_prompt")},
        outcome=failed((), as_json(error), text_field(error, "message")) if error is not None else ended,
    )


def image_of(data: str, output_format: str) -> c.ImageBlock | None:
    """An image that the provider made."""
    return c.ImageBlock(mime_type=_IMAGE_TYPES.get(output_format, "image/png"), data=data) if data else None


def _outcome(item: Any, content: tuple[c.Content, ...], raw_output: Any) -> Outcome:
    status = text_field(item, "status")
    if status == "incomplete":
        return failed(content, raw_output, "it was not finished")
    return (
        failed(content, raw_output) if status == "failed" else Outcome(content=content, raw_output=raw_output)
    )


_READERS: dict[str, Callable[[Any], CallItem]] = {
    "function_call": _function,
    "custom_tool_call": _custom,
    "computer_call": _computer,
    "shell_call": _shell,
    "local_shell_call": _local_shell,
    "apply_patch_call": _apply_patch,
    "tool_search_call": _tool_search,
    "program": _program,
    "web_search_call": _web_search,
    "file_search_call": _file_search,
    "code_interpreter_call": _code_interpreter,
    "mcp_call": _mcp,
    "mcp_approval_request": _mcp_approval,
    "image_generation_call": _image_generation,
}
CALL_TYPES = frozenset(_READERS)
"""Items that are calls."""
