"""Tests of how a front end for one's own program is found."""

import pytest

from trunkline.errors import ConfigurationError
from trunkline.session.hosted.frontends import load_front_end


@pytest.mark.parametrize(
    ("name", "option", "ends"), [("acp", "client_capabilities", False), ("agui", "on_disconnect", True)]
)
def test_a_front_end_is_found_by_the_name_it_registered(name: str, option: str, ends: bool) -> None:
    front_end = load_front_end(name)
    assert option in front_end.option_names
    assert front_end().ends_run_on_question is ends


def test_a_front_end_that_is_not_installed_is_named_with_those_that_are() -> None:
    with pytest.raises(ConfigurationError, match=r"no installed package .*'fax'.*acp, agui.*install"):
        load_front_end("fax")
