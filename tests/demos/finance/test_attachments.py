import pytest

from trunkline.demos.finance.attachments import attached_name


@pytest.mark.parametrize(
    ("uri", "name"),
    [
        ("file:///home/me/bank.csv", "bank.csv"),
        ("file:///home/me/My%20bank.csv", "My bank.csv"),
        ("attachment:bank.csv", "bank.csv"),
        ("attachment:My%20bank.csv", "My bank.csv"),
        ("bank.csv", "bank.csv"),
        ("http://[broken/bank.csv", "bank.csv"),
    ],
)
def test_a_file_has_the_name_that_its_address_ends_with(uri: str, name: str) -> None:
    assert attached_name(uri) == name
