#!/usr/bin/env bash
# The Wyoming protocol's own Python package (PyPI wyoming 1.10.2): an event whose header line is longer than 64 KiB looks like a closed connection.
#
# An event is a line of JSON whose `data` stand in the line itself, or behind it with their length as `data_length`. The package reads both forms, and writes
# the second. With a text of 60,000 letters both forms arrive. With 70,000 the second form arrives, but of the first form async_read_event returns None, which it
# also returns at the end of a connection: asyncio's stream reader limits a line to 64 KiB, and its ValueError is swallowed. A server that
# leaves its loop at None, as the package's own does, hangs up without an error. So whoever writes a client in another language has to put long texts, such as a
# chapter to be spoken, behind the line, although the line alone is a valid event.
#
# Exits with 0 if the behaviour is as described, otherwise with 1.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check wyoming==1.10.2

cat > finding.py <<'PYTHON'
import asyncio
import json
import sys
from importlib.metadata import version

from wyoming.event import async_read_event

print("wyoming", version("wyoming"))


def inline(text):
    return json.dumps({"type": "synthesize", "data": {"text": text}}).encode() + b"\n"


def behind(text):
    data = json.dumps({"text": text}).encode()
    return json.dumps({"type": "synthesize", "data_length": len(data)}).encode() + b"\n" + data


async def read(sent):
    """Returns the length of the text that arrives at a server, or None where it sees no event."""
    received = asyncio.get_running_loop().create_future()

    async def serve(reader, writer):
        event = await async_read_event(reader)
        received.set_result(event and len(event.data["text"]))
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        _, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        writer.write(sent)
        found = await received
        writer.close()
        return found


holds = True
for name, form in [("in the line", inline), ("behind the line", behind)]:
    for letters in [60_000, 70_000]:
        found = asyncio.run(read(form("a" * letters)))
        expected = None if (form, letters) == (inline, 70_000) else letters
        print(f"{letters} letters {name}: {found}")
        holds &= found == expected
print("Long texts arrive only behind the line." if holds else "The behaviour has changed.")
sys.exit(not holds)
PYTHON
python/bin/python finding.py
