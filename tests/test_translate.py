"""A batch of items goes through a translator at once where that is possible."""

from collections.abc import Sequence

from trunkline.translate import batching


class OneByOne:
    def feed(self, item: str, /) -> list[str]:
        return [f"{item}!"]

    def close(self) -> list[str]:
        return []


class AtOnce(OneByOne):
    def feed_all(self, items: Sequence[str], /) -> list[str]:
        return ["".join(items)]


def test_a_batch_is_fed_item_by_item() -> None:
    assert batching(OneByOne())(["a", "b"]) == ["a!", "b!"]


def test_a_translator_with_a_shorter_way_gets_the_whole_batch() -> None:
    assert batching(AtOnce())(["a", "b"]) == ["ab"]
