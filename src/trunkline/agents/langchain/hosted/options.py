"""The options of ``acp_agent``, ``agui_agent`` and their middlewares, for type checkers and editors.

The middlewares and front ends themselves say what their options mean and check them. A test compares the
names here with theirs.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict

if TYPE_CHECKING:
    from trunkline.agents.langchain.messages.content_mapper import ContentBlockMapper
    from trunkline.agents.langchain.messages.result_content import ContentMapper
    from trunkline.agents.langchain.middleware.mode_definition import Mode
    from trunkline.agents.langchain.middleware.plan import BuildPlan, Trigger
    from trunkline.agents.langchain.middleware.session import Snapshots, StateMapper
    from trunkline.agents.langchain.permissions.decide import Always, Describe, PermissionRule
    from trunkline.agents.langchain.user_functions import SessionIdExtractor
    from trunkline.mcp.server_settings import Servers
    from trunkline.protocols.acp import wire
    from trunkline.tools.naming import KindMapper


class MiddlewareOptions(TypedDict, total=False):
    """The options of our middlewares and of the callback handler."""

    # SessionMiddleware
    session_id_extractor: SessionIdExtractor | None
    emit_state_snapshots: Snapshots
    state_mapper: StateMapper | None
    mcp_servers: Servers | None
    mcp_tool_options: Mapping[str, Any] | None
    # ToolMiddleware
    emit_tool_start: bool
    emit_tool_results: bool
    tool_kind_mapper: KindMapper | None
    content_mapper: ContentMapper | None
    handle_errors: bool
    # PermissionMiddleware
    policy: Mapping[str, PermissionRule | Mapping[str, Any]] | None
    description: Describe | None
    persist: str | os.PathLike[str] | Always | None
    subagents: bool
    # ModeMiddleware
    modes: Mapping[str, Mode | Mapping[str, Any]] | None
    default_mode: str | None
    # PlanMiddleware
    auto_detect_planning: bool
    build_plan: BuildPlan | None
    emit_on: Iterable[Trigger]
    # TrunklineCallbackHandler
    emit_text_chunks: bool
    emit_reasoning_chunks: bool
    content_block_mapper: ContentBlockMapper | None


class AcpOptions(MiddlewareOptions, total=False):
    """The options of ``acp_middleware``."""

    client_capabilities: wire.ClientCapabilities | None


class AguiRunOptions(MiddlewareOptions, total=False):
    """The options of ``agui_middleware`` and ``agui_system``; ``AguiOptions`` says what they mean."""

    emit_steps: Literal["model", "node", "none"]
    emit_activities: bool
    emit_raw: bool
    max_ui_payload_size: int
    thread_id_override: str | None
    run_id_override: str | None
    error_detail_level: Literal["full", "message", "code", "none"]
    on_disconnect: Literal["cancel", "continue"]
    interrupts: Literal["auto", "outcome", "event", "both"]


class CreateAgentOptions(TypedDict, total=False):
    """The options of LangChain's ``create_agent``."""

    system_prompt: Any
    response_format: Any
    state_schema: type[Any] | None
    context_schema: type[Any] | None
    checkpointer: Any
    store: Any
    interrupt_before: list[str] | None
    interrupt_after: list[str] | None
    debug: bool
    name: str | None
    cache: Any
    transformers: Sequence[Any] | None


class AcpAgentOptions(AcpOptions, CreateAgentOptions, total=False):
    """The options of ``acp_agent``."""


class AguiAgentOptions(AguiRunOptions, CreateAgentOptions, total=False):
    """The options of ``agui_agent``."""
