"""Any file at all gets a plan, a question or a sentence, and never another error."""

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.demos.finance.statements.bank_files import DIALECTS
from tests.demos.finance.statements.imports import new_ledger
from tests.demos.finance.statements.ofx_files import FILES
from tests.demos.finance.statements.test_mt940_reader import FILE

from trunkline.demos.finance.statements.detection import detect_format
from trunkline.demos.finance.statements.importing import ImportPlan, plan_import
from trunkline.demos.finance.statements.reading import ImportQuestion
from trunkline.demos.finance.statements.statement import StatementError

SAMPLES = [*(dialect.data for dialect in DIALECTS), *FILES.values(), FILE]
PIECES = [
    "2026-01-02",
    "01/02/26",
    "-1,00",
    "1.234,50",
    "(5.00)",
    "EUR",
    "Date",
    "Betrag",
    "Saldo",
    '"',
    "'",
    "x",
]
TOKENS = st.lists(st.sampled_from([*PIECES, ",", ";", "\t", "\n", "\r\n", "\0", "<OFX>", "<STMTTRN>", "é"]))


def look(data: bytes) -> None:
    ledger = new_ledger()
    with ledger.reading() as db:
        try:
            found = plan_import(db, "any.file", data)
        except StatementError:
            return
    assert isinstance(found, ImportPlan | ImportQuestion)
    if isinstance(found, ImportQuestion):
        assert found.fields["required"]


@settings(max_examples=150)
@given(st.binary(max_size=200))
def test_any_bytes_are_answered(data: bytes) -> None:
    look(data)


@settings(max_examples=300)
@given(TOKENS)
def test_anything_like_a_statement_is_answered(tokens: list[str]) -> None:
    look("".join(tokens).encode())


@settings(max_examples=150)
@given(st.sampled_from(SAMPLES), st.randoms(), st.integers(1, 6))
def test_a_damaged_statement_is_answered(data: bytes, random: Random, wounds: int) -> None:
    damaged = bytearray(data)
    for _ in range(wounds):
        at = random.randrange(len(damaged))
        if random.random() < 0.5:
            del damaged[at : at + random.randrange(1, 40)]
        else:
            damaged[at:at] = random.choice([b'"', b"\n", b";", b",", b"<", b"\xff", b"9", b"-", b"&#x;"])
        if not damaged:
            break
    look(bytes(damaged))


def test_the_formats_are_told_apart() -> None:
    assert [detect_format(data) for data in SAMPLES] == ["csv"] * len(DIALECTS) + ["ofx", "ofx", "mt940"]
