"""Blobs: how they are named, found and checked; what is kept and removed is in test_retention."""

import pytest

from trunkline.errors import Corrupt
from trunkline.journal import blobs


def test_blobs_are_named_by_their_digest_and_found_in_payloads() -> None:
    digest = blobs.digest_of(b"data")
    assert blobs.digests_in(f'{{"a": "{digest}", "b": "sha256:no"}}'.encode()) == {digest}
    assert blobs.verify(digest, b"data") == b"data"
    with pytest.raises(Corrupt, match="damaged"):
        blobs.verify(digest, b"date")
