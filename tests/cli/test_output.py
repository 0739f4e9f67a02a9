import os

from trunkline.cli.output import Output


async def test_a_reader_that_is_gone_is_told_of_once_and_then_forgotten() -> None:
    reader, writer = os.pipe()
    outputs: list[int] = []
    output = Output(writer)
    output.on_reader_gone = lambda: outputs.append(1)
    os.close(reader)
    try:
        await output.write(b"one")
        await output.write(b"two")
        assert outputs == [1]
        silent = Output(writer)
        await silent.write(b"nobody listens for this either")
    finally:
        os.close(writer)
