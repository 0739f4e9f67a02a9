from typing import Any

import pytest

from trunkline.errors import ConfigurationError
from trunkline.protocols.aisdk.finish_reasons import finish_reason
from trunkline.protocols.aisdk.wire import CHUNK_KEYS, VERSIONS, version_of


def test_each_version_takes_what_the_one_before_took() -> None:
    assert VERSIONS[5].chunks < VERSIONS[6].chunks < VERSIONS[7].chunks
    assert VERSIONS[7].chunks == CHUNK_KEYS.keys()
    assert VERSIONS[6].knows("tool-output-denied")
    assert not VERSIONS[6].knows("tool-approval-response")
    assert VERSIONS[5].knows("data-anything")


@pytest.mark.parametrize("number", [None, 4, 8, "7", True])
def test_an_unknown_version_is_refused_with_the_known_ones(number: Any) -> None:
    with pytest.raises(ConfigurationError, match="give one of 5, 6, 7"):
        version_of(number)


def test_a_finish_reason_is_one_that_the_version_has() -> None:
    for version in VERSIONS.values():
        for stop_reason in ("end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled", "odd"):
            assert finish_reason(stop_reason, version) in version.finish_reasons
