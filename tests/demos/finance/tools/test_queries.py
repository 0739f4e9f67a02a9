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


async def test_a_chart_calls_an_account_by_its_name() -> None:
    one = desk()
    with one.ledger.reading() as db:
        ((id, name),) = db.execute("SELECT id, name FROM accounts WHERE kind = 'card'").fetchall()
    chart = await read(one, "chart_spending", start="2026-10-01", end="2026-10-31", account=id)
    assert chart["named"] == {"account": name}
    assert f"account {name}" in chart["filters"]


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


async def test_a_chart_over_currencies_is_of_the_main_one_and_names_the_others() -> None:
    year = {"start": "2026-01-01", "end": "2026-11-18"}
    chart = await read(desk(), "chart_spending", **year, group_by="month")
    euros, dollars = (await read(desk(), "spending", **year))["totals"]
    assert (chart["totals"], chart["not_in_chart"]) == ([euros], [dollars])
    assert all(group["amount"].endswith(" EUR") for group in chart["groups"])
    only = await read(desk(), "chart_spending", **year, currency="USD")
    assert "not_in_chart" not in only


async def test_a_chart_in_time_has_every_bar() -> None:
    october = {"start": "2026-10-01", "end": "2026-10-31"}
    days, spent = [
        await read(desk(), tool, **october, group_by="day") for tool in ("chart_spending", "spending")
    ]
    assert days["groups"] == spent["groups"]
    assert len(days["groups"]) > 12
    weeks = await read(
        desk(), "chart_spending", start="2025-11-18", end="2026-11-18", group_by="week", currency="EUR"
    )
    assert len(weeks["groups"]) == 53
    with pytest.raises(ToolError, match="choose longer steps"):
        await read(
            desk(), "chart_spending", start="2026-01-01", end="2026-11-18", group_by="day", currency="EUR"
        )
