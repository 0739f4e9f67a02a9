"""Origins as they are written in lists; how requests fare with them is in test_gate."""

import pytest

from trunkline.errors import ConfigurationError
from trunkline.server.security.origins import Origin, Origins


@pytest.mark.parametrize(
    "text", ["*", "null", "", "example.org", "https://example.org/", "https://*.org", "http://"]
)
def test_an_origin_is_exact(text: str) -> None:
    with pytest.raises(ConfigurationError, match="there is no wildcard"):
        Origins([text])


def test_origins_are_compared_by_what_they_mean() -> None:
    origins = Origins(["HTTPS://Example.org", "http://[::1]:5173", "tauri://localhost"])
    for text in ("https://example.org:443", "http://[0:0::1]:5173", "tauri://localhost"):
        origin = Origin.parse(text)
        assert origin is not None
        assert origins.knows(origin)
    other = Origin.parse("http://example.org:443")
    assert other is not None
    assert not origins.knows(other)
