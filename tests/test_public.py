"""The public surface, name by name: a change to it is a decision, and is made here too."""

import importlib
import json
import os
import subprocess
import sys

import pytest

import trunkline

PACKAGE = """
    Agent AgentCard Answer Cancel Conversation Cursor Event Hub Prompt Session Settings Translator
    TrunklineError TurnContext Window __version__ adapt agent asgi fold open_journal resolve_target
    serve_acp stdio_transport
"""

MODULES = {
    "agents.acp": "AcpAgent AcpClient AgentCommandNotFound HandshakeFailed PermissionRequest PromptResult",
    "agents.adapt": "FactoryAgent LifespanAgent adapt",
    "agents.function": "FunctionAgent agent describe",
    "agents.interface": """
        Agent AgentCard AuthMethod Authenticates Closes ClosesSessions Completes DeletesSessions Forks
        HasCommand HasHistory ImportsSessions JudgesHistory LoginCommand LogsInByCommand McpCapabilities
        OpensSessions OwnSession Prepares PromptCapabilities
        RemembersQuestions Resumes Rewinds Sayable SetsConfig ShowsWire Steers WireLine WireLines
    """,
    "agents.openai": "OpenAIAgent",
    "agents.langchain": """
        READY_MODES AcpAgentOptions AguiAgentOptions ContentBlockMapper LangChainAgent Mode ModeMiddleware
        PermissionMiddleware PlanMiddleware
        Rule SessionMiddleware ToolMiddleware TrunklineCallbackHandler TrunklineContext acp_agent
        acp_middleware agui_agent agui_middleware agui_system emit_custom emit_plan emit_raw load_mcp_tools
        map_error_to_content        map_to_stop_reason session_tools
    """,
    "commands": "Answer Cancel Command DropPrompt HandOver Prompt Rename Rewind SetConfig",
    "content": """
        AudioBlock Block Content DiffBlock ImageBlock LinkBlock ResourceBlock SourceBlock TerminalBlock
        TextBlock VideoBlock as_content text_of
    """,
    "session.context": """
        CURRENT Decision Sayable SessionView SharedState ToolHandle ToolRequest TurnContext current
    """,
    "context": "Decision SessionView ToolHandle TurnContext current",
    "conversation": """
        Call CallPart Conversation LaneState MediaPart Message Part QuestionState SourcePart TerminalState
        TextPart ThoughtPart TurnState
    """,
    "cursor": "Cursor Entry Gap cut piece_of remainder",
    "errors": """
        AgentError AgentExited AgentProtocolError AlreadyAnswered AuthenticationRequired ConfigurationError
        Corrupt Denied Fault Fenced Hint InvalidCommand JournalError NoSuchFile NotAFile NotAnAgent
        OtherAgent OutsideRoots PeerError SessionBusy SessionClosed SessionError SessionNotFound TargetError
        TooLarge TrunklineDeprecation TrunklineError TurnCancelled WorkspaceError
    """,
    "events": """
        APPLICATION FINAL_STATUSES Activity Answered AnyEvent Asked CommandInfo CommandsChanged Compaction
        ConfigChanged ContextUsage Cost Custom Decided Delta Event InfoChanged Location Media Notice Plan
        PlanEntry PromptDropped PromptQueued Raw Rewound RunClosed RunOpened Source StatePatched StateReplaced
        StepFinished StepKind StepStarted StopReason SubagentFinished SubagentStarted TerminalOutput Text
        Thought TokenUsage ToolCall
        ToolInput ToolKind ToolStatus ToolUpdate TurnFailed TurnFinished TurnResumed TurnStarted
        TurnSuspended Usage UserMessage decode_event encode_event
    """,
    "folding": "Folder fold",
    "frontends.acp": """
        AgentMessageChunk AgentThoughtChunk AudioContent ContentBlock EmbeddedResource ImageContent
        InitializeRequest InitializeResponse NewSessionRequest NewSessionResponse PermissionOption
        PermissionOptionKind PromptRequest PromptResponse RequestPermissionRequest RequestPermissionResponse
        ResourceLink SessionNotification SessionUpdate StopReason TextContent ToolCall ToolCallStatus
        ToolCallUpdate ToolKind Unknown decode encode serve_acp stdio_transport
    """,
    "frontends.acp.manual": "ManualConnection Unhandled stdio_transport",
    "frontends.acp.stdio": "serve_acp serve_target",
    "frontends.agui": """
        PROTOCOL_VERSION ActivityDelta ActivitySnapshot AguiEncoder AguiEndpoint AguiEvent AguiOptions AguiRun
        AguiTransport BaseEvent Context Custom ErrorCode EventType Interrupt Message MessagesSnapshot Raw
        ReasoningEncryptedValue ReasoningEnd ReasoningMessageChunk ReasoningMessageContent ReasoningMessageEnd
        ReasoningMessageStart ReasoningStart ResumeEntry RunAgentInput RunError RunFinished RunStarted
        StateDelta StateSnapshot StepFinished StepStarted SubagentError SubagentFinished SubagentStarted
        TextMessageChunk TextMessageContent TextMessageEnd TextMessageStart TokenUsage Tool ToolCallArgs
        ToolCallChunk ToolCallEnd ToolCallResult ToolCallStart console_transport encode http_transport
        read_input sse_transport to_dict websocket_transport
    """,
    "frontends.aisdk": """
        AisdkEncoder AisdkEndpoint AisdkOptions AisdkResponse ChatRequest StreamState create_ui_message
        fold_ui_messages generate_message_id map_tool_status read_chat_request session_update_to_chunks
        session_update_to_part tool_call_to_ui_part ui_message_to_content_blocks
    """,
    "frontends.unified": """
        BackendAdapter BackendCapabilities BackendSession user_message
        ERROR_CODES MESSAGE_TYPES ROLES CodeContent ImageContent ImageSource MessageType RefusalContent Role
        SessionLifecycleSubtype TextContent ThinkingContent ToolResultContent ToolUseContent UnifiedContent
        UnifiedEncoder UnifiedErrorCode UnifiedMessage UnifiedOptions as_message canonical_json derived_id
        encode fault_in is_unified_message read_message to_dict
    """,
    "grammar": "RULES STATUS_TABLE TURN_TABLE Grammar Phase Violation",
    "session.hub": "Hub",
    "journal": """
        Disposition Held Journal Lease Posted Record SessionInfo SessionKey Snapshot open_journal
        parse_address
    """,
    "options": "Choice ChoiceGroup ConfigOption choose",
    "questions": """
        ALLOW_KINDS ClientCall Coverage Form Link Option OptionKind Outcome Permission Question
        default_options name_coverage
    """,
    "server.app": "FrontEnd Server",
    "server.asgi": "asgi",
    "server.limits": "Limits",
    "server.security.tokens": """
        ALL_SCOPES Access Authenticate PermissionScope Token TokenRing access_of new_secret
        offers_token
    """,
    "session.session": "Receipt Session",
    "session.settings": "BusyPolicy Settings",
    "target_names": "PREFIXES TargetParts normalize_target split_target",
    "agents.targets": "BUILT_IN NamedAgent name_target resolve_target",
    "testing": """
        AcpEditor AguiRecorder Answers RecordingTransport ScriptedAgent ScriptedChatModel accept_all
        chat_model normalize refuse_all run_prompt validate_acp_update
    """,
    "testing.chat": "ModelCall Part ScriptedChatModel call chat_model chunks ends says thinks",
    "tools": """
        Ask InvalidArguments Table Tool ToolContext ToolDenied ToolError ToolRegistry ToolResult model_text
        tool wrap_tool
    """,
    "translate": "Translator batching",
    "session.window": "Window",
    "workspace": """
        DEFAULT_ENV_ALLOW DEFAULT_PROTECTED Decision Exit Files Policy Request Rule Terminal
        TerminalOutputView Terminals Verdict scrub
    """,
}

ATTRIBUTES = ("content", "context", "cursor", "errors", "events", "options", "testing")
"""Modules that are attributes of the package after ``import trunkline`` alone."""
LIGHT = frozenset({"trunkline", "trunkline._lazy", "trunkline._version"})
HEAVY = frozenset({"anyio", "asyncio", "click", "msgspec", "orjson", "platformdirs", "rich", "sqlite3"})


def loaded_by(program: str) -> set[str]:
    """Give the modules that a program loads in a fresh process, besides Python's own at the start."""
    program = f"import json, sys; before = set(sys.modules)\n{program}\n"
    program += "print(json.dumps(sorted(set(sys.modules) - before)))"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=50, check=True)
    return set(json.loads(done.stdout))


def test_the_packages_names_are_pinned_and_few() -> None:
    assert sorted(trunkline.__all__) == sorted(PACKAGE.split())
    assert len(trunkline.__all__) <= 25


@pytest.mark.parametrize("name", MODULES)
def test_a_modules_names_are_pinned_and_there(name: str) -> None:
    module = importlib.import_module(f"trunkline.{name}")
    assert sorted(module.__all__) == sorted(MODULES[name].split())
    for public in module.__all__:
        assert getattr(module, public) is not None


@pytest.mark.parametrize("name", PACKAGE.split())
def test_a_public_name_is_the_one_of_its_home(name: str) -> None:
    value = getattr(trunkline, name)
    if name != "__version__":
        home = importlib.import_module(value.__module__)
        assert getattr(home, name) is value
        assert name in home.__all__
    assert getattr(trunkline, name) is value, "the second look finds the same"


def test_the_package_lists_its_names_and_knows_no_others() -> None:
    assert sorted(dir(trunkline)) == sorted([*PACKAGE.split(), *ATTRIBUTES])
    with pytest.raises(AttributeError, match="module 'trunkline' has no attribute 'nothing'"):
        importlib.import_module("trunkline").__getattr__("nothing")


def test_importing_the_package_loads_nothing_of_it_and_nothing_heavy() -> None:
    loaded = loaded_by("import trunkline")
    assert {name for name in loaded if name.startswith("trunkline")} == LIGHT
    assert {name.partition(".")[0] for name in loaded} & HEAVY == set()


@pytest.mark.parametrize(
    ("name", "brings", "not_yet"),
    [
        ("Event", "trunkline.events", {"trunkline.session.session", "trunkline.journal", "asyncio"}),
        ("fold", "trunkline.folding", {"trunkline.session.session", "trunkline.journal", "asyncio"}),
        ("agent", "trunkline.agents.function", {"trunkline.session.session", "trunkline.journal", "sqlite3"}),
        ("Hub", "trunkline.session.hub", {"trunkline.testing", "trunkline.cli", "click", "rich", "sqlite3"}),
    ],
)
def test_a_name_loads_its_home_when_it_is_used_and_no_more_than_it_needs(
    name: str, brings: str, not_yet: set[str]
) -> None:
    loaded = loaded_by(f"import trunkline; trunkline.{name}")
    assert brings in loaded
    assert loaded & not_yet == set()


@pytest.mark.parametrize("name", [*ATTRIBUTES, "testing.chat"])
def test_a_documented_module_is_an_attribute_without_an_import_of_its_own(name: str) -> None:
    assert f"trunkline.{name}" in loaded_by(f"import trunkline; assert trunkline.{name}.__all__")
