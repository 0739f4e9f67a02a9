"""What went wrong in a LangChain run: a code for programs, and the provider's own words for people.

Errors are known by the names of their classes and by what is in them: no provider's package is imported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

import orjson
from langchain_core.messages import ToolMessage

from trunkline import content as c
from trunkline.errors import TrunklineError

__all__ = [
    "answer_error",
    "as_dict",
    "asked_model",
    "causes_of",
    "code_of",
    "explain",
    "is_failure",
    "map_error_to_content",
    "names",
    "names_of",
    "told_code",
]


def names(words: str) -> frozenset[str]:
    """Give the words of a line as a set."""
    return frozenset(words.split())


_LENGTH = 500
_CORRECTION = "Please fix your mistakes."
_CODES: dict[str, frozenset[str]] = {
    "context_overflow": frozenset({"ContextOverflowError", "ContextWindowExceededError"}),
    "rate_limited": names("ModelRateLimitError RateLimitError ResourceExhausted TooManyRequests"),
    "authentication_failed": names(
        "ModelAuthenticationError ModelPermissionDeniedError AuthenticationError PermissionDeniedError "
        "NoCredentialsError CredentialsError DefaultCredentialsError"
    ),
    "model_not_found": frozenset({"ModelNotFoundError"}),
    "model_timeout": frozenset({"ModelTimeoutError", "APITimeoutError"}),
    "model_unreachable": frozenset({"ModelConnectionError", "APIConnectionError", "EndpointConnectionError"}),
}
# What the packages under a provider's raise: a matter of the model only where a model was being called.
_CODES_BELOW: dict[str, frozenset[str]] = {
    "model_timeout": names("TimeoutException TimeoutError"),
    "model_unreachable": names("TransportError ConnectionError ClientConnectionError ClientPayloadError"),
}
_REFUSALS = (400, 415, 422)
_ABOUT_INPUT = re.compile(
    r"(?<![a-z])(image|picture|photo|video|audio|sound|media|mime|vision|pdf|file|document|attachment)s?(?![a-z])"
    r"|modalit|multimodal|too (large|long|big)|content.?(type|block|part)",
    re.IGNORECASE,
)
"""Words of a refusal that is for what the request holds, and not for a lack of money, say."""
_MISFITS = (ValueError, TypeError, NotImplementedError)
"""What providers' classes raise of what they cannot send; and OpenAI's, of an answer that failed."""
_SPELLED = re.compile(
    r"ResponseError\(code='(?P<code>\w+)', message=(?P<quote>['\"])(?P<message>.*?)(?P=quote)[,)].*"
    r"|(?P<told>[a-z_]{1,40}_(error|exceeded|timeout|prompt)): (?P<words>.+)"
    r"|(?P<empty>No generations? .+)",
    re.DOTALL,
)
_MODELS_HOME = "langchain_core.language_models"
_MODELS_ERRORS = frozenset({"ModelError", "APIError", "ChatGoogleGenerativeAIError"})
_CODES_TOLD = {
    "context_length_exceeded": "context_overflow",
    "string_above_max_length": "context_overflow",
    "rate_limit_exceeded": "rate_limited",
    "rate_limit_error": "rate_limited",
    "insufficient_quota": "rate_limited",
    "throttlingexception": "rate_limited",
    "resource_exhausted": "rate_limited",
    "invalid_api_key": "authentication_failed",
    "authentication_error": "authentication_failed",
    "accessdeniedexception": "authentication_failed",
    "model_not_found": "model_not_found",
}
_CODES_BY_STATUS = {
    401: "authentication_failed",
    403: "authentication_failed",
    404: "model_not_found",
    413: "context_overflow",
    429: "rate_limited",
}


def code_of(error: BaseException) -> str:
    """Give the code under which a turn that died of this error is reported."""
    asked = asked_model(error)
    codes = (*_CODES.items(), *(_CODES_BELOW.items() if asked else ()))
    for one in causes_of(error):
        if isinstance(one, TrunklineError):
            return one.code
        if (told := _CODES_TOLD.get(told_code(one))) is not None:
            return told
        known_as, status = names_of(one), _status_of(one, asked)
        if (named := next((code for code, known in codes if known_as & known), None)) is not None:
            return named
        if known_as & _MODELS_ERRORS:
            told_statuses = (_status_of(cause, asked) for cause in causes_of(one))
            status = next((told for told in told_statuses if told is not None), 0)
        if status is not None:
            return _code_by(status, asked, error)
    if any(type(one) in _MISFITS and _passes_model(one) and not _said_in(one) for one in causes_of(error)):
        return "input_refused"
    return "model_failed" if asked else "agent_failed"


def _code_by(status: int, asked: bool, error: BaseException) -> str:
    if asked and status in _REFUSALS:
        return "input_refused" if _ABOUT_INPUT.search(explain(error)) else "request_refused"
    return _CODES_BY_STATUS.get(status, "model_failed")


def explain(error: BaseException) -> str:
    """Say what went wrong in the provider's own words, on one line."""
    if isinstance(error, BaseExceptionGroup):
        first, *others = cast("BaseExceptionGroup[BaseException]", error).exceptions
        return explain(first) + (f" (and {len(others)} more)" if others else "")
    text = " ".join(_words_of(error).split())
    name = type(error).__name__
    if not isinstance(error, TrunklineError) and not text.startswith(name):
        text = f"{name}: {text}" if text else name
    wait = _wait_of(error)
    room = _LENGTH - len(wait)
    return (text if len(text) <= room else f"{text[: room - 1]}…") + wait


def map_error_to_content(error: BaseException) -> list[c.Content]:
    """Give an error as content that a person can read."""
    about = {"type": type(error).__name__, "code": code_of(error)}
    return [c.TextBlock(text=explain(error), meta={"error": about})]


def is_failure(message: Any) -> bool:
    """Whether a tool's message says that its call failed.

    LangChain gives a status to every error but one: an answer that does not fit the structure it was to have.
    """
    if getattr(message, "status", "success") == "error":
        return True
    content = message.content
    return isinstance(content, str) and content.startswith("Error: ") and content.endswith(_CORRECTION)


def answer_error(call: Mapping[str, Any], words: BaseException | str) -> ToolMessage:
    """Answer a call with an error, so that its model knows why nothing came of it."""
    content = words if isinstance(words, str) else f"Error: {explain(words)}"
    return ToolMessage(content=content, name=call["name"], tool_call_id=call["id"], status="error")


def asked_model(error: BaseException) -> bool:
    """Whether an error came up while a model was asked."""
    return any(_passes_model(one) for one in causes_of(error))


def _passes_model(error: BaseException) -> bool:
    trace = error.__traceback__
    while trace is not None:
        if str(trace.tb_frame.f_globals.get("__name__")).startswith(_MODELS_HOME):
            return True
        trace = trace.tb_next
    return False


def _words_of(error: BaseException) -> str:
    try:
        text = _own_words(error) or str(error)
    except Exception:
        return ""  # An error that cannot even be printed still has its name.
    text, _, trace = text.partition("Traceback (most recent call last)")
    if trace and not text.strip():
        return trace.strip().rpartition("\n")[2]
    return text.partition("For troubleshooting, visit:")[0]


def _own_words(error: BaseException) -> str | None:
    """Find the provider's message, or the fields that a schema refused."""
    problems: Any = getattr(error, "errors", None)
    if type(error).__name__ == "ValidationError" and callable(problems):
        return "; ".join(_problem(as_dict(item)) for item in cast("list[Any]", problems()))
    for one in _told_by(error):
        for body in _bodies(one):
            for found in (body.get("message"), body.get("Message"), body.get("detail"), body.get("error")):
                if isinstance(found, str) and found.strip():
                    return found
    return None


def _told_by(error: BaseException) -> Iterator[BaseException]:
    """Give an error and, where LangChain only says again what a provider did, what it came from."""
    return causes_of(error) if "ModelError" in names_of(error) else iter((error,))


def _problem(item: dict[str, Any]) -> str:
    place = ".".join(str(part) for part in cast("tuple[Any, ...]", item.get("loc") or ()))
    return f"{place}: {item.get('msg')}" if place else str(item.get("msg"))


def _bodies(error: BaseException) -> Iterator[dict[str, Any]]:
    """Give what the provider sent, the inner error first (OpenAI and Anthropic, Google, AWS)."""
    for kept in (*(getattr(error, name, None) for name in ("body", "details", "response")), _page_of(error)):
        body = as_dict(kept)
        for key in ("error", "Error"):
            if inner := as_dict(body.get(key)):
                yield inner
        if body:
            yield body


def _page_of(error: BaseException) -> Any:
    """Read the answer that made a model's client give up; that of a tool's own request stays unread."""
    if not asked_model(error):
        return None
    if type(error) in _MISFITS:
        return _said_in(error)
    try:
        return orjson.loads(cast("Any", error).response.text)
    except Exception:
        return None  # There is none, it is no JSON, or it broke off.


def _said_in(error: BaseException) -> dict[str, Any]:
    """Read what LangChain's class for OpenAI says of an answer that failed: the error itself, or its text."""
    told: Any = error.args[0] if error.args else None
    if hasattr(told, "code") and hasattr(told, "message"):
        return {"code": told.code, "message": told.message}
    if isinstance(told, dict):
        return cast("dict[str, Any]", told)
    found = _SPELLED.fullmatch(told) if isinstance(told, str) else None
    if found is None:
        return {}
    words = found.groupdict()
    return {
        "code": words["code"] or words["told"],
        "message": words["message"] or words["words"] or words["empty"],
    }


def told_code(error: BaseException) -> str:
    """Give the code that the provider sent along, in small letters."""
    for body in _bodies(error):
        for found in (body.get("code"), body.get("type"), body.get("Code"), body.get("status")):
            word = str(found or "").lower()
            if word in _CODES_TOLD or word in ("content_filter", "content_policy_violation"):
                return word
    return str(getattr(error, "code", None) or "").lower()


def _status_of(error: BaseException, asked: bool) -> int | None:
    """Read an HTTP status that the error itself has, or the answer to a model's client."""
    status: Any = getattr(error, "status_code", None)
    if status is None and asked:
        status = getattr(getattr(error, "response", None), "status_code", None)
    if status is None and as_dict(getattr(error, "response", None)).get("ResponseMetadata"):
        status = as_dict(cast("Any", error).response["ResponseMetadata"]).get("HTTPStatusCode")
    if status is None and "APIError" in names_of(error):
        status = getattr(error, "code", None)
    return status if isinstance(status, int) else None


def _wait_of(error: BaseException) -> str:
    """Say when to try again, where the provider did."""
    return next((wait for one in _told_by(error) if (wait := _wait_in(one))), "")


def _wait_in(error: BaseException) -> str:
    headers: Any = getattr(getattr(error, "response", None), "headers", None)
    if isinstance(headers, Mapping):
        told = {str(key).lower(): str(value) for key, value in cast("Mapping[Any, Any]", headers).items()}
        if "retry-after-ms" in told:
            return f" (try again in {told['retry-after-ms']} ms)"
        if "retry-after" in told:
            after = told["retry-after"]
            return f" (try again in {after} s)" if after.isdigit() else f" (try again after {after})"
    details = as_dict(as_dict(getattr(error, "details", None)).get("error")).get("details")
    for item in cast("list[Any]", details) if isinstance(details, list) else ():
        if delay := as_dict(item).get("retryDelay"):
            return f" (try again in {delay})"
    return ""


def causes_of(error: BaseException) -> Iterator[BaseException]:
    """Give an error and what it came from, nearest first; never more than a few."""
    one: BaseException | None = error
    for _ in range(8):
        if one is None:
            return
        yield one
        if isinstance(one, BaseExceptionGroup):
            one = cast("BaseExceptionGroup[BaseException]", one).exceptions[0]
        else:
            one = one.__cause__


def names_of(error: BaseException) -> set[str]:
    """Give the names of an error's class and of all it descends from."""
    return {kind.__name__ for kind in type(error).__mro__}


def as_dict(value: Any) -> dict[str, Any]:
    """Give a value that may be an object as one."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
