"""Arguments of types that msgspec does not know, and schemas as providers want them."""

import pathlib
from typing import Annotated, Any, Literal

import pydantic
import pytest

from trunkline.errors import ConfigurationError
from trunkline.tools.argument_types import complete
from trunkline.tools.arguments import FunctionArguments
from trunkline.tools.errors import InvalidArguments


class Place(pydantic.BaseModel):
    """A place."""

    kind: Literal["shop", "home"] = "shop"


class Order(pydantic.BaseModel):
    """An order."""

    count: int
    place: Place | None = None


def buy(
    order: Order,
    note: str = pydantic.Field(description="what for"),
    most: int = pydantic.Field(3, le=5),
    least: Annotated[int | None, pydantic.Field(ge=2, description="at least")] = None,
    folder: pathlib.Path = pathlib.Path("a"),
    extra: object = None,
) -> None:
    """Buy something."""


ARGUMENTS = FunctionArguments("buy", buy)
SENT: dict[str, Any] = {"order": {"count": 1}, "note": "n"}


def test_models_and_fields_of_pydantic_are_described() -> None:
    schema = ARGUMENTS.schema
    properties = schema["properties"]
    assert schema["required"] == ["order", "note"]
    assert properties["note"] == {"description": "what for", "type": "string"}
    assert properties["most"] == {"type": "integer", "maximum": 5, "default": 3}
    assert properties["least"]["anyOf"][0] == {"type": "integer", "minimum": 2}
    assert properties["least"]["description"] == "at least"
    assert properties["folder"]["type"] == "string"
    assert "$defs" not in properties["order"]
    assert properties["order"]["properties"]["place"]["anyOf"][0] == {"$ref": "#/$defs/Place"}
    assert schema["$defs"]["Place"]["properties"]["kind"]["enum"] == ["shop", "home"]


def test_what_is_sent_becomes_a_model_a_path_or_stays_as_it_is() -> None:
    read = ARGUMENTS.read(
        {**SENT, "order": {"count": 2, "place": {"kind": "home"}}, "folder": "/x", "extra": [1]}
    )
    assert read["order"] == Order(count=2, place=Place(kind="home"))
    assert (read["folder"], read["extra"], read["most"]) == (pathlib.Path("/x"), [1], 3)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"order": {"count": "x"}}, "the argument 'order': count: Input should be a valid integer"),
        ({"most": 6}, "the argument 'most': expected `int` <= 5"),
        ({"least": 1}, "the argument 'least': expected `int` >= 2"),
        ({"folder": 1}, "the argument 'folder': expected `str`, got `int`"),
    ],
)
def test_what_a_model_refuses_is_said_in_one_line(change: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidArguments) as refused:
        ARGUMENTS.read({**SENT, **change})
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_type_that_json_cannot_say_is_named() -> None:
    class Socket: ...

    def send(socket: Socket) -> None: ...

    with pytest.raises(ConfigurationError, match="there is no JSON for Socket: use text"):
        FunctionArguments("send", send)


def test_every_enum_has_its_type() -> None:
    def choose(
        one: Literal["a", "b"], other: Literal[1, "c"], third: Literal[2, 3] | None = None
    ) -> None: ...

    properties = FunctionArguments("choose", choose).schema["properties"]
    assert properties["one"]["type"] == "string"
    assert properties["other"]["type"] == ["integer", "string"]
    assert properties["third"]["anyOf"][0]["type"] == "integer"


def test_two_types_of_one_name_are_refused() -> None:
    inner = {"$defs": {"A": {"type": "string"}}, "$ref": "#/$defs/A"}
    schema = {"properties": {"a": inner}, "$defs": {"A": {"type": "integer"}}}
    with pytest.raises(TypeError, match="two of its types are called A"):
        complete(schema)
