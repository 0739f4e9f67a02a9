"""Lets the shared assertions say what differs, as those of a test module do."""

import pytest

pytest.register_assert_rewrite("tests.peers.contract")
