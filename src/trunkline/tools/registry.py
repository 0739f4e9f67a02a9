"""The registry: tools by name, for a plain agent, the OpenAI Agents SDK, LangChain and MCP."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

from trunkline.errors import ConfigurationError
from trunkline.session.context import TurnContext, current
from trunkline.tools.calls import call_tool
from trunkline.tools.declaration import Tool, as_tool
from trunkline.tools.errors import ToolError
from trunkline.tools.tool_context import CallHost
from trunkline.tools.turn_calls import TurnHost

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool

    from agents import FunctionTool

OnNoSession = Literal["refuse", "allow"]
"""What becomes of a call that must ask where there is no session: it is refused, or the caller allows it."""


class ToolRegistry(Mapping[str, Tool]):
    """Tools by name, in the order in which they were registered."""

    def __init__(self, tools: Iterable[Any] = ()) -> None:
        """Begin with these tools."""
        self._tools: dict[str, Tool] = {}
        for one in tools:
            self.register(one)

    def register(self, given: Any = None, /, **declared: Any) -> Any:
        """Add a tool, a function, or an object with ``name``, ``description`` and ``execute``; give the Tool.

        Also a decorator: ``@registry.register`` or ``@registry.register(kind="edit")``. The keywords are
        those of ``tool``. A name that is taken raises ConfigurationError.
        """
        if given is None:
            return functools.partial(self.register, **declared)
        made = as_tool(given, **declared)
        if made.name in self._tools:
            raise ConfigurationError(f"there is a tool {made.name!r} already: give one of them another name=")
        self._tools[made.name] = made
        return made

    def __getitem__(self, name: str) -> Tool:
        """Give a tool; a KeyError names those that there are."""
        if name not in self._tools:
            raise KeyError(f"there is no tool {name!r}; there are {', '.join(self._tools) or 'none'}")
        return self._tools[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tools)

    def __len__(self) -> int:
        return len(self._tools)

    def schemas(self) -> list[dict[str, Any]]:
        """Name, description and parameters of every tool, for a model that is called by hand."""
        return [
            {"name": one.name, "description": one.description, "parameters": one.schema}
            for one in self._tools.values()
        ]

    async def call(
        self,
        name: str,
        arguments: Any = None,
        ctx: TurnContext | None = None,
        *,
        call_id: str | None = None,
        on_no_session: OnNoSession = "refuse",
    ) -> Any:
        """Call a tool and give its result; the call is shown in the turn that this code runs in.

        ``arguments`` is an object or its JSON text, ``ctx`` another turn than the running one, and
        ``call_id`` the id that the model gave the call. Outside of a session a tool that must ask is
        refused, unless ``on_no_session`` is ``allow``. Raises ToolError, or what the tool raises.
        """
        check_on_no_session(on_no_session)
        if name not in self._tools:
            raise ToolError(f"there is no tool {name!r}; there are {', '.join(self._tools) or 'none'}")
        return await call_here(self._tools[name], arguments, ctx, call_id, on_no_session)

    def for_agent(self, *, on_no_session: OnNoSession = "refuse") -> dict[str, Callable[..., Awaitable[Any]]]:
        """The tools as async functions, for a plain agent: ``await tools["search"](query=...)``.

        Each call is shown in the running turn as pending, in progress, and completed or failed.
        """
        check_on_no_session(on_no_session)
        return {name: _callable(one, on_no_session) for name, one in self._tools.items()}

    def for_openai(self, *, on_no_session: OnNoSession = "refuse") -> list[FunctionTool]:
        """The tools for the OpenAI Agents SDK: ``Agent(tools=registry.for_openai())``."""
        check_on_no_session(on_no_session)
        try:
            from trunkline.tools.openai_tools import function_tools
        except ImportError as error:
            raise _missing(error, "openai") from error
        return function_tools(self.values(), may_run=on_no_session == "allow")

    def for_langchain(self, *, on_no_session: OnNoSession = "refuse") -> list[BaseTool]:
        """The tools for LangChain: ``create_agent(model, tools=registry.for_langchain())``."""
        check_on_no_session(on_no_session)
        try:
            from trunkline.tools.langchain_tools import structured_tools
        except ImportError as error:
            raise _missing(error, "langchain") from error
        return structured_tools(self.values(), may_run=on_no_session == "allow")


def _missing(error: ImportError, extra: str) -> ConfigurationError:
    return ConfigurationError(f"{error.name or error} is missing: run `pip install 'trunkline[{extra}]'`")


def check_on_no_session(given: Any) -> None:
    """Refuse an unknown word."""
    if given not in ("refuse", "allow"):
        raise ConfigurationError(f"on_no_session is 'refuse' or 'allow', not {given!r}")


async def call_here(
    tool: Tool, arguments: Any, ctx: TurnContext | None, call_id: str | None, on_no_session: OnNoSession
) -> Any:
    """Call a tool in a turn: the one that is given, else the one that runs this code, else none."""
    turn = ctx or current()
    host = (
        TurnHost(turn, call_id) if turn is not None else CallHost(call_id, may_run=on_no_session == "allow")
    )
    return await call_tool(tool, arguments, host)


def _callable(tool: Tool, on_no_session: OnNoSession) -> Callable[..., Awaitable[Any]]:
    async def call(**arguments: Any) -> Any:
        return await call_here(tool, arguments, None, None, on_no_session)

    call.__name__ = call.__qualname__ = tool.name
    call.__doc__ = tool.description
    return call
