"""Our wire types against the official models, field by field."""

import typing
from typing import Any

import ag_ui.core as official
import msgspec
import pytest
from ag_ui._generated import models
from ag_ui.core import Event
from pydantic import TypeAdapter

import trunkline.frontends.agui as agui
from trunkline.frontends.agui.decoder import read_input
from trunkline.protocols.agui import wire

OURS: dict[str, type[Any]] = {
    str(kind.__struct_config__.tag): kind for kind in typing.get_args(wire.AguiEvent)
}
THEIRS: dict[str, type[Any]] = {
    kind.model_fields["type"].default.value: kind for kind in typing.get_args(typing.get_args(Event)[0])
}
EVENT: TypeAdapter[Any] = TypeAdapter(Event)


def fields_of(kind: type[Any]) -> dict[str, bool]:
    """Name the fields of one of our types, and say which are required."""
    return {field.encode_name: field.required for field in msgspec.structs.fields(kind)}


def models_fields(kind: type[Any]) -> dict[str, bool]:
    return {field.alias or name: field.is_required() for name, field in kind.model_fields.items()}


def test_every_event_of_the_protocol_is_ours_and_no_other() -> None:
    assert len(OURS) == 31
    assert OURS.keys() == THEIRS.keys() == {kind.value for kind in official.EventType}
    assert wire.PROTOCOL_VERSION == official.PROTOCOL_VERSION


@pytest.mark.parametrize("name", sorted(OURS))
def test_an_event_has_the_official_fields_and_needs_the_same_ones(name: str) -> None:
    ours, theirs = fields_of(OURS[name]), models_fields(THEIRS[name])
    del theirs["type"]

    assert ours == theirs


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (wire.RunAgentInput, models.RunAgentInput),
        (wire.Interrupt, models.Interrupt),
        (wire.ResumeEntry, models.ResumeEntry),
        (wire.TokenUsage, models.TokenUsage),
    ],
)
def test_what_events_and_requests_are_made_of_has_the_official_fields(ours: Any, theirs: Any) -> None:
    assert fields_of(ours) == models_fields(theirs)


def test_a_tool_and_a_context_are_read_with_less_than_the_official_ones_need() -> None:
    assert fields_of(wire.Tool).keys() == models_fields(models.Tool).keys()
    assert fields_of(wire.Context).keys() == models_fields(models.Context).keys()
    assert wire.Tool(name="x").description == ""


def test_a_message_has_the_fields_of_every_role() -> None:
    roles = [
        models.DeveloperMessage,
        models.SystemMessage,
        models.AssistantMessage,
        models.UserMessage,
        models.ToolMessage,
        models.ActivityMessage,
        models.ReasoningMessage,
    ]
    every = {name for role in roles for name in models_fields(role)}

    assert fields_of(wire.Message).keys() == every


@pytest.mark.parametrize("name", sorted(OURS))
def test_an_event_with_only_what_it_needs_is_official(name: str) -> None:
    kind = OURS[name]
    given = {field.name: sample_of(field) for field in msgspec.structs.fields(kind) if field.required}
    output = wire.encode(kind(**given))

    read = EVENT.validate_json(output)

    assert type(read) is THEIRS[name]
    assert msgspec.json.decode(output) == msgspec.json.decode(read.model_dump_json(by_alias=True))


def sample_of(field: Any) -> Any:
    """Give a value that fits a required field."""
    if typing.get_origin(field.type) in (tuple, list):
        return []
    if typing.get_origin(field.type) is dict:
        return {"a": 1}
    return "tool-call" if field.name == "subtype" else "x"


@pytest.mark.parametrize("name", sorted(OURS))
def test_a_field_that_is_none_is_absent(name: str) -> None:
    kind = OURS[name]
    required = {field.name: sample_of(field) for field in msgspec.structs.fields(kind) if field.required}
    report = msgspec.json.decode(wire.encode(kind(**required)))

    assert report.keys() - {"type", "role"} == {key for key, needed in fields_of(kind).items() if needed}


@pytest.mark.parametrize("value", [None, 0, "", False, [], {"a": [None]}])
def test_a_value_of_any_kind_is_kept_as_it_is(value: Any) -> None:
    for event in (
        wire.Custom(name="n", value=value),
        wire.StateSnapshot(snapshot=value),
        wire.Raw(event=value),
    ):
        report = msgspec.json.decode(wire.encode(event))
        assert value in report.values()
        EVENT.validate_python(report)


def test_a_request_of_the_official_models_is_read_whole() -> None:
    output = models.RunAgentInput(
        thread_id="t",
        run_id="r",
        protocol_version="1.0",
        parent_run_id="p",
        state={"a": 1},
        messages=[
            models.SystemMessage(id="s", content="be kind"),
            models.UserMessage(
                id="u",
                content=[
                    models.TextPart(text="look"),
                    models.ImagePart(source=models.DataSource(value="aGk=", mime_type="image/png")),
                ],
            ),
            models.AssistantMessage(
                id="a",
                tool_calls=[models.ToolCall(id="c", function=models.FunctionCall(name="f", arguments="{}"))],
            ),
            models.ToolMessage(id="m", tool_call_id="c", content="done", error="or not"),
            models.ReasoningMessage(id="g", content="hm", encrypted_value="e"),
            models.ActivityMessage(id="v", activity_type="x", content={"y": 1}),
        ],
        tools=[models.Tool(name="f", description="does", parameters={"type": "object"})],
        context=[models.Context(description="d", value="v")],
        forwarded_props={"k": 1},
        resume=[models.ResumeEntry(interrupt_id="i", status="resolved", payload={"approved": True})],
    ).model_dump(by_alias=True, exclude_none=True)

    read = read_input(msgspec.json.encode(output))

    assert msgspec.to_builtins(read) == output


def test_a_request_of_an_older_client_may_have_nulls_and_unknown_fields() -> None:
    message = {"id": "u", "role": "user", "content": "x", "unheard": 1}
    nothing = dict.fromkeys(("tools", "context", "state", "forwardedProps", "resume"))
    body: dict[str, Any] = {"threadId": "t", "runId": "r", "messages": [message], **nothing, "more": {}}

    read = read_input(msgspec.json.encode(body))

    assert (read.tools, read.context, read.state, read.resume) == (None, None, None, None)


def test_the_event_types_are_names_of_the_package() -> None:
    for kind in OURS.values():
        assert getattr(agui, kind.__name__) is kind
    assert agui.ErrorCode.TIMEOUT == "TIMEOUT"
    assert agui.AguiOptions().max_ui_payload_size == 51_200
    with pytest.raises(AttributeError, match="no attribute 'Nonsense'"):
        _ = agui.Nonsense
