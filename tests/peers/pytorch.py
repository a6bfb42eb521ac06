"""Seconds of one fine-tuning iteration in PyTorch on the CPU: the peer of `train.native.cpu.s_per_iter`.

    python tests/peers/pytorch.py          # needs torch; `cargo xtask bench` runs it

The same work as ownvoice's iteration at the shipped base's sizes: decoder and postnet forward and backward on a batch of windows, batch norm by
running statistics, L1 + L2 before and after the postnet, clipping by the norm of all gradients, AdamW. Random weights and frames: they change no
time. As many threads as there are cores, as ownvoice has.
"""

import json
import os
import time
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F

MODEL = json.loads((Path(__file__).parents[2] / "models/base/manifest.json").read_text())["model"]
BATCH, WINDOW = 8, 128
WARM_UP, ITERATIONS = 5, 20
POSITION_WIDTH = 4
M, R, H = MODEL["mels"], MODEL["reduction"], MODEL["decoder_width"]
C = R * (MODEL["encoder_width"] + POSITION_WIDTH) + MODEL["speaker_width"]


class Decoder(nn.Module):
    """[B, N, C] -> [B, N R, M]"""

    def __init__(self):
        super().__init__()
        self.first = nn.LSTM(C, H, batch_first=True)
        self.second = nn.LSTM(H, H, batch_first=True)
        self.projection = nn.Linear(H + C, R * M)

    def forward(self, context):
        hidden, _ = self.second(self.first(context)[0])
        return self.projection(torch.cat([hidden, context], 2)).reshape(context.shape[0], -1, M)


class Postnet(nn.Module):
    """[B, T, M] -> [B, T, M]"""

    def __init__(self):
        super().__init__()
        layers, taps = MODEL["postnet_layers"], MODEL["postnet_kernel"]
        widths = [M] + [MODEL["postnet_width"]] * (layers - 1) + [M]
        self.convolutions = nn.ModuleList(
            nn.Conv1d(inputs, outputs, taps, padding=taps // 2, bias=False) for inputs, outputs in zip(widths, widths[1:])
        )
        self.norms = nn.ModuleList(nn.BatchNorm1d(width) for width in widths[1:])

    def forward(self, frames):
        hidden = frames.transpose(1, 2)
        for layer, (convolution, norm) in enumerate(zip(self.convolutions, self.norms)):
            hidden = norm(convolution(hidden))
            if layer + 1 < len(self.convolutions):
                hidden = torch.tanh(hidden)
        return hidden.transpose(1, 2)


def main():
    torch.manual_seed(1)
    torch.set_num_threads(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count())
    decoder, postnet = Decoder(), Postnet().eval()
    parameters = [*decoder.parameters(), *postnet.parameters()]
    adam = torch.optim.AdamW(parameters, lr=5e-4, fused=True)
    context, targets = torch.randn(BATCH, WINDOW // R, C), torch.randn(BATCH, WINDOW, M)

    def iteration():
        frames = decoder(context)
        after = frames + postnet(frames)
        loss = sum(F.l1_loss(made, targets) + F.mse_loss(made, targets) for made in (frames, after))
        adam.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, 1.0)
        adam.step()

    for _ in range(WARM_UP):
        iteration()
    begun = time.perf_counter()
    for _ in range(ITERATIONS):
        iteration()
    seconds = (time.perf_counter() - begun) / ITERATIONS
    row = {"name": "train.native.pytorch.s_per_iter", "value": seconds, "unit": "s", "version": torch.__version__, "threads": torch.get_num_threads()}
    print(json.dumps([row]))


if __name__ == "__main__":
    main()
