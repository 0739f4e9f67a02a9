"""AG-UI 1.0: the event types, and what turns a session into runs; loaded when first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trunkline.frontends.agui.codes import ErrorCode as ErrorCode
    from trunkline.frontends.agui.encoder import AguiEncoder as AguiEncoder
    from trunkline.frontends.agui.endpoint import AguiEndpoint as AguiEndpoint
    from trunkline.frontends.agui.endpoint import AguiRun as AguiRun
    from trunkline.frontends.agui.options import AguiOptions as AguiOptions
    from trunkline.frontends.agui.wire import *  # noqa: F403

_HOMES = {
    "AguiEncoder": "encoder",
    "AguiEndpoint": "endpoint",
    "AguiOptions": "options",
    "AguiRun": "endpoint",
    "ErrorCode": "codes",
}


def __getattr__(name: str) -> Any:
    home = import_module(f"trunkline.frontends.agui.{_HOMES.get(name, 'wire')}")
    try:
        return getattr(home, name)
    except AttributeError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
