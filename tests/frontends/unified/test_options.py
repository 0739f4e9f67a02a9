"""Options are checked when they are made."""

from typing import Any

import pytest

from trunkline.errors import ConfigurationError
from trunkline.frontends.unified.options import UnifiedOptions


@pytest.mark.parametrize(
    "fields",
    [{"error_detail_level": "all"}, {"busy": "never"}, {"max_payload_size": -1}, {"max_payload_size": True}],
)
def test_an_option_that_makes_no_sense_is_refused_by_name(fields: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match=next(iter(fields))):
        UnifiedOptions(**fields)
