"""AG-UI 1.0: the event types, and what turns a session into runs; loaded when first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
    from trunkline.protocols.agui.codes import ErrorCode as ErrorCode
    from trunkline.protocols.agui.wire import *  # noqa: F403

_HOMES = {
    "AguiEncoder": "frontends.agui.encoder",
    "AguiEndpoint": "frontends.agui.endpoint",
    "AguiOptions": "frontends.agui.options",
    "AguiRun": "frontends.agui.endpoint",
    "AguiTransport": "frontends.agui.transports",
    "ErrorCode": "protocols.agui.codes",
    "console_transport": "frontends.agui.transports",
    "http_transport": "frontends.agui.transports",
    "read_input": "frontends.agui.decoder",
    "sse_transport": "frontends.agui.transports",
    "websocket_transport": "frontends.agui.transports",
}


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return sorted([*_HOMES, *import_module("trunkline.protocols.agui.wire").__all__])
    home = import_module(f"trunkline.{_HOMES.get(name, 'protocols.agui.wire')}")
    try:
        return getattr(home, name)
    except AttributeError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
