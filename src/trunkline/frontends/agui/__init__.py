"""AG-UI 1.0: the event types, and what turns a session into runs; loaded when first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trunkline.frontends.agui.codes import ErrorCode as ErrorCode
    from trunkline.frontends.agui.decoder import read_input as read_input
    from trunkline.frontends.agui.encoder import AguiEncoder as AguiEncoder
    from trunkline.frontends.agui.endpoint import AguiEndpoint as AguiEndpoint
    from trunkline.frontends.agui.endpoint import AguiRun as AguiRun
    from trunkline.frontends.agui.options import AguiOptions as AguiOptions
    from trunkline.frontends.agui.transports import AguiTransport as AguiTransport
    from trunkline.frontends.agui.transports import console_transport as console_transport
    from trunkline.frontends.agui.transports import http_transport as http_transport
    from trunkline.frontends.agui.transports import sse_transport as sse_transport
    from trunkline.frontends.agui.transports import websocket_transport as websocket_transport
    from trunkline.frontends.agui.wire import *  # noqa: F403

_HOMES = {
    "AguiEncoder": "encoder",
    "AguiEndpoint": "endpoint",
    "AguiOptions": "options",
    "AguiRun": "endpoint",
    "AguiTransport": "transports",
    "ErrorCode": "codes",
    "console_transport": "transports",
    "http_transport": "transports",
    "read_input": "decoder",
    "sse_transport": "transports",
    "websocket_transport": "transports",
}


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return sorted([*_HOMES, *import_module("trunkline.frontends.agui.wire").__all__])
    home = import_module(f"trunkline.frontends.agui.{_HOMES.get(name, 'wire')}")
    try:
        return getattr(home, name)
    except AttributeError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
