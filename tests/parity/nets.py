"""Reference fixtures for crate/ownvoice/tests/nets.rs, from PyTorch on the CPU.

    python tests/parity/nets.py          # needs torch, torchvision, timm, numpy, safetensors; writes tests/parity/{lenet,resnet18,mobilenetv1_100}.safetensors

The references are torchvision's `resnet18`, timm's `mobilenetv1_100` and a LeNet of PyTorch's own layers, at full size and in double precision, so that what the
test measures is ownvoice's error alone. Weights and inputs follow from a formula that the test computes too (`filled`), so that none are stored. Of each tensor
of results, `sampled` stores some values and the norm.

A fixture holds
    MODE/logits              the outputs by running statistics (steady) and by those of the batch (train)
    MODE/gradients/NAME      samples of the gradients of the cross-entropy
    ten/losses               the losses of ten updates, by statistics of the batch or, where `by_batch` is false, by running ones: on so few pictures, statistics
                             of the batch make MobileNetV1 so ill-conditioned that PyTorch's own updates in f32 deviate by 0.4 from those in double precision
    ten/after/NAME           samples of the parameters and running statistics afterwards
and, as metadata, what the test needs to run the same updates.
"""

import json
from pathlib import Path

import numpy as np
import timm
import torch
import torchvision
from safetensors.torch import save_file
from torch.nn import functional as F

from lenet import LeNet

HERE = Path(__file__).parent
SAMPLES = 8
CLASSES = 5
torch.set_default_dtype(torch.float64)


def hashed(text):
    """FNV-1a, 32 bits."""
    value = 2166136261
    for byte in text.encode():
        value = (value ^ byte) * 16777619 % 2**32
    return value


def mixed(seed, count):
    """Integers of 32 bits: the finaliser of MurmurHash3 on consecutive numbers."""
    x = (np.arange(count, dtype=np.uint64) * np.uint64(2654435761) + np.uint64(seed)) % np.uint64(2**32)
    for shift, factor in ((16, 2246822507), (13, 3266489909), (16, 1)):
        x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor) % np.uint64(2**32)
    return x


def filled(name, shape, low, high):
    """Values between two bounds, exact in f32."""
    unit = mixed(hashed(name), int(np.prod(shape))).astype(np.float64) / 2**32
    return torch.from_numpy((np.float32(low) + np.float32(high - low) * unit.astype(np.float32)).astype(np.float64)).reshape(shape)


def bounds(name, shape):
    if name.endswith("running_mean"):
        return -0.3, 0.3
    if name.endswith("running_var"):
        return 0.5, 1.5
    if len(shape) == 1:
        return (0.5, 1.5) if name.endswith("weight") else (-0.2, 0.2)
    bound = (6 / np.prod(shape[1:])) ** 0.5
    return -bound, bound


def sampled(name, tensor):
    values = tensor.detach().double().flatten()
    at = torch.from_numpy((mixed(hashed(name), SAMPLES) % np.uint64(values.numel())).astype(np.int64))
    return torch.cat([values[at], values.norm()[None]])


def fixture(name, net, kind, channels, side, batch, rule, settings, by_batch=True):
    state = {key: value for key, value in net.state_dict().items() if value.is_floating_point()}
    for key, value in state.items():
        value.copy_(filled(key, tuple(value.shape), *bounds(key, value.shape)))
    pictures = filled("pictures", (batch, channels, side, side), -1, 1)
    classes = torch.arange(batch) % CLASSES
    tensors = {}

    def gradients(mode):
        net.zero_grad()
        net.train(mode == "train")
        kept = {key: value.clone() for key, value in net.state_dict().items()}
        logits = net(pictures)
        F.cross_entropy(logits, classes).backward()
        net.load_state_dict(kept)
        tensors[f"{mode}/logits"] = logits
        for key, parameter in net.named_parameters():
            tensors[f"{mode}/gradients/{key}"] = sampled(key, parameter.grad)

    gradients("steady")
    gradients("train")
    net.train(by_batch)
    optimizer, losses = rule(net.parameters(), **settings), []
    for _ in range(10):
        optimizer.zero_grad()
        loss = F.cross_entropy(net(pictures), classes)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    tensors["ten/losses"] = torch.tensor(losses)
    for key, value in net.state_dict().items():
        if value.is_floating_point():
            tensors[f"ten/after/{key}"] = sampled(key, value)
    about = {"kind": kind, "classes": CLASSES, "channels": channels, "side": side, "batch": batch, "by_batch": by_batch, "optimizer": rule.__name__.lower(), **settings}
    tensors = {key: value.detach().float().contiguous() for key, value in tensors.items()}
    path = HERE / f"{name}.safetensors"
    save_file(tensors, path, metadata={"about": json.dumps(about)})
    print(path.name, len(tensors), "tensors", path.stat().st_size, "bytes", losses[0], losses[-1])


if __name__ == "__main__":
    torch.manual_seed(1)
    fixture("lenet", LeNet(CLASSES), "lenet", 1, 32, 5, torch.optim.Adam, dict(lr=1e-3, weight_decay=0.01))
    fixture("resnet18", torchvision.models.resnet18(num_classes=CLASSES), "resnet18", 3, 64, 5, torch.optim.SGD, dict(lr=0.01, momentum=0.9, weight_decay=1e-4))
    fixture("mobilenetv1_100", timm.create_model("mobilenetv1_100", num_classes=CLASSES), "mobilenetv1", 3, 64, 5, torch.optim.AdamW, dict(lr=1e-4, weight_decay=0.01), by_batch=False)
