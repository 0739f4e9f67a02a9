"""What went wrong in a LangChain run: a code for programs, and the provider's own text for people.

Errors are recognised by the names of their classes and by their fields: no provider's package is imported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

import orjson
from langchain_core.messages import ToolMessage

from trunkline import content as c
from trunkline.errors import TrunklineError


def names(line: str) -> frozenset[str]:
    """The names in a line, as a set."""
    return frozenset(line.split())


_MAX_LENGTH = 500
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
# Raised by the packages that a provider's package uses: about the model only while a model is called.
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
"""Text of a refusal that is about the content of a request, and not about a quota, for example."""
_CONVERSION_ERRORS = (ValueError, TypeError, NotImplementedError)
"""Raised by providers' classes for content that they cannot send; OpenAI's also for a failed answer."""
_ERROR_TEXT = re.compile(
    r"ResponseError\(code='(?P<code>\w+)', message=(?P<quote>['\"])(?P<message>.*?)(?P=quote)[,)].*"
    r"|(?P<type>[a-z_]{1,40}_(error|exceeded|timeout|prompt)): (?P<text>.+)"
    r"|(?P<empty>No generations? .+)",
    re.DOTALL,
)
_MODEL_MODULES = "langchain_core.language_models"
_MODEL_ERRORS = frozenset({"ModelError", "APIError", "ChatGoogleGenerativeAIError"})
_CODES_BY_PROVIDER_CODE = {
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
    """The code under which a turn that failed with this error is reported."""
    in_model = is_model_error(error)
    codes = (*_CODES.items(), *(_CODES_BELOW.items() if in_model else ()))
    for one in causes_of(error):
        if isinstance(one, TrunklineError):
            return one.code
        if (code := _CODES_BY_PROVIDER_CODE.get(provider_code(one))) is not None:
            return code
        class_names, status = names_of(one), _status_of(one, in_model)
        if (named := next((code for code, known in codes if class_names & known), None)) is not None:
            return named
        if class_names & _MODEL_ERRORS:
            statuses = (_status_of(cause, in_model) for cause in causes_of(one))
            status = next((found for found in statuses if found is not None), 0)
        if status is not None:
            return _code_by_status(status, in_model, error)
    if any(
        type(one) in _CONVERSION_ERRORS and _was_raised_in_model(one) and not _error_in_args(one)
        for one in causes_of(error)
    ):
        return "input_refused"
    return "model_failed" if in_model else "agent_failed"


def _code_by_status(status: int, in_model: bool, error: BaseException) -> str:
    if in_model and status in _REFUSALS:
        return "input_refused" if _ABOUT_INPUT.search(explain(error)) else "request_refused"
    return _CODES_BY_STATUS.get(status, "model_failed")


def explain(error: BaseException) -> str:
    """Describe an error in the provider's own text, on one line."""
    if isinstance(error, BaseExceptionGroup):
        first, *others = cast("BaseExceptionGroup[BaseException]", error).exceptions
        return explain(first) + (f" (and {len(others)} more)" if others else "")
    text = " ".join(_text_of(error).split())
    name = type(error).__name__
    if not isinstance(error, TrunklineError) and not text.startswith(name):
        text = f"{name}: {text}" if text else name
    wait = _wait_of(error)
    room = _MAX_LENGTH - len(wait)
    return (text if len(text) <= room else f"{text[: room - 1]}…") + wait


def map_error_to_content(error: BaseException) -> list[c.Content]:
    """Give an error as content that a person can read."""
    about = {"type": type(error).__name__, "code": code_of(error)}
    return [c.TextBlock(text=explain(error), meta={"error": about})]


def answer_error(call: Mapping[str, Any], reason: BaseException | str) -> ToolMessage:
    """Make the message that tells the model why a call failed."""
    content = reason if isinstance(reason, str) else f"Error: {explain(reason)}"
    return ToolMessage(content=content, name=call["name"], tool_call_id=call["id"], status="error")


def is_model_error(error: BaseException) -> bool:
    """Whether an error was raised while a model was called."""
    return any(_was_raised_in_model(one) for one in causes_of(error))


def _was_raised_in_model(error: BaseException) -> bool:
    trace = error.__traceback__
    while trace is not None:
        if str(trace.tb_frame.f_globals.get("__name__")).startswith(_MODEL_MODULES):
            return True
        trace = trace.tb_next
    return False


def _text_of(error: BaseException) -> str:
    try:
        text = _provider_text(error) or str(error)
    except Exception:
        return ""  # An error whose str() fails still has its name.
    text, _, trace = text.partition("Traceback (most recent call last)")
    if trace and not text.strip():
        return trace.strip().rpartition("\n")[2]
    return text.partition("For troubleshooting, visit:")[0]


def _provider_text(error: BaseException) -> str | None:
    """Find the provider's message, or the fields that a schema refused."""
    problems: Any = getattr(error, "errors", None)
    if type(error).__name__ == "ValidationError" and callable(problems):
        return "; ".join(_problem(as_dict(item)) for item in cast("list[Any]", problems()))
    for one in _sources_of(error):
        for body in _bodies(one):
            for found in (body.get("message"), body.get("Message"), body.get("detail"), body.get("error")):
                if isinstance(found, str) and found.strip():
                    return found
    return None


def _sources_of(error: BaseException) -> Iterator[BaseException]:
    """An error and, if LangChain only wrapped a provider's error, its causes."""
    return causes_of(error) if "ModelError" in names_of(error) else iter((error,))


def _problem(item: dict[str, Any]) -> str:
    field = ".".join(str(part) for part in cast("tuple[Any, ...]", item.get("loc") or ()))
    return f"{field}: {item.get('msg')}" if field else str(item.get("msg"))


def _bodies(error: BaseException) -> Iterator[dict[str, Any]]:
    """What the provider sent, the inner error first (OpenAI and Anthropic, Google, AWS)."""
    for value in (
        *(getattr(error, name, None) for name in ("body", "details", "response")),
        _response_of(error),
    ):
        body = as_dict(value)
        for key in ("error", "Error"):
            if inner := as_dict(body.get(key)):
                yield inner
        if body:
            yield body


def _response_of(error: BaseException) -> Any:
    """The HTTP response that a model's client failed with; that of a tool's own request is not read."""
    if not is_model_error(error):
        return None
    if type(error) in _CONVERSION_ERRORS:
        return _error_in_args(error)
    try:
        return orjson.loads(cast("Any", error).response.text)
    except Exception:
        return None  # No response, no JSON, or an incomplete one.


def _error_in_args(error: BaseException) -> dict[str, Any]:
    """Read the argument of the ValueError of LangChain's OpenAI class: the error itself, or its text."""
    argument: Any = error.args[0] if error.args else None
    if hasattr(argument, "code") and hasattr(argument, "message"):
        return {"code": argument.code, "message": argument.message}
    if isinstance(argument, dict):
        return cast("dict[str, Any]", argument)
    found = _ERROR_TEXT.fullmatch(argument) if isinstance(argument, str) else None
    if found is None:
        return {}
    parts = found.groupdict()
    return {
        "code": parts["code"] or parts["type"],
        "message": parts["message"] or parts["text"] or parts["empty"],
    }


def provider_code(error: BaseException) -> str:
    """The code that the provider sent, in lower case."""
    for body in _bodies(error):
        for found in (body.get("code"), body.get("type"), body.get("Code"), body.get("status")):
            word = str(found or "").lower()
            if word in _CODES_BY_PROVIDER_CODE or word in ("content_filter", "content_policy_violation"):
                return word
    return str(getattr(error, "code", None) or "").lower()


def _status_of(error: BaseException, in_model: bool) -> int | None:
    """The HTTP status in an error, or in the response to a model's client."""
    status: Any = getattr(error, "status_code", None)
    if status is None and in_model:
        status = getattr(getattr(error, "response", None), "status_code", None)
    if status is None and as_dict(getattr(error, "response", None)).get("ResponseMetadata"):
        status = as_dict(cast("Any", error).response["ResponseMetadata"]).get("HTTPStatusCode")
    if status is None and "APIError" in names_of(error):
        status = getattr(error, "code", None)
    return status if isinstance(status, int) else None


def _wait_of(error: BaseException) -> str:
    """When to try again, if the provider said so."""
    return next((wait for one in _sources_of(error) if (wait := _wait_in(one))), "")


def _wait_in(error: BaseException) -> str:
    headers: Any = getattr(getattr(error, "response", None), "headers", None)
    if isinstance(headers, Mapping):
        values = {str(key).lower(): str(value) for key, value in cast("Mapping[Any, Any]", headers).items()}
        if "retry-after-ms" in values:
            return f" (try again in {values['retry-after-ms']} ms)"
        if "retry-after" in values:
            after = values["retry-after"]
            return f" (try again in {after} s)" if after.isdigit() else f" (try again after {after})"
    details = as_dict(as_dict(getattr(error, "details", None)).get("error")).get("details")
    for item in cast("list[Any]", details) if isinstance(details, list) else ():
        if delay := as_dict(item).get("retryDelay"):
            return f" (try again in {delay})"
    return ""


def causes_of(error: BaseException) -> Iterator[BaseException]:
    """An error and its causes, nearest first; at most eight."""
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
    """The names of an error's class and of its base classes."""
    return {kind.__name__ for kind in type(error).__mro__}


def as_dict(value: Any) -> dict[str, Any]:
    """The value if it is a dict, else {}."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
