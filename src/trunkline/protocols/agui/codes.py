"""The codes of RUN_ERROR, and which of our errors each one stands for."""

from __future__ import annotations

from enum import StrEnum


class ErrorCode(StrEnum):
    """Why a run failed, for programs; a person reads the message."""

    AGENT_EXECUTION_ERROR = "AGENT_EXECUTION_ERROR"
    """The agent raised, or gave up."""
    AGENT_PROTOCOL_ERROR = "AGENT_PROTOCOL_ERROR"
    """The agent broke the order of events; a bug of the agent."""
    AGENT_EXITED = "AGENT_EXITED"
    """The agent's process is gone."""
    AUTHENTICATION_REQUIRED = "AUTHENTICATION_REQUIRED"
    """The agent, or its model, wants a login or another key."""
    MODEL_INVOCATION_ERROR = "MODEL_INVOCATION_ERROR"
    """The model's provider failed."""
    RATE_LIMITED = "RATE_LIMITED"
    """The model's provider wants fewer requests."""
    CONTEXT_OVERFLOW = "CONTEXT_OVERFLOW"
    """The conversation is longer than the model takes."""
    TIMEOUT = "TIMEOUT"
    """Something took longer than it may."""
    INTERRUPTED = "INTERRUPTED"
    """The process that ran the turn is gone; send the message again."""
    CANCELLED = "CANCELLED"
    """The run was cancelled (sent only to clients older than 1.0)."""
    SESSION_BUSY = "SESSION_BUSY"
    """Another run of this thread is on its way."""
    INVALID_INPUT = "INVALID_INPUT"
    """The request cannot be carried out as given."""
    STORAGE_ERROR = "STORAGE_ERROR"
    """The journal failed."""
    INTERNAL_ERROR = "INTERNAL_ERROR"
    """A bug of ours."""


CODES = {
    "agent_failed": ErrorCode.AGENT_EXECUTION_ERROR,
    "agent_protocol": ErrorCode.AGENT_PROTOCOL_ERROR,
    "agent_exited": ErrorCode.AGENT_EXITED,
    "authentication": ErrorCode.AUTHENTICATION_REQUIRED,
    "authentication_required": ErrorCode.AUTHENTICATION_REQUIRED,
    "model_failed": ErrorCode.MODEL_INVOCATION_ERROR,
    "model_not_found": ErrorCode.MODEL_INVOCATION_ERROR,
    "model_unreachable": ErrorCode.MODEL_INVOCATION_ERROR,
    "model_timeout": ErrorCode.TIMEOUT,
    "authentication_failed": ErrorCode.MODEL_INVOCATION_ERROR,
    "input_refused": ErrorCode.MODEL_INVOCATION_ERROR,
    "request_refused": ErrorCode.MODEL_INVOCATION_ERROR,
    "rate_limited": ErrorCode.RATE_LIMITED,
    "context_overflow": ErrorCode.CONTEXT_OVERFLOW,
    "timeout": ErrorCode.TIMEOUT,
    "interrupted": ErrorCode.INTERRUPTED,
    "journal": ErrorCode.STORAGE_ERROR,
    "fenced": ErrorCode.STORAGE_ERROR,
    "corrupt": ErrorCode.STORAGE_ERROR,
    "busy": ErrorCode.SESSION_BUSY,
    "other_agent": ErrorCode.INVALID_INPUT,
    "session": ErrorCode.SESSION_BUSY,
    "session_not_found": ErrorCode.INVALID_INPUT,
    "closed": ErrorCode.SESSION_BUSY,
    "already_answered": ErrorCode.SESSION_BUSY,
    "cancelled": ErrorCode.CANCELLED,
    "invalid_request": ErrorCode.INVALID_INPUT,
    "invalid_command": ErrorCode.INVALID_INPUT,
    "configuration": ErrorCode.AGENT_EXECUTION_ERROR,
    "workspace": ErrorCode.AGENT_EXECUTION_ERROR,
    "no_such_file": ErrorCode.AGENT_EXECUTION_ERROR,
    "denied": ErrorCode.AGENT_EXECUTION_ERROR,
    "internal": ErrorCode.INTERNAL_ERROR,
}
"""By the code of a failed turn: those of our errors, and those that adapters give to what a model raises."""


def code_for(code: str) -> ErrorCode:
    """Give the code of a failed turn as a client knows it."""
    return CODES.get(code, ErrorCode.AGENT_EXECUTION_ERROR)
