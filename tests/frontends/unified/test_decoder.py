"""What clients send: each row of the mapping to an agent, and what is refused with a reason."""

from typing import Any

import pytest
from tests.frontends.unified.sessions import as_entries

from trunkline import content as c
from trunkline import events as ev
from trunkline import questions as qu
from trunkline.commands import Answer, Cancel, Prompt, SetConfig
from trunkline.errors import InvalidCommand
from trunkline.frontends.unified.decoder import Initialize, Request, read_request
from trunkline.frontends.unified.encoder import UnifiedEncoder
from trunkline.frontends.unified.options import UnifiedOptions
from trunkline.options import Choice, ConfigOption
from trunkline.protocols.unified.wire import as_message, to_dict

OPTIONS = (
    ConfigOption(option_id="llm", name="Model", value="a", category="model",
                 choices=(Choice(value="a", name="A"), Choice(value="b", name="B"))),
    ConfigOption(option_id="how", name="Mode", value="ask", category="mode",
                 choices=(Choice(value="ask", name="Ask"), Choice(value="code", name="Code"))),
    ConfigOption(option_id="fast", name="Fast", value=False),
)  # fmt: skip
ASKED = ev.Asked(
    question_id="q1",
    question=qu.Permission(
        call_id="c1",
        options=(
            qu.Option(option_id="p-always", name="Always", kind="allow_always"),
            qu.Option(option_id="p-yes", name="Yes", kind="allow_once"),
            qu.Option(option_id="p-no", name="No", kind="reject_once"),
        ),
    ),
)


def read(kind: str, *content: dict[str, Any], **metadata: Any) -> Request:
    message = {"id": "i1", "timestamp": 1, "type": kind, "role": "user"}
    return read_request(
        as_message({**message, "content": list(content), "metadata": metadata}),
        session_id="s1",
        open_questions={"q1": ASKED},
        options=OPTIONS,
    )


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


ROWS: list[tuple[str, list[dict[str, Any]], dict[str, Any], Request]] = [
    ("user_message", [text("hi")], {"session_id": "s1"},
     Prompt(content=(c.TextBlock(text="hi"),), key="i1", message_id="i1", busy="queue")),
    ("permission_response", [], {"request_id": "q1", "behavior": "allow"},
     Answer(question_id="q1", key="unified:i1", option_id="p-yes")),
    ("permission_response", [], {"request_id": "q1", "behavior": "deny", "message": "no"},
     Answer(question_id="q1", key="unified:i1", option_id="p-no", reason="no")),
    ("interrupt", [], {}, Cancel(key="i1")),
    ("interrupt", [], {"turn_id": "t1"}, Cancel(key="i1", turn_id="t1")),
    ("configuration_change", [], {"subtype": "set_model", "model": "b"},
     SetConfig(key="i1", option_id="llm", value="b")),
    ("configuration_change", [], {"subtype": "set_mode", "modeId": "code"},
     SetConfig(key="i1", option_id="how", value="code")),
    ("configuration_change", [], {"subtype": "set_permission_mode", "mode": "code"},
     SetConfig(key="i1", option_id="how", value="code")),
    ("configuration_change", [], {"optionId": "fast", "value": True},
     SetConfig(key="i1", option_id="fast", value=True)),
    ("unknown", [], {"subtype": "control_request", "request_id": "r", "request": {"subtype": "initialize"}},
     Initialize(request_id="r")),
    ("unknown", [], {"subtype": "control_request", "request": {"subtype": "initialize"}},
     Initialize(request_id="i1")),
    ("unknown", [], {"subtype": "control_request", "request": {"subtype": "interrupt"}}, Cancel(key="i1")),
    ("unknown", [], {"subtype": "control_request", "request": {"subtype": "set_model", "model": "b"}},
     SetConfig(key="i1", option_id="llm", value="b")),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "content", "metadata", "expected"), ROWS)
def test_a_row_of_the_mapping_to_an_agent(
    kind: str, content: list[dict[str, Any]], metadata: dict[str, Any], expected: Request
) -> None:
    assert read(kind, *content, **metadata) == expected


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ({"slash_command": "web", "args": "ACP protocol"}, "/web ACP protocol"),
        ({"slash_command": "/compact"}, "/compact"),
    ],
)
def test_a_slash_command_is_the_text_that_agents_read(metadata: dict[str, Any], expected: str) -> None:
    prompt = read("user_message", **metadata)
    assert isinstance(prompt, Prompt)
    assert prompt.text == expected


def test_images_code_and_blocks_of_acp_are_part_of_the_prompt() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}}
    code = {"type": "code", "language": "python", "code": "1"}
    link = {"type": "resource_link", "uri": "file:///a", "name": "a"}
    prompt = read("user_message", image, code, blocks=[link], busy="steer")
    assert isinstance(prompt, Prompt)
    assert prompt.content == (
        c.ImageBlock(mime_type="image/png", data="AA=="),
        c.TextBlock(text="```python\n1\n```"),
        c.LinkBlock(uri="file:///a", name="a"),
    )
    assert prompt.busy == "steer"


BAD: list[tuple[str, list[dict[str, Any]], dict[str, Any], str]] = [
    ("user_message", [], {}, "is empty"),
    ("user_message", [{"type": "thinking", "thinking": "x"}], {}, r"content\[0\] is thinking"),
    ("user_message", [{"type": "tool_result", "tool_use_id": "c", "content": ""}], {}, "tool_result"),
    ("user_message", [{"type": "image", "source": {"type": "base64", "media_type": "i", "data": "%"}}], {},
     "base64"),
    ("user_message", [text("x")], {"busy": "never"}, "busy is 'never'"),
    ("user_message", [text("x")], {"session_id": "other"}, "the session 's1', not for 'other'"),
    ("user_message", [text("x")], {"blocks": [{"type": "hologram"}]}, r"blocks\[0\]"),
    ("user_message", [], {"slash_command": "/"}, "name of a command"),
    ("permission_response", [], {"behavior": "allow"}, "names its request"),
    ("permission_response", [], {"request_id": "q1"}, "behavior allow or deny"),
    ("configuration_change", [], {}, "sets one thing"),
    ("configuration_change", [], {"model": "b", "modeId": "code"}, "sets one thing"),
    ("configuration_change", [], {"optionId": "fast", "value": 3}, "true or false"),
    ("unknown", [], {"subtype": "control_request", "request": {"subtype": "mcp"}}, "request 'mcp'"),
    ("unknown", [], {"subtype": "control_request"}, "no control request None"),
    ("unknown", [], {}, "a client cannot send unknown"),
    ("assistant", [], {}, "a client cannot send assistant"),
    ("result", [], {}, "it sends user_message"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "content", "metadata", "why"), BAD, ids=[row[3] for row in BAD])
def test_what_cannot_be_carried_out_is_refused_with_the_reason(
    kind: str, content: list[dict[str, Any]], metadata: dict[str, Any], why: str
) -> None:
    with pytest.raises(InvalidCommand, match=why):
        read(kind, *content, **metadata)


@pytest.mark.parametrize("name", ["model", "modeId"])
def test_an_agent_without_models_or_modes_says_which_options_it_has(name: str) -> None:
    message: dict[str, Any] = {
        "id": "i",
        "timestamp": 1,
        "type": "configuration_change",
        "role": "user",
        "content": [],
    }
    with pytest.raises(InvalidCommand, match="its options: none"):
        read_request(as_message({**message, "metadata": {name: "x"}}), session_id="s", open_questions={})


def test_a_message_that_is_encoded_and_read_again_is_the_same_prompt() -> None:
    own = "0b0c3a52-1f0e-4a3c-9a55-2b1c5a9d7e10"
    content = (
        c.TextBlock(text="hi"),
        c.ImageBlock(mime_type="image/png", data="AA=="),
    )
    encoder = UnifiedEncoder("s1", UnifiedOptions())
    (entry,) = as_entries([ev.UserMessage(message_id=own, content=content)])
    (message,) = encoder.feed(entry)
    prompt = read_request(as_message(to_dict(message)), session_id="s1", open_questions={})
    assert isinstance(prompt, Prompt)
    assert (prompt.content, prompt.message_id) == (content, own)
