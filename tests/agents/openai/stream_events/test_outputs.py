"""Outputs of tools of the real SDK as content."""

from typing import Any

import pytest
from agents.testing import assistant_message, function_call

from agents import (
    ToolOutputFileContent,
    ToolOutputImage,
    ToolOutputText,
    function_tool,
)
from tests.agents.openai.stream_events import runs
from trunkline import content as c
from trunkline.agents.openai.stream_events.outputs import content_of, read_output

PNG = "iVBORw0KGgo="


async def call_tool(returns: Any) -> Any:
    """The call of a tool that returns this."""

    @function_tool
    def give() -> Any:
        """Give it."""
        return returns

    agent = runs.agent([function_call("give", {}, call_id="c1")], [assistant_message("done")], tools=[give])
    return (await runs.play(agent)).call("c1")


@pytest.mark.parametrize(
    ("returns", "content"),
    [
        ("text", (c.TextBlock(text="text"),)),
        ("", ()),
        ({"a": 1}, (c.TextBlock(text="{'a': 1}"),)),
        (ToolOutputText(text="text"), (c.TextBlock(text="text"),)),
        (
            ToolOutputImage(image_url=f"data:image/jpeg;base64,{PNG}"),
            (c.ImageBlock(mime_type="image/jpeg", data=PNG),),
        ),
        (
            ToolOutputImage(image_url="https://a.example/p"),
            (c.ImageBlock(mime_type="image/*", url="https://a.example/p"),),
        ),
        (ToolOutputImage(file_id="f1"), (c.ImageBlock(mime_type="image/*", url="file-id:f1"),)),
        (
            ToolOutputFileContent(file_data="AA==", filename="a.bin"),
            (c.ResourceBlock(uri="file:a.bin", data="AA=="),),
        ),
        (
            ToolOutputFileContent(file_data="data:text/csv;base64,AA==", filename="a.csv"),
            (c.ResourceBlock(uri="file:a.csv", data="AA==", mime_type="text/csv"),),
        ),
        (
            ToolOutputFileContent(file_url="https://a.example/a.pdf"),
            (c.LinkBlock(uri="https://a.example/a.pdf", name="a.pdf"),),
        ),
        (ToolOutputFileContent(file_id="f1"), (c.LinkBlock(uri="file-id:f1", name="file-id:f1"),)),
        (
            [ToolOutputText(text="a"), ToolOutputImage(file_id="f1")],
            (c.TextBlock(text="a"), c.ImageBlock(mime_type="image/*", url="file-id:f1")),
        ),
    ],
)
async def test_a_tools_output_is_content(returns: Any, content: tuple[c.Content, ...]) -> None:
    call = await call_tool(returns)
    assert (call.status, call.content) == ("completed", content)


async def test_what_a_tool_returned_is_kept_for_programs() -> None:
    assert (await call_tool({"a": [1]})).raw_output == {"a": [1]}
    assert (await call_tool(ToolOutputText(text="x"))).raw_output == {"type": "text", "text": "x"}


def test_a_screenshot_is_an_image() -> None:
    shot = {"type": "computer_screenshot", "image_url": f"data:image/png;base64,{PNG}"}
    found = read_output({"type": "computer_call_output", "output": shot}, "data:...")
    assert found.content == (c.ImageBlock(mime_type="image/png", data=PNG),)
    assert found.raw_output is None


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        ({"type": "apply_patch_call_output", "status": "failed", "output": "no such file"}, "no such file"),
        ({"type": "program_output", "status": "incomplete", "result": "stopped"}, "stopped"),
        ({"type": "apply_patch_call_output", "status": "failed"}, "the tool failed"),
        (
            {"type": "shell_call_output", "output": [{"stdout": "", "outcome": {"type": "timeout"}}]},
            "the command took too long",
        ),
    ],
)
def test_an_output_may_say_that_its_call_failed(item: Any, reason: str) -> None:
    found = read_output(item)
    assert (found.status, found.reason) == ("failed", reason)


@pytest.mark.parametrize("output", [5, {"a": 1}, [{"type": "new"}, "text", 5], [{"type": "input_image"}]])
def test_any_output_is_content(output: Any) -> None:
    assert all(isinstance(block, c.Block) for block in content_of(output))
