import inspect

import pytest

from trunkline import errors
from trunkline.protocols.agui.codes import CODES, ErrorCode, code_for


def test_every_code_is_its_own_name() -> None:
    assert all(code.value == code.name for code in ErrorCode)


def test_the_codes_that_pages_were_promised_are_there() -> None:
    assert {"AGENT_EXECUTION_ERROR", "MODEL_INVOCATION_ERROR", "TIMEOUT"} <= {
        code.value for code in ErrorCode
    }


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        ("agent_failed", ErrorCode.AGENT_EXECUTION_ERROR),
        ("agent_protocol", ErrorCode.AGENT_PROTOCOL_ERROR),
        ("model_failed", ErrorCode.MODEL_INVOCATION_ERROR),
        ("model_unreachable", ErrorCode.MODEL_INVOCATION_ERROR),
        ("model_timeout", ErrorCode.TIMEOUT),
        ("request_refused", ErrorCode.MODEL_INVOCATION_ERROR),
        ("rate_limited", ErrorCode.RATE_LIMITED),
        ("interrupted", ErrorCode.INTERRUPTED),
        ("journal", ErrorCode.STORAGE_ERROR),
        ("fenced", ErrorCode.STORAGE_ERROR),
        ("corrupt", ErrorCode.STORAGE_ERROR),
        ("busy", ErrorCode.SESSION_BUSY),
        ("something_new", ErrorCode.AGENT_EXECUTION_ERROR),
    ],
)
def test_a_turn_that_failed_says_why(code: str, shown: ErrorCode) -> None:
    assert code_for(code) is shown


def test_every_error_of_ours_has_an_entry() -> None:
    kinds = [
        kind
        for _, kind in inspect.getmembers(errors, inspect.isclass)
        if issubclass(kind, errors.TrunklineError)
    ]
    assert {kind.code for kind in kinds} <= CODES.keys()
    assert not {"journal_failed"} & CODES.keys()


def test_errors_of_an_agent_never_look_like_ours() -> None:
    output = [
        kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, errors.AgentError)
    ]

    assert len(output) > 1
    assert all(code_for(kind.code) is not ErrorCode.INTERNAL_ERROR for kind in output)
