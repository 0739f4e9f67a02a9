"""Questions of an agent, put to the person at the keyboard."""

from __future__ import annotations

import json
from typing import Any, cast

from msgspec.structs import replace

from trunkline.cli.terminal.approval_text import lines_of_proposal
from trunkline.cli.terminal.display import Display
from trunkline.cli.terminal.line_input import LineInput
from trunkline.commands import Answer
from trunkline.conversation import Call
from trunkline.errors import InvalidCommand
from trunkline.events import Asked
from trunkline.questions import Form, Link, Option, Permission
from trunkline.safe_text import escape, escape_json, reveal, safe_title
from trunkline.session.edited_arguments import EditedArguments
from trunkline.session.form_answers import check_form_answer

_LETTERS = {"allow_once": "a", "allow_always": "A", "reject_once": "r", "reject_always": "R"}
_EDIT = "e"
_ONE_LINE = 120
_SHOW_ALL = "s"
_WORDS = "w"
_KINDS = {
    "boolean": "yes or no",
    "integer": "a whole number",
    "number": "a number",
    "array": "a list in JSON",
    "object": "an object in JSON",
}
"""What a person types into a field of a form whose type is not text."""
_YES = frozenset({"y", "yes", "true", "1", "on"})
_NO = frozenset({"n", "no", "false", "0", "off"})


class KeyboardQuestions:
    """Asks the person at the keyboard; the end of the input declines."""

    def __init__(self, lines: LineInput, screen: Display) -> None:
        self._lines = lines
        self._screen = screen
        self.input_ended = False
        """Whether nobody can answer any more."""

    async def answer(self, asked: Asked, call: Call | None) -> Answer:
        """Ask until there is an answer that fits."""
        question = asked.question
        fields: dict[str, Any]
        if isinstance(question, Permission):
            fields = await self._permission(question, call)
        elif isinstance(question, Form):
            fields = await self._form(question)
        elif isinstance(question, Link):
            fields = await self._link(question)
        else:
            self._screen.note(f"this terminal cannot run {safe_title(question.name)}, a tool of front ends")
            fields = _declined("a terminal has no tools of its own")
        return Answer(question_id=asked.question_id, by="chat", **fields)

    async def read(self, mark: str, initial: str = "") -> str | None:
        """Give the line that is typed behind a mark, without blanks around it."""
        line = await self._lines.read(mark, initial=initial)
        self.input_ended = line is None
        return None if line is None else line.strip()

    async def choose(self, names: list[str]) -> int | None:
        """Let the person choose one of several by its number."""
        numbers = "1" if len(names) == 1 else f"1-{len(names)}"
        while (typed := await self.read(f"{numbers} > ")) is not None:
            if typed.isdecimal() and 1 <= int(typed) <= len(names):
                return int(typed) - 1
            self._screen.note(f"type {numbers}, then Enter", style="yellow")
        return None

    async def _permission(self, question: Permission, call: Call | None) -> dict[str, Any]:
        keys = _keys(question)
        about = _proposal(question, call)
        choices = [f"  {key}  {safe_title(option.name)}" for key, option in keys.items()]
        marks = [*keys]
        if question.allows_edit:
            choices.append(f"  {_EDIT}  Change the arguments")
            marks.append(_EDIT)
        if not self._screen.question(question.message, about, choices, more=f"{_SHOW_ALL} shows all"):
            marks.append(_SHOW_ALL)
        edited: dict[str, Any] | None = None
        while (typed := await self.read(f"{'/'.join(marks)} > ")) is not None:
            if typed in keys:
                words = await self._words(keys[typed])
                if words is None and keys[typed].wants_words:
                    continue
                return {"option_id": keys[typed].option_id, "input": edited, "reason": words}
            if typed == _EDIT and question.allows_edit:
                edited = await self._edited(edited if edited is not None else _arguments(call)) or edited
                about = _proposal(question, call, edited)
                self._screen.question(question.message, about, choices)
            elif typed == _SHOW_ALL:
                self._screen.question(question.message, about, choices)
            else:
                self._screen.note(f"type one of {', '.join(marks)}, then Enter", style="yellow")
        return _declined("there was no answer")

    async def _words(self, option: Option) -> str | None:
        """Ask for what an option wants to be told besides; None for nothing."""
        return (await self.read(f"{safe_title(option.name, 60)} > ") or None) if option.wants_words else None

    async def _edited(self, given: dict[str, Any] | None) -> dict[str, Any] | None:
        """Let the person edit the arguments, which are there to be changed; None leaves them."""
        text = "" if given is None else _json_to_edit(given)
        how = (
            "Edit and press Enter" if self._lines.stays_open else "Type all of them as below and press Enter"
        )
        editor = ". Ctrl-X Ctrl-E: your editor" if self._lines.stays_open else ""
        self._screen.note(f"{how}; an empty line leaves them{editor}")
        while typed := await self.read("arguments > ", text):
            try:
                edited: Any = json.loads(typed)
            except ValueError as error:
                self._screen.note(f"that is not JSON: {error}", style="yellow")
                text = typed
                continue
            if isinstance(edited, dict):
                return cast("dict[str, Any]", edited)
            self._screen.note('arguments are an object, such as {"path": "a.txt"}', style="yellow")
            text = typed
        return None

    async def _link(self, question: Link) -> dict[str, Any]:
        self._screen.question(question.message, [reveal(question.url)])
        typed = await self.read("Enter when done, n to decline > ")
        if typed is None or typed.lower() in _NO:
            return _declined("the person did not visit it")
        return {"outcome": "accepted"}

    async def _form(self, question: Form) -> dict[str, Any]:
        fields = cast("dict[str, dict[str, Any]]", question.fields.get("properties", {}))
        required = cast("list[str]", question.fields.get("required", []))
        self._screen.question(question.message, ["Answer each line; - alone declines."])
        content: dict[str, Any] = {}
        for name, field in fields.items():
            try:
                value = await self._field(name, field, name in required)
            except EOFError:
                return _declined("the person did not fill it in")
            if value is not None:
                content[name] = value
        return {"outcome": "accepted", "content": content}

    async def _field(self, name: str, field: dict[str, Any], required: bool) -> Any:
        about = safe_title(str(field.get("title") or name), 160)
        titles = _titled_choices(field)
        choices = field.get("enum") or list(titles)
        for value, title in titles.items():
            self._screen.note(f"  {safe_title(str(value), 30):<6} {safe_title(title, 100)}")
        if choices:
            about += f" ({', '.join(safe_title(str(choice), 30) for choice in choices)})"
        default = field.get("default")
        if default is not None:
            about += f" [{_default_text(default)}]"
        while True:
            typed = await self.read(f"{about} > ")
            if typed is None or typed == "-":
                raise EOFError
            if not typed:
                if default is not None or not required:
                    return default
                self._screen.note("this one is needed: type a value, or - to decline", style="yellow")
                continue
            try:
                value = _convert(typed, str(field.get("type", "string")))
            except ValueError:
                kind = _KINDS[field["type"]]
                self._screen.note(f"{safe_title(typed, 40)!r} is not {kind}: type {kind}, or - to decline")
                continue
            # The words of a choice stand for it.
            value = next((one for one, title in titles.items() if title == value), value)
            if choices and value not in choices:
                listed = ", ".join(safe_title(str(choice), 30) for choice in choices)
                self._screen.note(f"choose one of {listed}")
                continue
            try:
                check_form_answer(Form(fields={"properties": {name: field}}), {name: value})
            except InvalidCommand as error:
                self._screen.note(f"{escape(str(error))}; - declines")
                continue
            return value


def _arguments(call: Call | None) -> dict[str, Any] | None:
    given: Any = None if call is None else call.input
    return cast("dict[str, Any]", given) if isinstance(given, dict) else None


def _json_to_edit(given: dict[str, Any]) -> str:
    """Give arguments as JSON on one line, or on several if that is long."""
    text = json.dumps(given, ensure_ascii=False)
    if len(text) > _ONE_LINE:
        text = json.dumps(given, ensure_ascii=False, indent=2)
    return escape_json(text.encode("utf-8", "replace")).decode()  # Nothing in it is hidden.


def _titled_choices(field: dict[str, Any]) -> dict[Any, str]:
    """The choices of a field that have words of their own, as a schema says it with ``oneOf``."""
    listed = cast("list[dict[str, Any]]", field.get("oneOf") or [])
    return {one["const"]: str(one.get("title") or one["const"]) for one in listed if "const" in one}


def _default_text(default: Any) -> str:
    """Give a default as a person would type it."""
    if isinstance(default, bool):
        return "yes" if default else "no"
    return safe_title(default if isinstance(default, str) else json.dumps(default, default=str), 30)


def _declined(reason: str) -> dict[str, Any]:
    return {"outcome": "declined", "reason": reason}


def _proposal(question: Permission, call: Call | None, edited: dict[str, Any] | None = None) -> list[str]:
    """Give the lines of what is to be approved, with the arguments that the person edited."""
    if call is None:
        return []
    if edited is None:
        return lines_of_proposal(call, question.message)
    changed = EditedArguments(call.input, edited)
    call = replace(
        call,
        input=edited,
        title=changed.sentence(call.title or "") or None,
        locations=tuple(replace(location, path=changed.path(location.path)) for location in call.locations),
        content=tuple(changed.block(block) for block in call.content),
    )
    return lines_of_proposal(call, question.message)


def _keys(question: Permission) -> dict[str, Option]:
    """Give each option the letter of its kind, or a number when that is taken."""
    keys: dict[str, Option] = {}
    for number, option in enumerate(question.options, 1):
        letter = _WORDS if option.wants_words else _LETTERS.get(option.kind, str(number))
        keys[str(number) if letter in keys else letter] = option
    return keys


def _convert(typed: str, kind: str) -> Any:
    if kind == "boolean":
        if typed.lower() in _YES | _NO:
            return typed.lower() in _YES
        raise ValueError(typed)
    if kind == "integer":
        return int(typed)
    if kind == "number":
        return float(typed)
    return json.loads(typed) if kind in ("array", "object") else typed
