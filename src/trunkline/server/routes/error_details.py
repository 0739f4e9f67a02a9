"""How much of an error a client is told: the texts of exceptions stay on this machine."""

from __future__ import annotations

from typing import TypeVar

import msgspec
from starlette.requests import HTTPConnection

from trunkline.frontends.options import FrontEndOptions
from trunkline.server.security.hosts import is_loopback

Options = TypeVar("Options", bound=FrontEndOptions)


def redacted_options(options: Options, connection: HTTPConnection) -> Options:
    """Tell the texts of exceptions only where the server is called by an address of this machine."""
    server = connection.scope.get("server") or ("",)
    if options.error_detail_level != "full" or is_loopback(str(server[0])):
        return options
    return msgspec.structs.replace(options, error_detail_level="message")
