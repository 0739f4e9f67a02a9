import asyncio

from trunkline.transports.memory import MemoryTransport


async def test_bytes_arrive_a_tick_later_in_the_order_they_were_written() -> None:
    heard: list[bytes] = []
    transport = MemoryTransport()
    transport.deliver_to(heard.append)
    transport.write(b"one")
    transport.write(b"two")
    assert heard == []
    await asyncio.sleep(0)
    assert heard == [b"one", b"two"]


async def test_nobody_ever_waits() -> None:
    transport = MemoryTransport()
    transport.write(b"to nobody")
    assert not transport.congested
    await transport.drained()
