"""The pages that the documentation shows are those that the other tests drive."""

import re
from pathlib import Path


def test_the_documentation_shows_the_pages_as_they_are(root: Path) -> None:
    page = (root / "docs/agui.md").read_text("utf-8")
    shown = re.findall(r"^```tsx\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    sources = ("examples/copilotkit/src/main.tsx", "tests/browser/pages/src/assistant-ui.tsx")
    assert shown == [(root / name).read_text("utf-8") for name in sources]
