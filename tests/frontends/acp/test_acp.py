import subprocess
import sys

import pytest

from trunkline.frontends import acp
from trunkline.protocols.acp import lossless, wire

OWN = {"Unknown", "decode", "encode", "serve_acp", "stdio_transport"}


def test_the_core_types_have_their_protocol_names() -> None:
    for name in set(acp.__all__) - OWN:
        assert getattr(acp, name) is getattr(wire, name)
    assert acp.decode is lossless.decode


def test_a_name_that_is_not_public_is_refused() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Nonsense'"):
        _ = acp.Nonsense


def test_importing_the_package_imports_no_types_yet() -> None:
    code = "import sys, trunkline.frontends.acp; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=30)
    assert "trunkline.frontends.acp" in run.stdout.split()
    assert "trunkline.protocols.acp.wire" not in run.stdout.split()
