"""The permission policy: what an agent may do without asking, and what it may not do at all.

A policy is a value and its verdict a pure function of a request. Deny comes first: a rule that denies
beats every other, one that asks beats one that allows, and where no rule fits the default decides.

A line that a shell could make something else of (one with ``; & | < > $ ` ( ) { } #``, a newline or an
open quote), and words that give a shell such a line (``bash -c``), fit no rule that allows a command.
Where a rule restricts commands they are not allowed by any other rule or by the default either, as the
restriction could hide in them: they are asked about. So is a command with variables, with code in an
argument (``python -c``), and one that names what is restricted anywhere in its words.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple, cast, get_args

import msgspec

from trunkline.errors import ConfigurationError
from trunkline.events import ToolKind
from trunkline.workspace.rules import Decision, Request, Rule, demand


class Verdict(NamedTuple):
    """A decision, the rule it rests on (None for the default alone), and why."""

    decision: Decision
    rule: Rule | None
    why: str

    @property
    def leaves_it_open(self) -> bool:
        """Whether no rule speaks about it and the default asks: only then an earlier answer may count."""
        return self.decision == "ask" and self.rule is None


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """Rules, and a default for what no rule speaks about. The order of rules does not matter."""

    rules: tuple[Rule, ...] = ()
    default: Decision = "ask"

    def __post_init__(self) -> None:
        demand("decision", self.default, get_args(Decision))

    @classmethod
    def ask(cls) -> Policy:
        """Ask about everything."""
        return cls()

    @classmethod
    def allow_reads(cls) -> Policy:
        """Allow reading and searching, ask about the rest."""
        return cls(rules=(Rule(decision="allow", kind=("read", "search")),))

    @classmethod
    def accept_edits(cls) -> Policy:
        """Allow reading, searching and editing files, ask about the rest."""
        return cls(rules=(Rule(decision="allow", kind=("read", "search", "edit")),))

    @classmethod
    def read_only(cls) -> Policy:
        """Allow reading and searching, deny every change and every command, ask about the rest."""
        return cls(
            rules=(
                Rule(decision="allow", kind=("read", "search")),
                Rule(decision="deny", kind=("edit", "delete", "move", "execute")),
            )
        )

    @classmethod
    def deny_commands(cls) -> Policy:
        """Deny commands, ask about the rest."""
        return cls(rules=(Rule(decision="deny", kind="execute"), Rule(decision="deny", command="*")))

    @classmethod
    def deny(cls) -> Policy:
        """Deny everything."""
        return cls(default="deny")

    @classmethod
    def allow_all(cls) -> Policy:
        """Allow everything."""
        return cls(default="allow")

    @classmethod
    def parse(cls, spec: str) -> Policy:
        """Make a policy from its name (one of ``POLICY_NAMES``) or from JSON text."""
        if spec.lstrip().startswith("{"):
            try:
                table = msgspec.json.decode(spec)
            except msgspec.DecodeError as error:
                raise ConfigurationError(f"the policy is not JSON: {error}") from None
            return cls.from_dict(table)
        return cls._named(spec)

    @classmethod
    def _named(cls, name: Any) -> Policy:
        demand("policy", name, POLICY_NAMES)
        return _NAMED[name]()

    @classmethod
    def from_dict(cls, table: Mapping[str, Any]) -> Policy:
        """Make a policy from a table, as JSON and TOML give it.

        ``base`` names a policy to begin with, ``default`` is a decision, and ``rules`` is a list of
        tables with the fields of Rule.
        """
        _demand_fields("a policy", table, ("base", "default", "rules"))
        base = cls._named(table.get("base", "ask"))
        rules = table.get("rules", [])
        if not isinstance(rules, list | tuple):
            raise ConfigurationError(
                "the rules of a policy are a list of tables: in TOML write [[rules]], with two brackets, "
                "before each rule"
            )
        more = tuple(_read_rule(number, entry) for number, entry in enumerate(cast("list[Any]", rules), 1))
        return cls(rules=base.rules + more, default=table.get("default", base.default))

    def also(self, *rules: Rule) -> Policy:
        """Give this policy with more rules."""
        return Policy(rules=self.rules + rules, default=self.default)

    def decide(self, request: Request) -> Verdict:
        """Judge a request."""
        verdict = self._apply(request)
        if verdict.decision != "allow" or request.command is None:
            return verdict
        restrictions = [rule for rule in self.rules if rule.restricts_commands and rule.concerns(request)]
        if restrictions and (why := request.opacity):
            return Verdict("ask", restrictions[0], f"the command {why}, and some commands are restricted")
        if not self._allows_by_name(request):
            for rule in restrictions:
                if rule.is_hinted_at(request):
                    return Verdict("ask", rule, f"the command names what is restricted: {rule}")
        return verdict

    def _apply(self, request: Request) -> Verdict:
        for decision in ("deny", "ask", "allow"):
            for rule in self.rules:
                if rule.decision == decision and rule.fits(request):
                    return Verdict(decision, rule, f"the rule: {rule}")
        return Verdict(self.default, None, f"no rule fits, and the default is to {self.default}")

    def _allows_by_name(self, request: Request) -> bool:
        """Whether a rule allows this very command, as ``git rm *`` next to one against ``rm *``."""
        return any(
            rule.decision == "allow" and rule.names_a_program and rule.fits(request) for rule in self.rules
        )


_NAMED = {
    "ask": Policy.ask,
    "allow-reads": Policy.allow_reads,
    "accept-edits": Policy.accept_edits,
    "read-only": Policy.read_only,
    "deny-commands": Policy.deny_commands,
    "deny": Policy.deny,
    "allow-all": Policy.allow_all,
}
POLICY_NAMES = tuple(_NAMED)
"""The policies that are ready to use."""


def read_policy(given: Policy | str | os.PathLike[str] | None) -> Policy | None:
    """Take the policy that a program gives; a name or a file is read as ``--policy`` reads it."""
    if given is None or isinstance(given, Policy):
        return given
    if isinstance(cast("Any", given), str | os.PathLike):
        from trunkline.workspace.policy_file import load_policy  # Slow to import, and seldom needed.

        return load_policy(os.fspath(given))
    raise ConfigurationError(
        f"policy is an object of type {type(given).__name__}: give a trunkline.workspace.Policy, the name of "
        "a ready one, or the path of a file. A table as in a file is Policy.from_dict({...}); a table of "
        "rules by tool is for PermissionMiddleware"
    )


class RuleError(ConfigurationError):
    """A rule of a policy is wrong; ``number`` counts from 1."""

    def __init__(self, number: int, message: str) -> None:
        super().__init__(f"rule {number}: {message}")
        self.number = number


def _demand_fields(what: str, table: Any, known: tuple[str, ...]) -> None:
    if not isinstance(table, Mapping):
        raise ConfigurationError(f"{what} is a table of {', '.join(known)}, not {table!r}")
    for name in cast("Mapping[Any, Any]", table):
        if name not in known:
            raise ConfigurationError(f"{what} has no field {name!r}: it has {', '.join(known)}")


def _demand_text(field: str, value: Any, *, or_list: bool) -> None:
    words = cast("list[Any]", value if or_list and isinstance(value, list | tuple) else [value])
    if value is not None and not all(isinstance(word, str) for word in words):
        form = "text or a list of texts" if or_list else "text"
        raise ConfigurationError(f"the {field} of a rule is {form}, not {value!r}")


def _read_rule(number: int, table: Any) -> Rule:
    try:
        _demand_fields("a rule", table, Rule.__struct_fields__)
        if "decision" not in table:
            raise ConfigurationError(f"a rule needs a decision: add one of {', '.join(get_args(Decision))}")
        demand("decision", table["decision"], get_args(Decision))
        for field in ("tool", "path", "command"):
            _demand_text(field, table.get(field), or_list=field == "command")
        kinds: Any = table.get("kind", ())
        for kind in cast("list[Any]", kinds if isinstance(kinds, list | tuple) else [kinds]):
            demand("kind", kind, get_args(ToolKind))
        return msgspec.convert(table, Rule)
    except (msgspec.ValidationError, ConfigurationError) as error:
        raise RuleError(number, str(error)) from None
