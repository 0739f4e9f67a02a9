"""Profiles: what agents send beside the standard, one small table for each.

A profile says where in ``_meta`` an agent puts the name of a tool, its result or the call that a subagent
belongs to, and what a client does otherwise for it. "Implementations MUST NOT make assumptions about values
at these keys" (https://agentclientprotocol.com/protocol/v1/extensibility), so every look-up may find nothing,
and what is there reaches the events' ``meta`` in any case.

A field of the standard always comes first; an agent without a profile is read by ``STANDARD``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from trunkline.protocols.acp.fields import Path, as_object, look_up, text_in

__all__ = [
    "CLAUDE_CODE", "CODEX", "GEMINI", "OPENCODE", "QWEN", "STANDARD", "Profile", "profile_for",
    "profile_named", "profiles", "register_profile",
]  # fmt: skip


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """What one agent, or a family of agents, does beside the standard. Paths lead into ``_meta``."""

    name: str
    agent_names: tuple[str, ...] = ()
    """Parts of the name that the agent gives itself in ``initialize`` (agentInfo.name)."""
    commands: tuple[str, ...] = ()
    """Names of the programs and packages that start the agent: for agents that give no name."""
    tool_name: tuple[Path, ...] = ()
    """Where the tool's own name is; the standard's ``name`` comes first, the title after it."""
    tool_name_in_call_id: str | None = None
    """A pattern whose group ``name`` is the tool's name at the start of the call's id."""
    tool_response: tuple[Path, ...] = ()
    """Where a tool's result is if there is no ``rawOutput``; often in an update before the last one."""
    output_text: tuple[Path, ...] = ()
    """Where in ``rawOutput`` the text is that a command printed: for a terminal that was shown none of it."""
    parent_call: tuple[Path, ...] = ()
    """Where an update of a subagent names the call that started it."""
    subagent_name: tuple[Path, ...] = ()
    """Where an update of a subagent says what kind of subagent it is."""
    usage_by_model: tuple[Path, ...] = ()
    """Where the answer to a prompt lists the tokens of each model."""
    announces_calls: bool = False
    """Whether it announces every call before it asks about it, though what it asks may come first."""
    error_text: str | None = None
    """How a text begins that the agent says when its model fails, before it fails with the same words."""
    files: bool = True
    """Whether to offer the client's files (``fs``): some agents fail with them."""
    client_meta: dict[str, Any] = {}
    """What to say in the ``_meta`` of the client's capabilities."""
    session_options: Path | None = None
    """Where in the ``_meta`` of session/new the agent looks for options of its own."""
    steering: str = "_session/steering"
    """The method that gives a message to a running turn, where the agent offers it."""

    def matches(self, initialize: Mapping[str, Any], command: Sequence[str] = ()) -> bool:
        """Whether an agent is of this profile, by the name it gives itself, else by its command."""
        name = text_in(as_object(initialize.get("agentInfo")), "name")
        if name is not None:
            return any(part in name.lower() for part in self.agent_names)
        return any(name in self.commands for word in command for name in _names_in(word))

    def name_of_tool(self, meta: Mapping[str, Any], call_id: str) -> str | None:
        """Give the tool's name as the agent's extension has it."""
        name = look_up(meta, self.tool_name)
        if isinstance(name, str) and name:
            return name
        found = re.match(self.tool_name_in_call_id, call_id) if self.tool_name_in_call_id else None
        return found["name"] if found is not None else None

    def session_meta(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Give the ``_meta`` of session/new for options of the agent's own; it must have a place for them."""
        if self.session_options is None:
            raise ValueError(f"agents of the profile {self.name!r} take no options in session/new")
        meta: Any = dict(options)
        for key in reversed(self.session_options):
            meta = {key: meta}
        return meta

    def can_steer(self, initialize: Mapping[str, Any]) -> bool:
        """Whether the agent takes messages while it works on a prompt, as it says in ``initialize``."""
        paths = (("_meta", "steering", "supported"), ("agentCapabilities", "_meta", "steering", "supported"))
        return look_up(initialize, paths) is True


_PACKAGE = re.compile(r"node_modules/((?:@[^/]+/)?[^/]+)")


def _names_in(word: str) -> Iterator[str]:
    """Give the names of the programs and packages in a word of a command line: not those of other folders."""
    for part in word.replace("\\", "/").split():
        for path in (part, *_PACKAGE.findall(part)):
            folder, slash, name = path.rpartition("/")
            name = name[:1] + name[1:].partition("@")[0]  # without a version
            yield folder + slash + name
            yield name.partition(".")[0]


STANDARD = Profile(name="standard")
"""An agent that needs no more than the standard."""

CLAUDE_CODE = Profile(
    name="claude-code",
    agent_names=("claude-agent-acp", "claude-code-acp"),
    commands=("claude-agent-acp", "claude-code-acp"),
    # {"claudeCode": {"toolName": "Bash"}} on each update of a call.
    tool_name=(("claudeCode", "toolName"),),
    # An object with stdout, stderr, interrupted and isImage, or a list of blocks, in an update of its own.
    tool_response=(("claudeCode", "toolResponse"),),
    # The call of the Task tool, on everything that its subagent says and does.
    parent_call=(("claudeCode", "parentToolUseId"),),
    # {"claudeCode": {"options": {...}}}: options of the Claude Agent SDK.
    session_options=("claudeCode", "options"),
    # It asks beside the stream of its model, and so at times before text that it streamed earlier.
    announces_calls=True,
    # "API Error: 400 ...", and then the error -32603 "Internal error: API Error: 400 ...".
    error_text="API Error: ",
)

CODEX = Profile(
    name="codex",
    agent_names=("codex",),
    commands=("codex-acp",),
    # Commands are shown in terminals that no client made. What they print comes in pieces, or, for a quick
    # one, in the result alone. The older and the newer agent want to be asked for it by one name each.
    client_meta={"terminal_output": True, "terminal_output_delta": True},
    output_text=(("formatted_output",), ("aggregated_output",)),
)

QWEN = Profile(
    name="qwen",
    agent_names=("qwen",),
    commands=("qwen", "qwen-code"),
    # {"toolName": "run_shell_command"}
    tool_name=(("toolName",),),
    # {"parentToolCallId": "call_1", "subagentType": "Explore"} on what a subagent says and does.
    parent_call=(("parentToolCallId",),),
    subagent_name=(("subagentType",),),
)

GEMINI = Profile(
    name="gemini",
    agent_names=("gemini-cli",),
    commands=("gemini", "gemini-cli"),
    # It never announces a call; the id of one is the tool's name and the model's id of the call.
    tool_name_in_call_id=r"(?P<name>[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)*)(?:__|-\d)",
    # [{"model": "...", "token_count": {"input_tokens": 1, "output_tokens": 1}}]
    usage_by_model=(("quota", "model_usage"),),
    # With them it cannot create a file: its check for an existing one takes our "not found" for a failure.
    files=False,
)

OPENCODE = Profile(
    name="opencode",
    # Kilo is made from it.
    agent_names=("opencode", "kilo"),
    commands=("opencode", "opencode-ai", "kilo", "@kilocode/cli"),
    # As Claude Code: on a busy machine it asks before it has sent its text and the call.
    announces_calls=True,
)

_profiles: list[Profile] = [CLAUDE_CODE, CODEX, QWEN, GEMINI, OPENCODE]


def profiles() -> tuple[Profile, ...]:
    """Give the known profiles, the first that matches counts."""
    return tuple(_profiles)


def register_profile(profile: Profile) -> None:
    """Add a profile; it comes before those that are known, and takes the place of one of the same name."""
    _profiles[:] = [profile, *(known for known in _profiles if known.name != profile.name)]


def profile_named(name: str) -> Profile:
    """Give a profile by its name; that of Claude Code is ``claudeCode`` in its own extensions."""
    known = {profile.name: profile for profile in (*_profiles, STANDARD)}
    found = known.get(name) or known.get("claude-code" if name == "claudeCode" else "")
    if found is None:
        raise ValueError(f"there is no profile {name!r}; known profiles: {', '.join(sorted(known))}")
    return found


def profile_for(initialize: Mapping[str, Any], command: Sequence[str] = ()) -> Profile:
    """Give the profile of an agent that answered ``initialize`` so, and was started by this command."""
    matching = (profile for profile in _profiles if profile.matches(initialize, command))
    return next(matching, STANDARD)
