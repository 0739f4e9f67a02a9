"""Reads the params of an agent's requests, and gives our errors the codes of ACP."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, TypeVar, cast

import msgspec

from trunkline.errors import NoSuchFile, SessionError, TurnCancelled, WorkspaceError
from trunkline.protocols.jsonrpc.connection import error_with_details
from trunkline.protocols.jsonrpc.messages import (
    INVALID_PARAMS,
    REQUEST_CANCELLED,
    RESOURCE_NOT_FOUND,
    RpcError,
)

T = TypeVar("T", bound=msgspec.Struct)


def fields_of(params: Any) -> dict[str, Any]:
    """Give params as an object; anything else is the agent's fault."""
    if not isinstance(params, dict):
        raise error_with_details(INVALID_PARAMS, "invalid params: an object is expected")
    return cast("dict[str, Any]", params)


def read_params(kind: type[T], params: Any) -> T:
    """Read params as a wire type; null stands for a field that is left out."""
    given = {name: value for name, value in fields_of(params).items() if value is not None}
    try:
        return msgspec.convert(given, kind)
    except msgspec.ValidationError as error:
        raise error_with_details(INVALID_PARAMS, f"invalid params: {error}") from None


def check_absolute(field: str, path: str) -> None:
    """Refuse a relative path.

    "All file paths in the protocol MUST be absolute."
    (https://agentclientprotocol.com/protocol/v1/overview#argument-requirements)
    """
    if not os.path.isabs(path):
        raise error_with_details(
            INVALID_PARAMS, f"invalid params: {field} must be an absolute path, not {path[:200]!r}"
        )


@contextmanager
def refusals() -> Generator[None]:
    """Give our errors as the errors of JSON-RPC that an agent understands."""
    try:
        yield
    except TurnCancelled as error:
        raise error_with_details(REQUEST_CANCELLED, str(error)) from None
    except (WorkspaceError, SessionError) as error:
        raise error_with_details(error.hint.jsonrpc, str(error)) from None


@contextmanager
def missing_files(path: str) -> Generator[None]:
    """Say that a file is missing in the words that agents look for."""
    try:
        yield
    except NoSuchFile as error:
        # gemini looks for "Resource not found", ENOENT or "No such file" in the message.
        raise RpcError(
            RESOURCE_NOT_FOUND, f"Resource not found: {path}", {"details": str(error), "uri": path}
        ) from None
