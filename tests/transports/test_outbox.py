"""Outboxes: what waits is in order, counted and bounded."""

import asyncio

from tests.hubs import soon, until

from trunkline.transports.outbox import OutboxTransport


def made(**limits: float) -> tuple[OutboxTransport, list[str]]:
    given_up: list[str] = []
    transport = OutboxTransport(
        given_up.append,
        high_water=int(limits.get("high_water", 100)),
        limit=int(limits.get("limit", 1000)),
        patience=limits.get("patience", 60.0),
    )
    return transport, given_up


async def test_messages_are_taken_whole_and_in_order() -> None:
    transport, _ = made()
    transport.write(b"one\ntwo\n")
    transport.write(b"three\n")
    outbox = transport.outbox()
    assert await soon(outbox.take(most=1)) == [b"one"]
    assert await soon(outbox.take()) == [b"two", b"three"]
    assert outbox.empty


async def test_a_reader_waits_for_the_next_message() -> None:
    transport, _ = made()
    taking = asyncio.create_task(transport.outbox().take())
    await asyncio.sleep(0)
    assert not taking.done()
    transport.write(b"here\n")
    assert await soon(taking) == [b"here"]


async def test_what_waits_is_still_read_after_the_end_and_nothing_is_added() -> None:
    transport, given_up = made()
    transport.write(b"last words\n")
    waiting = asyncio.create_task(transport.outbox("another").take())
    await asyncio.sleep(0)
    transport.close()
    transport.close()
    transport.write(b"too late\n")
    assert await soon(transport.outbox().take()) == [b"last words"]
    assert await soon(transport.outbox().take()) == []
    assert await soon(waiting) == []
    assert given_up == []


async def test_producers_wait_above_the_high_water_mark_until_half_of_it_is_read() -> None:
    transport, _ = made(high_water=100)
    transport.write(b"x" * 60 + b"\n")
    assert not transport.congested
    transport.write(b"y" * 60 + b"\n")
    assert transport.congested
    draining = asyncio.create_task(transport.drained())
    assert await soon(transport.outbox().take(most=1)) == [b"x" * 60]
    assert transport.congested, "60 bytes are more than half of 100"
    await soon(transport.outbox().take())
    await soon(draining)
    assert not transport.congested


async def test_all_outboxes_count_together() -> None:
    class Sorted(OutboxTransport):
        def address(self, message: bytes) -> str | None:
            return message[:1].decode()

    transport = Sorted(lambda why: None, high_water=100)
    transport.write(b"a" * 60 + b"\n" + b"b" * 60 + b"\n")
    assert transport.congested
    assert await soon(transport.outbox("a").take()) == [b"a" * 60]
    assert await soon(transport.outbox("b").take()) == [b"b" * 60]
    assert not transport.congested


async def test_one_message_may_be_above_the_limit_but_not_what_follows() -> None:
    transport, given_up = made(limit=1000)
    transport.write(b"x" * 2000 + b"\n")
    assert given_up == []
    transport.write(b"y\nz\n")
    assert given_up == ["the client reads too slowly: 1000 bytes wait to be read"]
    assert transport.closed
    assert not transport.congested, "nobody waits for a reader that was given up"
    assert transport.outbox().empty, "nothing is kept for it"


async def test_a_reader_that_takes_nothing_while_others_wait_for_it_is_given_up() -> None:
    transport, given_up = made(high_water=10, patience=0.02)
    transport.write(b"x" * 20 + b"\n")
    await until(lambda: bool(given_up))
    assert given_up == ["the client reads too slowly: nothing was read for 0.02 seconds"]


async def test_whoever_reads_slowly_but_reads_is_not_given_up() -> None:
    transport, given_up = made(high_water=10, patience=1.0)
    transport.write(b"x" * 20 + b"\n" + (b"y" * 20 + b"\n") * 8)
    for _ in range(6):
        await asyncio.sleep(0.25)  # All in all longer than anybody's patience.
        await soon(transport.outbox().take(most=1))
    assert transport.congested
    assert given_up == []


async def test_an_outbox_is_forgotten_once_nobody_reads_it_and_nothing_waits() -> None:
    transport, _ = made()
    outbox = transport.outbox("s")
    ticket = outbox.attach()
    transport.discard("s")
    assert transport.find("s") is outbox
    assert outbox.detach(ticket)
    outbox.put(b"wait")
    transport.discard("s")
    assert transport.find("s") is outbox
    await outbox.take()
    transport.discard("s")
    transport.discard("s")
    assert transport.find("s") is None


async def test_a_second_reader_takes_the_place_of_the_first() -> None:
    transport, _ = made()
    outbox = transport.outbox("s")
    assert not outbox.read
    first = outbox.attach()
    reading = asyncio.create_task(outbox.take(first))
    await asyncio.sleep(0)
    second = outbox.attach()
    outbox.put(b"for the second")
    assert await soon(reading) == []
    assert await soon(outbox.take(first)) == []
    assert await soon(outbox.take(second)) == [b"for the second"]
    assert not outbox.detach(first)
    assert outbox.read
    assert outbox.detach(second)
    assert not outbox.read
