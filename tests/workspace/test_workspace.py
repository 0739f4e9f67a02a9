"""The package's public names."""

from trunkline import workspace


def test_every_public_name_is_there_once_and_in_order() -> None:
    assert sorted(set(workspace.__all__)) == workspace.__all__
    assert all(hasattr(workspace, name) for name in workspace.__all__)
