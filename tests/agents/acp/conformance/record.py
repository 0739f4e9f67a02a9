"""What was said between a client and the probing agent, and ways to change a good record into a bad one."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from tests.process_state import is_alive

Json = dict[str, Any]


class Failure(Exception):
    """The client does not keep the requirement."""


def fields(value: Any) -> Json:
    """Give an object; anything else is an empty one."""
    return cast("Json", value) if isinstance(value, dict) else {}


def is_of(method: str) -> Callable[[Any], bool]:
    """Whether a message is of a method."""
    return lambda message: fields(message).get("method") == method


def need(holds: object, why: object) -> None:
    """Fail unless something holds."""
    if not holds:
        raise Failure(str(why))


class Run:
    """What was said between a client and the probing agent, and what the client told its program."""

    def __init__(
        self, said: list[tuple[str, Any]], texts: list[str], reasons: list[str], ended: bool
    ) -> None:
        self.said = said
        """(who, message) in order; a line that is no JSON is text."""
        self.texts = texts
        """The text that the program was given."""
        self.reasons = reasons
        """How the prompts ended, as the program was told."""
        self.ended = ended
        """Whether the agent's process was gone at the end."""

    @classmethod
    def read(cls, log: Path, texts: list[str], reasons: list[str]) -> Run:
        """Read the record that the agent wrote; each process of it begins with its number."""
        lines: list[Any] = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
        pids = [line for line in lines if isinstance(line, int)]
        said: list[tuple[str, Any]] = [(line[0], _parse(line[1])) for line in lines if line not in pids]
        return cls(said, texts, reasons, not any(map(is_alive, pids)))

    def copy(self) -> Run:
        """A copy that can be changed."""
        return Run(copy.deepcopy(self.said), list(self.texts), list(self.reasons), self.ended)

    @property
    def client(self) -> list[Json]:
        """The messages of the client."""
        return [message for who, message in self.said if who == "client"]

    def answer(self, id: Any) -> Json:
        """The answer of the client to a request of the agent."""
        for message in self.client:
            if "method" not in message and message.get("id") == id and type(message.get("id")) is type(id):
                return message
        raise Failure(f"there is no answer to {id!r}")

    def result(self, id: Any) -> Json:
        """The result of a request of the agent."""
        answer = self.answer(id)
        need("result" in answer, f"{id!r} was refused: {answer}")
        return answer["result"]

    def code(self, id: Any) -> int:
        """The code of the error that a request of the agent got."""
        answer = self.answer(id)
        need("error" in answer, f"{id!r} was not refused: {answer}")
        return answer["error"]["code"]

    def sent(self, method: str) -> list[Json]:
        """The client's messages of a method."""
        return [message for message in self.client if message.get("method") == method]

    def asked_by_agent(self) -> dict[Any, str]:
        """The methods of the agent's requests by id."""
        messages = [fields(message) for who, message in self.said if who == "agent"]
        return {m["id"]: m["method"] for m in messages if isinstance(m.get("method"), str) and "id" in m}

    @property
    def offers(self) -> Json:
        """The client's capabilities."""
        return fields(self.sent("initialize")[0]["params"].get("clientCapabilities"))

    def place(self, who: str, test: Callable[[Any], bool]) -> int:
        """The place of the first message for which something holds."""
        for place, (speaker, message) in enumerate(self.said):
            if speaker == who and test(message):
                return place
        raise Failure("there is no such message")


def _parse(line: str) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return line


Check = Callable[[Run], None]


# -- flaws -----------------------------------------------------------------------------------------


def without_answer(id: Any) -> Check:
    """An answer that never came."""

    def flaw(run: Run) -> None:
        run.said[:] = [
            (who, m) for who, m in run.said if who != "client" or "method" in m or m.get("id") != id
        ]

    return flaw


def with_result(id: Any, **fields: Any) -> Check:
    """Another result."""

    def flaw(run: Run) -> None:
        answer = run.answer(id)
        answer.pop("error", None)
        answer["result"] = {**(answer.get("result") or {}), **fields}

    return flaw


def with_code(id: Any, code: int) -> Check:
    """An error with this code."""

    def flaw(run: Run) -> None:
        answer = run.answer(id)
        answer.pop("result", None)
        answer["error"] = {"code": code, "message": "no"}

    return flaw


def with_message(message: Json, place: int | None = None) -> Check:
    """One message of the client more."""

    def flaw(run: Run) -> None:
        run.said.insert(len(run.said) if place is None else place, ("client", message))

    return flaw


def with_params(method: str, **fields: Any) -> Check:
    """Other params."""

    def flaw(run: Run) -> None:
        for message in run.sent(method):
            message["params"].update(fields)

    return flaw


def with_texts(*texts: str) -> Check:
    """Other text for the program."""

    def flaw(run: Run) -> None:
        run.texts = list(texts)

    return flaw
