"""What all settings of front ends are checked for."""

from typing import Any

import pytest

from trunkline.errors import ConfigurationError
from trunkline.frontends.agui.options import AguiOptions
from trunkline.frontends.aisdk.options import AisdkOptions
from trunkline.frontends.options import FrontEndOptions
from trunkline.frontends.unified.options import UnifiedOptions

ALL = pytest.mark.parametrize("kind", [AguiOptions, AisdkOptions, UnifiedOptions])


@ALL
def test_every_field_with_few_values_is_checked_by_its_type(kind: type[FrontEndOptions]) -> None:
    for name in kind.__struct_fields__:
        value = getattr(kind(), name)
        if isinstance(value, bool):
            with pytest.raises(ConfigurationError, match=rf"^{name} is 1: give True or False$"):
                kind.of(None, **{name: 1})
        elif isinstance(value, str):
            with pytest.raises(ConfigurationError, match=rf"^{name} is 'nonsense': give one of .*{value}"):
                kind.of(None, **{name: "nonsense"})


@ALL
@pytest.mark.parametrize(
    ("level", "messages", "texts"), [("full", True, True), ("message", True, False), ("code", False, False)]
)
def test_a_level_says_what_is_told_of_errors(
    kind: type[FrontEndOptions], level: Any, messages: bool, texts: bool
) -> None:
    options = kind.of(error_detail_level=level)
    assert (options.shows_error_messages, options.shows_exception_texts) == (messages, texts)


@ALL
def test_an_unknown_name_is_refused_with_the_known_ones(kind: type[FrontEndOptions]) -> None:
    with pytest.raises(ConfigurationError, match=r"no option bussy.* The options are .*error_detail_level"):
        kind.of(bussy="queue")
    base = kind(error_detail_level="code")
    assert kind.of(base) is base
    assert kind.of() == kind()


@pytest.mark.parametrize("kind", [AguiOptions, AisdkOptions])
def test_steps_of_nodes_come_with_those_of_models(kind: type[AguiOptions]) -> None:
    assert kind().step_kinds == kind(emit_steps="none").step_kinds == ("model",)
    assert kind(emit_steps="node").step_kinds == ("model", "node")
