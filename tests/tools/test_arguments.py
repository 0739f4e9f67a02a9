"""Arguments: one schema for a function, and what is sent is checked against it."""

import dataclasses
import datetime
import enum
import functools
from collections.abc import Callable
from decimal import Decimal
from typing import Annotated, Any, Literal, Optional, TypedDict

import fastjsonschema
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trunkline.errors import ConfigurationError
from trunkline.tools.arguments import FunctionArguments, SchemaArguments, result_schema, takes
from trunkline.tools.errors import InvalidArguments
from trunkline.tools.tool_context import ToolContext


class Colour(enum.Enum):
    """Colours."""

    RED = "red"
    BLUE = "blue"


@dataclasses.dataclass
class Period:
    """Some days."""

    start: datetime.date
    end: datetime.date | None = None


class Account(msgspec.Struct):
    """An account."""

    name: str
    limit: Annotated[int, msgspec.Meta(ge=0)] = 0


class Extra(TypedDict, total=False):
    """More."""

    note: str


def everything(
    text: str,
    colour: Colour,
    period: Period,
    account: Account,
    mode: Literal["fast", "slow"] = "fast",
    extra: Optional[Extra] = None,  # noqa: UP045 - the old spelling is what is tested
    tags: list[str] = ["x"],  # noqa: B006 - each call gets a copy
    price: Decimal = Decimal("1.5"),
    share: Annotated[float, msgspec.Meta(ge=0, le=1, description="a part")] = 0.5,
    count: Annotated[int, "how many"] = 3,
) -> Account:
    """Take everything.

    :param text: some text
    :param count: not this one
    """
    return account


ARGUMENTS = FunctionArguments("everything", everything)


def test_a_schema_has_types_defaults_descriptions_and_nothing_else_is_allowed() -> None:
    schema = ARGUMENTS.schema
    properties = schema["properties"]
    fastjsonschema.compile(schema)(SENT)
    assert schema["additionalProperties"] is False
    assert schema["required"] == ["text", "colour", "period", "account"]
    assert properties["text"] == {"type": "string", "description": "some text"}
    assert properties["count"] == {"type": "integer", "description": "how many", "default": 3}
    assert properties["share"]["description"] == "a part"
    assert properties["mode"] == {"type": "string", "enum": ["fast", "slow"], "default": "fast"}
    assert properties["colour"] == {"$ref": "#/$defs/Colour"}
    assert set(schema["$defs"]) == {"Colour", "Period", "Account", "Extra"}


def test_what_is_sent_becomes_the_types_of_the_function() -> None:
    read = ARGUMENTS.read(
        {
            "text": "a",
            "colour": "red",
            "period": {"start": "2026-01-02"},
            "account": {"name": "n"},
            "price": "2.50",
        }
    )
    assert read["colour"] is Colour.RED
    assert read["period"] == Period(datetime.date(2026, 1, 2))
    assert read["account"] == Account("n")
    assert read["price"] == Decimal("2.50")
    assert (read["tags"], read["count"], read["extra"]) == (["x"], 3, None)
    read["tags"].append("y")
    assert ARGUMENTS.read({**SENT})["tags"] == ["x"]


SENT: dict[str, Any] = {
    "text": "a",
    "colour": "red",
    "period": {"start": "2026-01-02"},
    "account": {"name": "n"},
}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"text": 1}, "the argument 'text': expected `str`, got `int`"),
        ({"count": "3"}, "the argument 'count': expected `int`, got `str`"),
        ({"share": 2}, "the argument 'share': expected `float` <= 1"),
        ({"mode": "medium"}, "the argument 'mode': invalid enum value 'medium'"),
        ({"period": {"start": "soon"}}, "the argument 'period.start'"),
        ({"account": {}}, "the argument 'account': object missing required field `name`"),
        ({"tags": ["a", 1]}, "the argument 'tags[1]': expected `str`, got `int`"),
        ({"other": 1}, "it has no argument 'other'"),
    ],
)
def test_what_does_not_fit_is_refused_by_the_name_of_its_argument(change: Any, said: str) -> None:
    with pytest.raises(InvalidArguments) as raised:
        ARGUMENTS.read({**SENT, **change})
    assert str(raised.value).startswith("everything did not run: ")
    assert said in str(raised.value)


def test_missing_arguments_and_what_is_no_object_are_refused() -> None:
    with pytest.raises(InvalidArguments, match="the argument 'text' is missing"):
        ARGUMENTS.read(None)
    with pytest.raises(InvalidArguments, match="its arguments: expected `object`, got `array`"):
        ARGUMENTS.read([1])
    with pytest.raises(InvalidArguments, match="its arguments are not JSON"):
        ARGUMENTS.read('{"text": ')


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.floats(0, 2)
    | st.sampled_from(["red", "2026-01-02", "fast"]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["name", "start", "x"]), inner)
    ),
    max_leaves=4,
)


def plain(
    text: str,
    number: int,
    share: float = 0.5,
    flags: list[bool] = [],  # noqa: B006 - each call gets a copy
    names: dict[str, int] = {},  # noqa: B006
) -> None:
    """Take plain values."""


PLAIN = FunctionArguments("plain", plain)
CHECK_PLAIN = fastjsonschema.compile(PLAIN.schema, use_default=False)


def fits_schema(sent: Any) -> bool:
    """Whether the schema allows this."""
    try:
        CHECK_PLAIN(sent)
    except fastjsonschema.JsonSchemaValueException:
        return False
    return True


@given(
    st.fixed_dictionaries(
        {}, optional=dict.fromkeys(["text", "number", "share", "flags", "names", "z"], JSON)
    )
)
def test_what_is_accepted_is_what_the_schema_allows(sent: dict[str, Any]) -> None:
    fits = fits_schema(sent)
    try:
        read = PLAIN.read(sent)
    except InvalidArguments:
        # JSON has one type of numbers: 1.0 is an integer to a schema.
        assert (
            not fits
            or isinstance(sent["number"], float)
            or any(isinstance(one, float) for one in sent.get("names", {}).values())
        )
    else:
        assert fits
        assert fits_schema(msgspec.to_builtins(read))
        assert PLAIN.read(msgspec.json.encode(sent)) == read


def test_the_context_is_no_argument() -> None:
    def search(query: str, ctx: ToolContext, other: ToolContext | None = None) -> None:
        """Search."""

    made = FunctionArguments("search", search, ToolContext)
    assert list(made.schema["properties"]) == ["query"]
    assert list(made.given) == ["ctx", "other"]
    assert takes(search, ToolContext) == "ctx"
    assert takes(everything, ToolContext) is None


def _positional(x: int, /) -> None: ...
def _many(*words: str) -> None: ...
def _open(**words: str) -> None: ...
def _odd(x: Callable[[], int]) -> None: ...
def _unknown(x: Any) -> None: ...


_unknown.__annotations__["x"] = "Nowhere"


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (_positional, "no name that a model could use"),
        (_many, "no name that a model could use"),
        (_open, "no name that a model could use"),
        (_odd, "its arguments cannot be described"),
        (_unknown, "its annotations name Nowhere"),
    ],
)
def test_a_function_that_no_schema_describes_is_refused_with_the_reason(function: Any, why: str) -> None:
    with pytest.raises(ConfigurationError, match=why):
        FunctionArguments("f", function)


def test_a_partial_and_a_callable_object_have_arguments() -> None:
    class Adder:
        """Adds."""

        def __call__(self, a: int) -> int:
            """Add."""
            return a

    assert FunctionArguments("f", Adder()).schema["required"] == ["a"]
    made = FunctionArguments("f", functools.partial(everything, "text"))
    assert "text" not in made.schema["properties"]


def test_a_schema_of_ones_own_is_checked_at_its_outermost_level() -> None:
    made = SchemaArguments(
        "own",
        {"properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": False},
    )
    assert made.read({"a": 1}) == {"a": 1}
    for sent, said in {
        "{}": "the argument 'a' is missing",
        '{"a": "x"}': "of type integer",
        '{"a":1,"b":2}': "'b'",
    }.items():
        with pytest.raises(InvalidArguments, match=said):
            made.read(sent)
    assert SchemaArguments("any").read({"x": [1]}) == {"x": [1]}
    with pytest.raises(ConfigurationError, match="its input schema is not that of an object"):
        SchemaArguments("own", {"type": "array"})


def test_the_schema_of_a_result_is_known_where_it_is_an_object_with_fields() -> None:
    assert (result_schema(everything) or {})["properties"].keys() == {"name", "limit"}
    assert result_schema(plain) is None
    for returns in (int, dict[str, int], Account | None, Callable[[], int]):

        def give() -> Any: ...

        give.__annotations__["return"] = returns
        assert result_schema(give) is None
