"""Why a server is not there, and what to do about it."""

import httpx
import pytest
from mcp.types import ErrorData

from mcp import McpError
from trunkline.mcp.client import explain_failure
from trunkline.mcp.server_settings import Connection, Program, Site
from trunkline.protocols.jsonrpc.framing import Oversize
from trunkline.transports.process.line_process import LineProcess

PROGRAM = Program(command="srv", args=("--token=s3cret",))
WEB = Site(url="http://h/mcp?key=s3cret")


def status(code: int) -> httpx.HTTPStatusError:
    request = httpx.Request("POST", "http://h/mcp")
    return httpx.HTTPStatusError("no", request=request, response=httpx.Response(code, request=request))


class Ended(LineProcess):
    @property
    def exit_description(self) -> str | None:
        return "it ended with code 2: no luck"


@pytest.mark.parametrize(
    ("error", "connection", "why"),
    [
        (FileNotFoundError(), PROGRAM, "'srv' or its folder was not found: install it"),
        (
            PermissionError(13, "Permission denied"),
            PROGRAM,
            "'srv' cannot be started (permission denied): check",
        ),
        (OSError("odd"), PROGRAM, "'srv' cannot be started (odd)"),
        (TimeoutError(), PROGRAM, "'srv' did not answer in time: run it in a terminal"),
        (McpError(ErrorData(code=1, message="no")), PROGRAM, "'srv' refused: no"),
        (None, PROGRAM, "the connection to 'srv' was lost"),
        (status(401), WEB, "http://h/mcp answered 401: check its headers"),
        (status(404), WEB, "http://h/mcp answered 404: check its address and its type"),
        (httpx.ConnectTimeout("slow"), WEB, "http://h/mcp did not answer in time: check that it runs"),
        (TimeoutError(), WEB, "http://h/mcp did not answer in time"),
        (httpx.ConnectError("no"), WEB, "http://h/mcp cannot be reached: start it"),
        (RuntimeError("Unsupported protocol version"), WEB, "was lost: Unsupported protocol version"),
        (ExceptionGroup("", [ExceptionGroup("", [FileNotFoundError()])]), PROGRAM, "was not found"),
    ],
)
def test_a_failure_is_explained_without_what_may_be_secret(
    error: Exception | None, connection: Connection, why: str
) -> None:
    output = explain_failure(error, connection, LineProcess())
    assert why in output
    assert "s3cret" not in output


def test_how_a_process_ended_says_more_than_a_broken_connection() -> None:
    lost = McpError(ErrorData(code=-32000, message="Connection closed"))
    assert explain_failure(lost, PROGRAM, Ended()) == (
        "it ended with code 2: no luck; run 'srv' in a terminal to see more"
    )


def test_a_message_that_was_too_long_is_the_reason() -> None:
    pipes = LineProcess()
    pipes.oversize = Oversize(2000, 1000)
    assert "more than 1000 bytes" in explain_failure(None, PROGRAM, pipes)
