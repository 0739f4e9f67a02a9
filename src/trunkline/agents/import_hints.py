"""What to do about an import that failed in a user's file: a package and its module may have two names."""

from __future__ import annotations

from pathlib import Path

_SDK = "openai-agents"
_SDK_MODULE = "agents"
_OF_EXTRA = ("langchain", "langchain_core", "langgraph")
"""Modules that ``trunkline[langchain]`` brings."""


def import_hint(error: ImportError) -> str:
    """Say how to make an import work, in brackets; empty where nothing is known about it."""
    module = error.name or ""
    if module.partition(".")[0] == _SDK_MODULE:
        return _sdk_hint(error)
    if isinstance(error, ModuleNotFoundError) and module in _OF_EXTRA:
        return " (run `pip install 'trunkline[langchain]'`)"
    return f" (install {module!r} into this environment)" if isinstance(error, ModuleNotFoundError) else ""


def _sdk_hint(error: ImportError) -> str:
    """The SDK of OpenAI is called ``agents``, as is many a user's own folder."""
    shadow = _shadow(error)
    if shadow is not None:
        return (
            f" ({shadow} hides the OpenAI Agents SDK, whose module is called {_SDK_MODULE!r} too: "
            "rename that one, for example to my_agents, and import it under its new name)"
        )
    if isinstance(error, ModuleNotFoundError) and error.name == _SDK_MODULE:
        return f" (the module is of the package {_SDK}: run `pip install 'trunkline[openai]'`)"
    return f" (the package {_SDK} is too old here: run `pip install -U 'trunkline[openai]'`)"


def _shadow(error: ImportError) -> str | None:
    """The user's own module or folder that was imported in place of the SDK, if it was."""
    import sys

    module = sys.modules.get(_SDK_MODULE)
    if module is None or hasattr(module, "Runner"):
        return None
    places = [error.path or getattr(module, "__file__", None), *getattr(module, "__path__", ())]
    folder = next((Path(one) for one in places if one), None)
    if folder is None:
        return None
    return str(folder.parent if folder.name == "__init__.py" else folder)
