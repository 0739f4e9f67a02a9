"""wrap_tool: shows the calls of any function in the turn that it is called in."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Awaitable, Callable
from typing import Any, Literal

from trunkline.errors import ConfigurationError, TurnCancelled
from trunkline.session.context import current
from trunkline.session.handles import in_loop
from trunkline.tools.arguments import SchemaArguments, takes
from trunkline.tools.declaration import Tool, as_tool, name_of
from trunkline.tools.docstrings import read_docstring
from trunkline.tools.errors import ToolError
from trunkline.tools.registry import OnNoSession, call_here, check_on_no_session
from trunkline.tools.tool_context import ToolContext

OnError = Literal["raise", "return"]
CallId = str | Callable[[], "str | None"]
"""The id of a call, or a function that gives the id of the one that is made."""


class WrappedTool:
    """An async function that shows its calls; ``sync`` is for plain code in a thread of its own."""

    def __init__(
        self, tool: Tool, call_id: CallId | None, on_error: OnError, on_no_session: OnNoSession
    ) -> None:
        """Made by ``wrap_tool``."""
        self.tool = tool
        self._call_id = call_id
        self._on_error = on_error
        self._on_no_session: OnNoSession = on_no_session
        functools.update_wrapper(self, tool.function, updated=())

    async def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the tool; what it raises is raised, or returned as a dict."""
        call_id = self._call_id() if callable(self._call_id) else self._call_id
        try:
            arguments = self._arguments(args, kwargs)
            return await call_here(self.tool, arguments, None, call_id, self._on_no_session)
        except TurnCancelled:
            raise
        except Exception as error:
            if self._on_error == "raise":
                raise
            return {"status": "error", "error": str(error) or type(error).__name__}

    def sync(self, *args: Any, **kwargs: Any) -> Any:
        """Call the tool from plain code."""
        if in_loop():
            raise RuntimeError(f"write `await {self.tool.name}(...)`: sync() is for plain code in a thread")
        turn = current()
        work = self(*args, **kwargs)
        return asyncio.run(work) if turn is None else turn.wait(work)

    def _arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """The arguments by name: a call shows them so."""
        if not args:
            return kwargs
        parameters = [
            one
            for one in _parameters(self.tool.name, self.tool.function)
            if one.name not in self.tool.context_parameters
        ]
        names = [
            one.name for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)
        ]
        rest = next((one.name for one in parameters if one.kind is one.VAR_POSITIONAL), None)
        if len(args) > len(names) and rest is None:
            raise ToolError(f"{self.tool.name} takes {len(names)} arguments by position, not {len(args)}")
        more = {} if rest is None or len(args) <= len(names) else {rest: list(args[len(names) :])}
        return {**dict(zip(names, args, strict=False)), **more, **kwargs}


def wrap_tool(
    tool: Any,
    *,
    call_id: CallId | None = None,
    on_error: OnError = "raise",
    on_no_session: OnNoSession = "refuse",
    **declared: Any,
) -> Callable[..., Awaitable[Any]] | WrappedTool:
    """Show the calls of a tool, a function or an object with ``execute`` in the turn they are made in.

    A call is shown as pending, in progress, and completed or failed. What the tool raises is raised again;
    with ``on_error="return"`` it is ``{"status": "error", "error": ...}`` instead. ``call_id`` is the id that
    a model gave the call. The other keywords are those of ``tool``. The arguments of a tool are checked;
    those of a plain function are passed as they are.
    """
    if on_error not in ("raise", "return"):
        raise ConfigurationError(f"on_error is 'raise' or 'return', not {on_error!r}")
    check_on_no_session(on_no_session)
    return WrappedTool(_as_tool(tool, declared), call_id, on_error, on_no_session)


def _as_tool(given: Any, declared: dict[str, Any]) -> Tool:
    if isinstance(given, Tool) or callable(getattr(given, "execute", None)) or not callable(given):
        return as_tool(given, **declared)
    name = declared.pop("name", None) or name_of(given)
    description = declared.pop("description", None) or read_docstring(inspect.getdoc(given)).text
    arguments = _AnyArguments(name, given)
    return Tool(_by_name(given), name=name, description=description, arguments=arguments, **declared)


def _parameters(name: str, function: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        raise ToolError(f"the signature of {name} is unknown: wrap it in a function of your own") from None


def _by_name(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a function that takes all by name, also what the other one takes by position only."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return function
    by_position = [
        number
        for number, one in enumerate(parameters)
        if one.kind in (one.POSITIONAL_ONLY, one.VAR_POSITIONAL)
    ]
    if not by_position:
        return function
    placed = parameters[: by_position[-1] + 1]

    @functools.wraps(function)
    def call(**kwargs: Any) -> Any:
        args: list[Any] = []
        for one in placed:
            if one.kind is one.VAR_POSITIONAL:
                args += kwargs.pop(one.name, ())
            elif one.name in kwargs:
                args.append(kwargs.pop(one.name))
            else:
                break  # What comes after it is by name, or missing.
        return function(*args, **kwargs)

    return call


class _AnyArguments(SchemaArguments):
    """The arguments of a function that no model calls: they are not described, and passed as they are."""

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        super().__init__(name)
        context = takes(function, ToolContext)
        self.given = () if context is None else (context,)
