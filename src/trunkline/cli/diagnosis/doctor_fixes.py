"""What to do about a failure: the command to run, or the line to change."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from pathlib import Path

from trunkline.target_names import split_target

_EXTRAS = {
    "langchain": "langchain", "langchain_core": "langchain", "langgraph": "langchain", "agents": "openai",
    "mcp": "mcp", "httpx": "agui", "starlette": "server", "uvicorn": "server", "mt940": "finance",
    "fastjsonschema": "check", "rfc8785": "unified",
}  # fmt: skip
"""The extra of ours that brings a module."""
_PACKAGES = {
    "bs4": "beautifulsoup4", "cv2": "opencv-python", "dateutil": "python-dateutil", "docx": "python-docx",
    "dotenv": "python-dotenv", "fitz": "pymupdf", "PIL": "pillow", "serpapi": "google-search-results",
    "sklearn": "scikit-learn", "yaml": "pyyaml",
}  # fmt: skip
"""Packages that have another name than their module."""
_KEY_NAME = re.compile(r"\b[A-Z][A-Z0-9_]*(?:API_KEY|_TOKEN|_SECRET)\b")
_PIP_LINE = re.compile(r"pip install (?:-U |--upgrade )?[`'\"]?([A-Za-z][\w.-]*(?:\[[\w,.-]+\])?)")
"""A library that says what it wants, as LangChain does for the package of a model's provider."""
_NODE_WANTED = re.compile(r"(?:EBADENGINE|Unsupported engine)[\s\S]*?node['\"]?:\s*['\"]?[^\d'\"]*(\d+)")
_HIDES = re.compile(r"\((\S+) hides ")
_MEANT = re.compile(r"did you mean (\S+?)(?:\?| or )")
_MAIN = "put what starts it under: if __name__ == '__main__':"


def fix_of(error: BaseException | None) -> str:
    """Say what to do about an error of somebody's code; empty where nothing is known about it."""
    if isinstance(error, ModuleNotFoundError) and error.name:
        module = error.name.partition(".")[0]
        extra = _EXTRAS.get(module)
        package = _PACKAGES.get(module, module.replace("_", "-"))
        package = f"'trunkline[{extra}]'" if extra else package
        return f"{shlex.quote(sys.executable)} -m pip install {package}"
    text = str(error)
    if isinstance(error, ImportError) and (found := _PIP_LINE.search(text)):
        return f"{shlex.quote(sys.executable)} -m pip install {shlex.quote(found[1])}"
    if "attempted relative import" in text:
        return "run in the folder that holds its package, and write package.module:NAME instead of the file"
    if found := _NODE_WANTED.search(text):
        return f"install Node.js {found[1]} or newer (https://nodejs.org)"
    if found := _KEY_NAME.search(text):
        return f"export {found[0]}=..., or put it into a file and add --env-file FILE"
    return ""


def fix_of_target(target: str, text: str) -> str:
    """Say what to do about a TARGET that gave no agent; ``text`` is why."""
    source = split_target(target).source
    if found := _HIDES.search(text):
        hidden = Path(found[1])
        return f"mv {shlex.quote(str(hidden))} {shlex.quote(str(hidden.with_stem('my_agents')))}"
    if "ended the program" in text:
        return _MAIN
    if "failed while it was imported" in text:
        return f"correct {source}: the lines above say where"
    if "unknown target" in text:
        return _form_of(target)
    if found := _MEANT.search(text):
        return f"write {source}:{found[1]}"
    if " has no agent" in text:
        return f"put @trunkline.agent above your function, or name what makes an agent: {target}:NAME"
    if " is a class" in text or " has no " in text:
        return f"name another attribute after the colon of {target}"
    return "correct the TARGET; `trunkline --help` shows its forms"


def fix_of_slow_import(source: str) -> str:
    """Say what to do about a file whose import does not end."""
    return f"{source} waits or runs while it is imported (input(), a server, a loop): {_MAIN}"


def _form_of(target: str) -> str:
    """Guess what was meant by a word that is no TARGET."""
    if target.startswith(("http://", "https://")):
        return f"write agui:{target} if it is an AG-UI server"
    if Path(f"{target}.py").is_file():
        return f"write {target}.py"
    module, dot, name = target.rpartition(".")
    if dot and Path(f"{module.replace('.', '/')}.py").is_file():
        return f"write {module}:{name}"
    if (words := target.split()) and shutil.which(words[0]):
        return f'write "acp:{target}" if it is a program that speaks ACP'
    return "correct the TARGET; `trunkline --help` shows its forms"
