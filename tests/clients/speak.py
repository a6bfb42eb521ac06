"""Speaks through a running `ownvoice serve` with the packages `openai` and `wyoming`, unchanged, and fails where their answers are not the expected sound.

    python tests/clients/speak.py HTTP_URL WYOMING_URL TEXT PCM_FILE

The file has the sound of the text: 16-bit samples of 24 kHz. `tests/js/server.test.mjs` starts the server and runs this.
"""

import asyncio
import base64
import io
import json
import pathlib
import sys
import wave

import openai
from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.client import AsyncClient
from wyoming.error import Error
from wyoming.info import Describe, Info
from wyoming.ping import Ping, Pong
from wyoming.tts import Synthesize, SynthesizeChunk, SynthesizeStart, SynthesizeStop, SynthesizeStopped, SynthesizeVoice

RATE_HZ = 24_000


def with_openai(url, text, pcm):
    client = openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0)
    asked = {"model": "tts-1", "voice": "base", "input": text}
    assert client.audio.speech.create(**asked, response_format="pcm").content == pcm
    with client.audio.speech.with_streaming_response.create(**asked, response_format="wav") as answer:
        whole = b"".join(answer.iter_bytes())
    with wave.open(io.BytesIO(whole)) as sound:
        assert (sound.getframerate(), sound.getnchannels(), sound.getsampwidth()) == (RATE_HZ, 1, 2)
        assert sound.readframes(len(pcm)) == pcm
    with client.audio.speech.with_streaming_response.create(**asked, response_format="pcm", stream_format="sse") as answer:
        events = [json.loads(line.removeprefix("data: ")) for line in answer.iter_lines() if line]
    assert events.pop()["type"] == "speech.audio.done"
    assert b"".join(base64.b64decode(event["audio"]) for event in events) == pcm

    assert [model.id for model in client.models.list()] == ["ownvoice"]
    assert client.models.retrieve("ownvoice").owned_by == "ownvoice"
    for change, status, code, param in [
        ({"voice": "alloy"}, 400, "option-invalid", "voice"),
        ({"response_format": "midi"}, 400, "option-invalid", "response_format"),
        ({"input": " "}, 400, "text-empty", "input"),
        ({"input": "a" * 1_000_000}, 413, "body-too-large", None),
    ]:
        try:
            client.audio.speech.create(**{**asked, "response_format": "pcm", **change})
        except openai.APIStatusError as error:
            assert (error.status_code, error.code, error.param) == (status, code, param), error
        else:
            raise AssertionError(change)


async def sound_of(client, last):
    """Reads the events of a sound up to its last, and returns the samples."""
    event = await client.read_event()
    assert AudioStart.is_type(event.type) and AudioStart.from_event(event).rate == RATE_HZ, event
    samples, stopped = b"", False
    while not last(event.type):
        event = await client.read_event()
        stopped = stopped or AudioStop.is_type(event.type)
        if AudioChunk.is_type(event.type):
            assert not stopped
            samples += AudioChunk.from_event(event).audio
    assert stopped
    return samples


async def with_wyoming(url, text, pcm):
    async with AsyncClient.from_uri(url) as client:
        await client.write_event(Describe().event())
        [program] = Info.from_event(await client.read_event()).tts
        assert program.supports_synthesize_streaming and [voice.name for voice in program.voices] == ["base"]
        await client.write_event(Ping("a").event())
        assert Pong.from_event(await client.read_event()).text == "a"

        voice = SynthesizeVoice(name="base")
        await client.write_event(Synthesize(text, voice=voice).event())
        assert await sound_of(client, AudioStop.is_type) == pcm
        await client.write_event(Synthesize(text, voice=SynthesizeVoice(name="alloy")).event())
        assert Error.from_event(await client.read_event()).code == "option-invalid"

        # As Home Assistant sends a text that a language model writes.
        await client.write_event(SynthesizeStart(voice=voice).event())
        for word in text.split(" "):
            await client.write_event(SynthesizeChunk(f"{word} ").event())
        await client.write_event(Synthesize(text, voice=voice).event())
        await client.write_event(SynthesizeStop().event())
        assert await sound_of(client, SynthesizeStopped.is_type) == pcm


if __name__ == "__main__":
    http, wyoming, text, file = sys.argv[1:]
    pcm = pathlib.Path(file).read_bytes()
    with_openai(http, text, pcm)
    asyncio.run(with_wyoming(wyoming, text, pcm))
