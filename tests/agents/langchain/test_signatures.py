"""The signatures that users rely on: changing one here is changing it for them."""

import inspect
from collections.abc import Callable
from typing import Any

import pytest
from langchain.agents.middleware import AgentMiddleware

from trunkline.agents.langchain import Rule
from trunkline.agents.langchain.callbacks.hosted_handler import TrunklineCallbackHandler
from trunkline.agents.langchain.errors import map_error_to_content
from trunkline.agents.langchain.hosted.acp import AcpAgent, acp_agent, acp_middleware
from trunkline.agents.langchain.hosted.agui import agui_agent, agui_middleware, agui_system
from trunkline.agents.langchain.hosted.context import TrunklineContext
from trunkline.agents.langchain.messages.content_mapper import ContentBlockMapper
from trunkline.agents.langchain.middleware.mode import ModeMiddleware
from trunkline.agents.langchain.middleware.mode_definition import Mode
from trunkline.agents.langchain.middleware.permission import PermissionMiddleware
from trunkline.agents.langchain.middleware.plan import PlanMiddleware, emit_plan
from trunkline.agents.langchain.middleware.session import SessionMiddleware
from trunkline.agents.langchain.middleware.tools import ToolMiddleware
from trunkline.agents.langchain.stop_reasons import map_to_stop_reason
from trunkline.agents.langchain.tools.mcp_tools import load_mcp_tools
from trunkline.frontends.agui import console_transport, http_transport, sse_transport, websocket_transport

MIDDLEWARES: dict[Any, str] = {
    SessionMiddleware: (
        "(*, session_id_extractor=None, emit_state_snapshots='initial', state_mapper=None, "
        "mcp_servers=None, mcp_tool_options=None)"
    ),
    ToolMiddleware: (
        "(*, emit_tool_start=True, emit_tool_results=True, tool_kind_mapper=None, content_mapper=None, "
        "handle_errors=True)"
    ),
    PermissionMiddleware: "(policy, *, description=None, persist=None, subagents=True)",
    ModeMiddleware: "(modes=None, *, default_mode=None, tool_kind_mapper=None)",
    PlanMiddleware: (
        "(*, auto_detect_planning=True, build_plan=None, emit_on=('reasoning', 'tool_calls', 'manual'))"
    ),
}
OTHERS: dict[Any, str] = {
    TrunklineCallbackHandler: (
        "(*, emit_text_chunks=True, emit_reasoning_chunks=True, content_block_mapper=None, transport=None)"
    ),
    TrunklineCallbackHandler.dispose: "(self)",
    TrunklineContext: "(*, transport=None, thread_id=None, run_id=None)",
    acp_middleware: "(transport=None, **options)",
    acp_agent: "(model_or_agent, tools=None, *, transport=None, middleware=(), callbacks=(), **options)",
    agui_middleware: "(transport=None, **options)",
    agui_system: "(transport=None, **options)",
    agui_agent: "(model_or_agent, tools=None, *, transport=None, middleware=(), callbacks=(), **options)",
    sse_transport: "(*, keep_alive=15.0, high_water_mark=256, coalesce=True, on_disconnect='cancel')",
    http_transport: (
        "(*, format='ndjson', keep_alive=15.0, high_water_mark=256, coalesce=True, on_disconnect='cancel')"
    ),
    websocket_transport: "(websocket, *, high_water_mark=256, coalesce=True, on_disconnect='cancel')",
    console_transport: "(file=None, detail='full')",
    AcpAgent.invoke: "(self, input, config=None, *, transport=None, context=None, **kwargs)",
    AcpAgent.ainvoke: "(self, input, config=None, *, transport=None, context=None, **kwargs)",
    AcpAgent.stream: "(self, input, config=None, *, transport=None, context=None, **kwargs)",
    AcpAgent.astream: "(self, input, config=None, *, transport=None, context=None, **kwargs)",
    Rule: "(kind=None, require_permission=True, allowed_decisions=('approve', 'edit', 'reject'))",
    emit_plan: "(entries)",
    load_mcp_tools: "(servers, *, prefix_tool_name=True, standard_content_blocks=True)",
    map_to_stop_reason: "(outcome)",
    map_error_to_content: "(error)",
}


def bare(made: Callable[..., Any]) -> str:
    """A signature without its types."""
    signature = inspect.signature(made)
    plain = [one.replace(annotation=inspect.Parameter.empty) for one in signature.parameters.values()]
    return str(inspect.Signature(plain))


@pytest.mark.parametrize("made", [*MIDDLEWARES, *OTHERS], ids=lambda made: made.__qualname__)
def test_what_users_call_stays_as_it_is(made: Any) -> None:
    assert bare(made) == (MIDDLEWARES | OTHERS)[made]


def test_a_mode_has_the_fields_that_users_know() -> None:
    known = {
        "system_prompt",
        "description",
        "allowed_tools",
        "require_permission",
        "model_settings",
        "planning",
    }
    assert known <= set(Mode.__struct_fields__)
    assert bare(Mode).startswith("(*, ")


def test_blocks_are_mapped_by_names_that_users_know() -> None:
    for name in ("to_neutral", "from_neutral", "to_acp", "to_langchain"):
        assert callable(getattr(ContentBlockMapper, name))


@pytest.mark.parametrize("kind", list(MIDDLEWARES), ids=lambda kind: kind.__name__)
def test_every_hook_is_there_for_plain_and_for_async_runs(kind: type[Any]) -> None:
    for plain in (
        "before_agent",
        "before_model",
        "after_model",
        "after_agent",
        "wrap_model_call",
        "wrap_tool_call",
    ):
        has = [getattr(kind, name) is not getattr(AgentMiddleware, name) for name in (plain, f"a{plain}")]
        assert has in ([True, True], [False, False]), plain
        if all(has) and not plain.startswith("wrap"):
            assert list(inspect.signature(getattr(kind, plain)).parameters) == ["self", "state", "runtime"]


@pytest.mark.parametrize("kind", list(MIDDLEWARES), ids=lambda kind: kind.__name__)
def test_no_middleware_adds_to_the_state_of_an_agent(kind: type[Any]) -> None:
    assert "state_schema" not in vars(kind)


def test_every_option_is_on_by_default() -> None:
    for kind in (ToolMiddleware, TrunklineCallbackHandler, PlanMiddleware):
        switches = [
            one.default
            for one in inspect.signature(kind).parameters.values()
            if isinstance(one.default, bool)
        ]
        assert switches
        assert all(switches)
