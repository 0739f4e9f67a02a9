"""Calls of tools that the provider runs itself, streamed in pieces of which only the first has the id."""

from __future__ import annotations

from typing import Any

from trunkline.agents.langchain.messages.provider_blocks import Block, read_arguments

_BEGINS = frozenset({"server_tool_use", "mcp_tool_use", "server_tool_call_chunk"})
_CONTINUES = frozenset({"input_json_delta", "server_tool_call_chunk"})
_COMES_WHOLE = frozenset({"executable_code", "server_tool_call"})


class ServerToolCalls:
    """Follows the calls of one message by their index in it."""

    __slots__ = ("_calls", "_last")

    def __init__(self) -> None:
        self._calls: dict[Any, Block] = {}
        self._last: Any = None
        """The id of the call that came last as a whole."""

    @property
    def open(self) -> list[str]:
        """The ids of the calls that have no result yet."""
        return [call["id"] for call in self._calls.values()]

    def feed(self, block: Block) -> list[Block]:
        """Give a block with the id of its call; before a result comes its call's whole input."""
        kind, index = block.get("type"), block.get("index")
        if kind == "text":
            return [block]
        if kind in _BEGINS and index is not None and block.get("id") and not _is_whole(block):
            return [self._begin(index, block)]
        if kind in _CONTINUES and index in self._calls:
            return [self._continue(index, block)]
        if kind in _COMES_WHOLE:
            self._last = block.get("id")
        elif block.get("tool_call_id") == "":
            # LangChain looks for the call of Google's results in the same chunk only.
            block = {**block, "tool_call_id": self._last}
        call_id = block.get("tool_use_id") or block.get("tool_call_id")
        for begun, call in self._calls.items():
            if call["id"] == call_id:
                del self._calls[begun]
                return [call | {"args": read_arguments(call["args"])}, block]
        return [block]

    def _begin(self, index: Any, block: Block) -> Block:
        call = {"type": "server_tool_call", "id": block["id"], "name": block.get("name")}
        call |= {"extras": block["extras"]} if "extras" in block else {}  # The name of an MCP server's tool.
        self._calls[index] = call | {"args": block.get("args") or ""}
        return self._calls[index] | {"type": "server_tool_call_chunk"}

    def _continue(self, index: Any, block: Block) -> Block:
        piece = str(block.get("partial_json") or block.get("args") or "")
        call = self._calls[index]
        call["args"] += piece
        return {"type": "server_tool_call_chunk", "id": call["id"], "args": piece}


def _is_whole(block: Block) -> bool:
    return bool(block.get("input")) or "partial_json" in block
