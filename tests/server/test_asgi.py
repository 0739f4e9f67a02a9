"""The arguments of ``asgi()``: what cannot count is refused when the app is made."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from tests.hubs import make
from tests.server.running_server import run_events, run_input
from tests.server.test_app import made, reached

from trunkline.commands import Prompt
from trunkline.errors import ConfigurationError
from trunkline.frontends.agui.options import AguiOptions
from trunkline.session.context import TurnContext


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"policy": {"write_*": "deny"}}, r"type dict: .*Policy\.from_dict.*PermissionMiddleware"),
        ({"policy": "denny"}, "did you mean 'deny'"),
        (
            {"agui": {"emit_steps": "node"}},
            r"agui=AguiOptions\(...\), with from trunkline.frontends.agui import",
        ),
        ({"options": {}}, r"options=AguiOptions\(...\)"),
        ({"settings": {"busy": "queue"}}, r"settings=Settings\(...\), with from trunkline import Settings"),
        ({"limits": {"messages": 3}}, r"limits=Limits\(...\), with from trunkline.server.limits import"),
        ({"agui": AguiOptions(keep_alive=3)}, r"limits=Limits\(keep_alive_seconds=...\)"),
        ({"agui": AguiOptions(coalesce=False)}, "the journal joins"),
        ({"allow_origins": "localhost"}, "'localhost' is not an origin"),
    ],
)
def test_an_option_that_cannot_count_is_refused_at_once(options: dict[str, Any], text: str) -> None:
    with pytest.raises(ConfigurationError, match=text):
        made(**options)


@pytest.mark.parametrize("from_file", [False, True])
async def test_a_policy_is_given_by_name_or_file_and_an_origin_as_one_text(
    tmp_path: Path, from_file: bool
) -> None:
    async def careful(prompt: Prompt, ctx: TurnContext) -> AsyncGenerator[str]:
        decision = await ctx.permission("write", kind="edit")
        yield "yes" if decision else "no"

    (tmp_path / "policy.toml").write_text('base = "deny"')
    policy = tmp_path / "policy.toml" if from_file else "deny"
    page = "http://localhost:5173"
    app = made(
        make(careful), policy=policy, allow_origins=page, allow_hosts="chat.test", allow_mcp="mcp.test"
    )
    async with reached(app) as client:
        events = await run_events(client, run_input("go"))
        assert "".join(event.get("delta", "") for event in events) == "no"
        asked = await client.get("/agui/capabilities", headers={"origin": page, "host": "chat.test"})
        assert (asked.status_code, asked.headers["access-control-allow-origin"]) == (200, page)
