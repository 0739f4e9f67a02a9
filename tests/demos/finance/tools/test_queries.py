import builtins
from typing import Any

import pytest
from tests.demos.finance.tools.desks import desk, read

from trunkline.content import ImageBlock, TextBlock
from trunkline.tools import ToolError
from trunkline.tools.results import shown_content


async def test_a_chart_is_a_picture_and_bars() -> None:
    result = await desk().tools.call("chart_spending", {"start": "2026-10-01", "end": "2026-10-31"})
    text, image = shown_content(result)
    assert isinstance(text, TextBlock)
    assert isinstance(image, ImageBlock)
    assert "Groceries" in text.text


async def test_without_pillow_the_bars_are_still_there(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def refuse(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.partition(".")[0] == "PIL":
            raise ModuleNotFoundError("No module named 'PIL'", name="PIL")
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)
    result = await desk().tools.call("chart_spending", {"start": "2026-10-01", "end": "2026-10-31"})
    text, said = shown_content(result)
    assert isinstance(text, TextBlock)
    assert isinstance(said, TextBlock)
    assert "pip install" in said.text


async def test_sql_needs_a_person_and_has_limits() -> None:
    one = desk()
    with pytest.raises(ToolError, match="permission"):
        await one.tools.call("run_sql", {"query": "SELECT 1"})
    found = await read(one, "run_sql", query="SELECT * FROM spending", limit=3)
    assert len(found["rows"]) == 3
    assert found["note"]
    with pytest.raises(ToolError):
        await read(one, "run_sql", query="SELECT * FROM bank_items")


async def test_the_plan_outside_of_a_turn_is_only_noted() -> None:
    steps = [{"step": "one", "status": "pending"}]
    assert await desk().tools.call("update_plan", {"steps": steps}) == "shown"
