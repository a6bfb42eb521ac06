"""Reference fixtures for crate/ownvoice/tests/parity.rs, from PyTorch on the CPU.

    python tests/parity/generate.py          # needs torch, numpy, safetensors; writes tests/parity/*.safetensors

The reference is written from the papers (Tacotron 2, arXiv 1712.05884; location-sensitive attention, arXiv 1506.07503; Non-Attentive
Tacotron, arXiv 2010.04301) with PyTorch's own layers, in double precision, so that what the test measures is ownvoice's error alone.
Everything is stored as f32; weights and inputs are rounded to f32 before use. Dropout is zero: random numbers differ between libraries.

A fixture holds
    weights/PATH                         parameters and running statistics, under ownvoice's path and in its layout (see `mapping`)
    inputs/NAME                          inputs, and a probe for each output: the gradients are those of sum(output * probe)
    RUN/values/NAME                      outputs
    RUN/gradients/PATH, RUN/inputs/NAME  gradients of parameters and of inputs
    RUN/after/PATH                       parameters and running statistics after the run
and, as metadata, the configuration (what it leaves out is as in `TacotronConfig::tiny`) and other numbers that the test needs.

Where PyTorch and ownvoice differ on purpose:
* Running variances: burn averages the population variance, PyTorch the sample variance. `ConvNorm` converts.
* An LSTM's two biases are one parameter here. For the optimizer's sake the second is zero and stays so.
* Adam: epsilon is added to the root of the second moment before its bias is corrected (the efficient form at the end of section 2 of
  arXiv 1412.6980), which is PyTorch's AdamW with epsilon / sqrt(1 - beta_2^t) at update t.
"""

import json
import math
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

HERE = Path(__file__).parent
torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)  # The tensors are tiny.

CONFIG = dict(
    symbols=12, speakers=3, speaker_width=6, mels=7, encoder_width=10, encoder_kernel=5, encoder_layers=2, duration_width=8,
    prenet_width=9, prenet_dropout=0.0, decoder_width=11, reduction=2, postnet_width=8, postnet_kernel=5, postnet_layers=3,
    dropout=0.0, attention_width=9, location_filters=4, location_kernel=5,
)
LIPS = dict(side=16, channels=[3, 4], residuals=1, first_kernel=5, last_stride=2)
SYMBOLS, SPEAKERS, V, M = (CONFIG[key] for key in ("symbols", "speakers", "speaker_width", "mels"))
E, D, P, H, R = (CONFIG[key] for key in ("encoder_width", "duration_width", "prenet_width", "decoder_width", "reduction"))
A, FILTERS, TAPS = (CONFIG[key] for key in ("attention_width", "location_filters", "location_kernel"))
POSITION = 4


# Reference modules. Attributes are named as ownvoice's, so that paths agree.


class ConvNorm(nn.Module):
    """[B, T, Cin] -> [B, T, Cout]"""

    def __init__(self, inputs, outputs, taps):
        super().__init__()
        self.conv = nn.Conv1d(inputs, outputs, taps, padding=taps // 2, bias=False)
        self.norm = nn.BatchNorm1d(outputs)

    def forward(self, x):
        before = self.norm.running_var.clone()
        y = self.norm(self.conv(x.transpose(1, 2))).transpose(1, 2)
        if self.training:
            samples = x.shape[0] * x.shape[1]
            kept = (1 - self.norm.momentum) * before
            self.norm.running_var = kept + (self.norm.running_var - kept) * (samples - 1) / samples
        return y


class ConvNorm3d(nn.Module):
    """[B, Cin, N, D, W] -> [B, Cout, N, D / stride, W / stride]"""

    def __init__(self, inputs, outputs, taps, stride=1, residual=False):
        super().__init__()
        self.conv = nn.Conv3d(inputs, outputs, taps, (1, stride, stride), padding=taps // 2, bias=False)
        self.norm = nn.BatchNorm3d(outputs)
        self.residual = residual

    def forward(self, x):
        before = self.norm.running_var.clone()
        convolved = self.conv(x)
        y = self.norm(convolved)
        if self.training:
            samples = convolved.numel() // convolved.shape[1]
            kept = (1 - self.norm.momentum) * before
            self.norm.running_var = kept + (self.norm.running_var - kept) * (samples - 1) / samples
        return F.relu(y + x if self.residual else y)


def run_packed(lstm, x, lengths):
    packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
    return pad_packed_sequence(lstm(packed)[0], batch_first=True, total_length=x.shape[1])[0]


def bidirectional(inputs, width):
    return nn.LSTM(inputs, width, batch_first=True, bidirectional=True)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(SYMBOLS, E)
        self.convolutions = nn.ModuleList([ConvNorm(E, E, CONFIG["encoder_kernel"]) for _ in range(CONFIG["encoder_layers"])])
        self.lstm = bidirectional(E, E // 2)

    def forward(self, symbols, lengths):  # [B, L] -> [B, L, E]
        mask = valid(lengths, symbols.shape[1])[..., None]
        x = self.embedding(symbols) * mask
        for convolution in self.convolutions:
            x = F.relu(convolution(x)) * mask
        return run_packed(self.lstm, x, lengths)


class FaceEncoder(nn.Module):
    """Prajwal et al. 2020 (arXiv 2005.08209), section 4.1."""

    def __init__(self):
        super().__init__()
        layers, inputs, side = [], 3, LIPS["side"]
        for block, channels in enumerate(LIPS["channels"]):
            layers.append(ConvNorm3d(inputs, channels, LIPS["first_kernel"] if block == 0 else 3, 2))
            layers += [ConvNorm3d(channels, channels, 3, residual=True) for _ in range(LIPS["residuals"])]
            inputs, side = channels, (side + 1) // 2
        layers.append(ConvNorm3d(inputs, inputs, 3, LIPS["last_stride"]))
        self.convolutions = nn.ModuleList(layers)
        self.lstm = bidirectional(inputs * math.ceil(side / LIPS["last_stride"]) ** 2, E // 2)

    def forward(self, faces, lengths):  # [B, D, W, N, 3] -> [B, N, E]
        mask = valid(lengths, faces.shape[3])[:, None, :, None, None]
        x = faces.permute(0, 4, 3, 1, 2) * mask
        for convolution in self.convolutions:
            x = convolution(x) * mask
        return run_packed(self.lstm, x.permute(0, 2, 3, 4, 1).flatten(2), lengths)


class LipTacotron(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = FaceEncoder()
        self.decoder = AttentionDecoder()


class DurationPredictor(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = bidirectional(E + V, D)
        self.projection = nn.Linear(2 * D, 1)

    def forward(self, encoded, speaker, lengths):  # -> ln frames [B, L]
        x = torch.cat([encoded, speaker[:, None].expand(-1, encoded.shape[1], -1)], -1)
        return self.projection(run_packed(self.lstm, x, lengths))[..., 0]


class RangePredictor(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = bidirectional(E + 1, D // 2)
        self.projection = nn.Linear(D, 1)

    def forward(self, encoded, durations, lengths):  # -> frames [B, L]
        x = torch.cat([encoded, durations.clamp(min=1.0).log()[..., None]], -1)
        return F.softplus(self.projection(run_packed(self.lstm, x, lengths))[..., 0] + 0.5) + 0.3


def gaussian_upsampling(durations, ranges, times, lengths):
    """Weights [B, T, L]: each symbol's Gaussian density at the frame's centre, over the sum of all symbols' densities."""
    ends = durations.cumsum(1)
    centres = (ends - durations / 2)[:, None]
    density = torch.distributions.Normal(centres, ranges[:, None]).log_prob(times[..., None]).exp()
    density = density * valid(lengths, durations.shape[1])[:, None]
    return density / density.sum(-1, keepdim=True)


class Prenet(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(M, P, bias=False)
        self.second = nn.Linear(P, P, bias=False)

    def forward(self, x):
        return F.relu(self.second(F.relu(self.first(x))))


class Decoder(nn.Module):
    """The duration path's: all R contexts of a step and the speaker into the first LSTM and the projection."""

    def __init__(self):
        super().__init__()
        context = R * (E + POSITION) + V
        self.first = nn.LSTM(context, H, batch_first=True)
        self.second = nn.LSTM(H, H, batch_first=True)
        self.projection = nn.Linear(H + context, R * M)

    def forward(self, context, speaker):  # [B, N R, C], [B, V] -> [B, N R, M]
        batch, steps = context.shape[0], context.shape[1] // R
        context = torch.cat([context[:, r::R] for r in range(R)] + [speaker[:, None].expand(-1, steps, -1)], -1)
        hidden, _ = self.first(context)
        hidden, _ = self.second(hidden)
        return self.projection(torch.cat([hidden, context], -1)).reshape(batch, steps * R, M)


class Postnet(nn.Module):
    def __init__(self):
        super().__init__()
        layers, width = CONFIG["postnet_layers"], CONFIG["postnet_width"]
        widths = [M] + [width] * (layers - 1) + [M]
        self.convolutions = nn.ModuleList([ConvNorm(a, b, CONFIG["postnet_kernel"]) for a, b in zip(widths, widths[1:])])

    def forward(self, x):
        *inner, last = self.convolutions
        for convolution in inner:
            x = torch.tanh(convolution(x))
        return last(x)


class Tacotron(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder()
        self.speakers = nn.Embedding(SPEAKERS, V)
        self.durations = DurationPredictor()
        self.ranges = RangePredictor()
        self.decoder = Decoder()
        self.postnet = Postnet()

    def losses(self, batch):
        lengths = batch["lengths"]
        encoded = self.encoder(batch["symbols"], lengths)
        speaker = self.speakers(batch["speakers"])
        mask = valid(lengths, encoded.shape[1])
        logs = self.durations(encoded, speaker, lengths)
        duration_loss = ((logs - batch["durations"].log()) ** 2)[mask].mean()
        ranges = self.ranges(encoded, batch["durations"], lengths)
        alignment = gaussian_upsampling(batch["durations"], ranges, batch["times"], lengths)
        context = torch.cat([alignment @ encoded, batch["positions"]], -1)
        frames = self.decoder(context, speaker)
        refined = frames + self.postnet(frames)
        real = batch["mask"].bool()
        compare = lambda x: F.l1_loss(x[real], batch["targets"][real]) + F.mse_loss(x[real], batch["targets"][real])
        return dict(before=compare(frames), after=compare(refined), durations=duration_loss)


class LocationAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query = nn.Linear(H, A, bias=False)
        self.memory = nn.Linear(E + V, A, bias=False)
        self.location = nn.Conv1d(2, FILTERS, TAPS, padding=TAPS // 2, bias=False)
        self.location_projection = nn.Linear(FILTERS, A, bias=False)
        self.energy = nn.Linear(A, 1, bias=False)

    def forward(self, query, memory, weights, cumulative, lengths):
        located = self.location_projection(self.location(torch.stack([weights, cumulative], 1)).transpose(1, 2))
        energies = self.energy(torch.tanh(self.query(query)[:, None] + self.memory(memory) + located))[..., 0]
        return energies.masked_fill(~valid(lengths, memory.shape[1]), -math.inf).softmax(-1)


class AttentionDecoder(nn.Module):
    def __init__(self):
        super().__init__()
        context = E + V
        self.prenet = Prenet()
        self.attention_lstm = nn.LSTMCell(P + context, H)
        self.attention = LocationAttention()
        self.decoder_lstm = nn.LSTMCell(H + context, H)
        self.projection = nn.Linear(H + context, R * M)
        self.gate = nn.Linear(H + context, 1)

    def forward(self, encoded, speaker, lengths, previous=None, max_steps=0):
        """With `previous` [B, N, M] teacher-forced, without it on its own frames until the gate opens (batch of one)."""
        batch, symbols, _ = encoded.shape
        memory = torch.cat([encoded, speaker[:, None].expand(-1, symbols, -1)], -1)
        attention_state = decoder_state = None
        weights = cumulative = encoded.new_zeros(batch, symbols)
        context = memory.new_zeros(batch, E + V)
        frame = memory.new_zeros(batch, M)
        frames, gates, alignment = [], [], []
        for step in range(max_steps if previous is None else previous.shape[1]):
            if previous is not None:
                frame = previous[:, step]
            attention_state = self.attention_lstm(torch.cat([self.prenet(frame), context], -1), attention_state)
            weights = self.attention(attention_state[0], memory, weights, cumulative, lengths)
            cumulative = cumulative + weights
            context = torch.einsum("bl,blc->bc", weights, memory)
            decoder_state = self.decoder_lstm(torch.cat([attention_state[0], context], -1), decoder_state)
            said = torch.cat([decoder_state[0], context], -1)
            frames += self.projection(said).split(M, -1)
            frame = frames[-1]
            gates.append(self.gate(said)[:, 0])
            alignment.append(weights)
            if previous is None and torch.sigmoid(gates[-1]).item() > 0.5:
                break
        return torch.stack(frames, 1), torch.stack(gates, 1), torch.stack(alignment, 1)


# From PyTorch's parameters to ownvoice's.


def mapping(module, path=""):
    """Yields (ownvoice's path, PyTorch's tensors that it sums, change of layout)."""
    same = lambda x: x
    transposed = lambda x: x.T
    taps_slowest = lambda x: x.permute(*range(2, x.ndim), 1, 0).reshape(-1, x.shape[0])  # [Cout, Cin, K..] -> [K.. Cin, Cout]

    def cell(path, part):
        yield f"{path}.w_ih", [part("weight_ih")], transposed
        yield f"{path}.w_hh", [part("weight_hh")], transposed
        yield f"{path}.bias", [part("bias_ih"), part("bias_hh")], same

    match module:
        case nn.Embedding():
            yield path, [module.weight], same
        case nn.Linear():
            yield f"{path}.weight", [module.weight], transposed
            if module.bias is not None:
                yield f"{path}.bias", [module.bias], same
        case nn.LSTMCell():
            yield from cell(path, lambda name: getattr(module, name))
        case nn.LSTM(bidirectional=False):
            yield from cell(path, lambda name: getattr(module, f"{name}_l0"))
        case nn.LSTM():
            yield from cell(f"{path}.forward", lambda name: getattr(module, f"{name}_l0"))
            yield from cell(f"{path}.backward", lambda name: getattr(module, f"{name}_l0_reverse"))
        case nn.Conv1d() | nn.Conv3d():
            yield path, [module.weight], taps_slowest
        case nn.BatchNorm1d() | nn.BatchNorm3d():
            yield f"{path}.gamma", [module.weight], same
            yield f"{path}.beta", [module.bias], same
            yield f"{path}.running_mean", [module.running_mean], same
            yield f"{path}.running_var", [module.running_var], same
        case ConvNorm3d():
            yield from mapping(module.conv, f"{path}.convolution.weight")
            yield from mapping(module.norm, f"{path}.convolution.norm")
        case ConvNorm():
            yield from mapping(module.conv, f"{path}.weight")
            yield from mapping(module.norm, f"{path}.norm")
        case _:
            for name, child in module.named_children():
                yield from mapping(child, f"{path}.{name}" if path else name)


def weights(module):
    return {path: layout(sum(tensors)).detach().clone() for path, tensors, layout in mapping(module)}


def gradients(module):
    return {path: layout(tensors[0].grad).clone() for path, tensors, layout in mapping(module) if tensors[0].requires_grad}


# Fixtures.


def valid(lengths, width):
    return torch.arange(width) < torch.tensor(lengths)[:, None]


def rounded(x):
    return x.float().double()


def initialised(make, seed):
    """PyTorch's initialisation, with normalisations that do something, exact in f32."""
    torch.manual_seed(seed)
    module = make()
    for part in module.modules():
        if isinstance(part, (nn.BatchNorm1d, nn.BatchNorm3d)):
            nn.init.uniform_(part.weight, 0.5, 1.5)
            nn.init.uniform_(part.bias, -0.5, 0.5)
            nn.init.uniform_(part.running_mean, -0.3, 0.3)
            nn.init.uniform_(part.running_var, 0.3, 1.5)
    for name, tensor in list(module.named_parameters()) + list(module.named_buffers()):
        if tensor.is_floating_point():
            tensor.data = rounded(tensor.data)
        if "bias_hh" in name:
            nn.init.zeros_(tensor)
            tensor.requires_grad_(False)
    return module


def noise(*shape, scale=1.0):
    return rounded(torch.randn(*shape) * scale)


def prefixed(prefix, tensors):
    return {f"{prefix}/{name}": tensor for name, tensor in tensors.items()}


def probed(module, inputs, outputs, probes):
    """Values of a run and the gradients of the probes' sum, for all parameters and for the inputs that ask for one."""
    module.zero_grad()
    for tensor in inputs.values():
        tensor.grad = None
    sum((outputs[name] * probes[name]).sum() for name in probes).backward()
    return {
        **prefixed("values", {name: value.detach() for name, value in outputs.items()}),
        **prefixed("gradients", gradients(module)),
        **prefixed("inputs", {name: tensor.grad for name, tensor in inputs.items() if tensor.requires_grad}),
    }


def save(name, tensors, **metadata):
    tensors = {key: tensor.detach().float().contiguous().clone() for key, tensor in tensors.items()}
    path = HERE / f"{name}.safetensors"
    # One entry: the order of several is not kept, and the same run shall give the same bytes.
    save_file(tensors, path, metadata={"about": json.dumps({"config": CONFIG, **metadata})})
    print(f"{path.name}: {len(tensors)} tensors, {path.stat().st_size} bytes")


def both_modes(module, inputs, run, probes):
    tensors = {}
    for mode in ("steady", "train"):  # Training last: it moves the running statistics.
        module.train(mode == "train")
        tensors |= prefixed(mode, probed(module, inputs, run(), probes))
    statistics = {path: tensor for path, tensor in weights(module).items() if "running" in path}
    return tensors | prefixed("train/after", statistics)


def encoder():
    module = initialised(Encoder, 1)
    lengths = [6, 3, 5]
    symbols = torch.randint(0, SYMBOLS, (3, 6))
    mask = valid(lengths, 6)[..., None]
    probes = {"encoded": noise(3, 6, E)}
    tensors = prefixed("weights", weights(module)) | {"inputs/symbols": symbols, "inputs/probe": probes["encoded"]}
    tensors |= both_modes(module, {}, lambda: {"encoded": module(symbols, lengths) * mask}, probes)
    save("encoder", tensors, lengths=lengths)


def postnet():
    module = initialised(Postnet, 2)
    frames = noise(2, 9, M).requires_grad_()
    probes = {"residual": noise(2, 9, M)}
    tensors = prefixed("weights", weights(module)) | {"inputs/frames": frames, "inputs/probe": probes["residual"]}
    save("postnet", tensors | both_modes(module, {"frames": frames}, lambda: {"residual": module(frames)}, probes))


def durations():
    """The parts of the duration path, from encodings to frames."""
    module = initialised(Tacotron, 3)
    del module.encoder, module.speakers, module.postnet
    lengths, frames = [5, 3], 8
    spoken = valid(lengths, 5)
    exact = torch.tensor([[2.3, 1.2, 3.1, 0.4, 2.7], [3.6, 1.5, 2.2, 1.0, 1.0]])
    inputs = {
        "encoded": noise(2, 5, E),
        "speaker": noise(2, V),
        "durations": rounded(exact),
        "times": torch.arange(frames) + torch.tensor([[0.5], [1.5]]),
        "positions": noise(2, frames, POSITION),
    }
    for tensor in inputs.values():
        tensor.requires_grad_()
    logs = module.durations(inputs["encoded"], inputs["speaker"], lengths) * spoken
    ranges = module.ranges(inputs["encoded"], inputs["durations"], lengths)
    alignment = gaussian_upsampling(inputs["durations"], ranges, inputs["times"], lengths)
    context = torch.cat([alignment @ inputs["encoded"], inputs["positions"]], -1)
    outputs = {
        "log_durations": logs,
        "ranges": ranges * spoken,
        "alignment": alignment,
        "context": context,
        "frames": module.decoder(context, inputs["speaker"]),
    }
    probes = {name: noise(*outputs[name].shape) for name in ("log_durations", "alignment", "frames")}
    tensors = prefixed("weights", weights(module)) | prefixed("inputs", inputs) | prefixed("inputs/probe", probes)
    save("durations", tensors | prefixed("forced", probed(module, inputs, outputs, probes)), lengths=lengths)


def attention():
    module = initialised(AttentionDecoder, 4)
    lengths, steps = [5, 3], 6
    inputs = {"encoded": noise(2, 5, E), "speaker": noise(2, V), "previous": noise(2, steps, M)}
    # Energies far enough apart that the attention is no plain average.
    for part in (module.attention.energy, module.attention.location, module.attention.location_projection):
        part.weight.data *= 4
    alone = [inputs["encoded"][:1], inputs["speaker"][:1], lengths[:1]]
    with torch.no_grad():
        # A gate that opens on a step in the middle: the first that tops all before it, once the bias is between them.
        module.gate.bias -= 100
        for sign in (1, -1):
            module.gate.weight *= sign
            logits = module(*alone, max_steps=9)[1][0]
            tops = [step for step in range(3, 9) if logits[step] > logits[:step].max() + 1e-3]
            if tops:
                break
        opens = tops[0]
        module.gate.bias -= (logits[opens] + logits[:opens].max()) / 2
        module.gate.bias.data = rounded(module.gate.bias.data)
        free_frames, free_gates, free_alignment = module(*alone, max_steps=20)
    assert free_gates.shape[1] == opens + 1, (opens, free_gates)
    for tensor in inputs.values():
        tensor.requires_grad_()
    frames, gate, alignment = module(inputs["encoded"], inputs["speaker"], lengths, inputs["previous"])
    outputs = {"frames": frames, "gate": gate, "alignment": alignment}
    probes = {name: noise(*value.shape) for name, value in outputs.items()}
    tensors = prefixed("weights", weights(module)) | prefixed("inputs", inputs) | prefixed("inputs/probe", probes)
    tensors |= prefixed("forced", probed(module, inputs, outputs, probes))
    tensors |= {"free/values/frames": free_frames, "free/values/alignment": free_alignment}
    save("attention", tensors, lengths=lengths)


def lips():
    """From faces to frames: the encoder of pictures, and the attention path's decoder on what it makes of them."""
    module = initialised(LipTacotron, 6)
    lengths, steps = [5, 3], 4
    for part in (module.decoder.attention.energy, module.decoder.attention.location, module.decoder.attention.location_projection):
        part.weight.data *= 4
    side = LIPS["side"]
    inputs = {"faces": noise(2, side, side, 5, 3, scale=0.5), "speaker": noise(2, V), "previous": noise(2, steps, M)}
    for tensor in inputs.values():
        tensor.requires_grad_()

    def run():
        encoded = module.encoder(inputs["faces"], lengths)
        frames, gate, alignment = module.decoder(encoded, inputs["speaker"], lengths, inputs["previous"])
        return {"encoded": encoded, "frames": frames, "gate": gate, "alignment": alignment}

    with torch.no_grad():
        module.eval()
        probes = {name: noise(*value.shape) for name, value in run().items()}
    tensors = prefixed("weights", weights(module)) | prefixed("inputs", inputs) | prefixed("inputs/probe", probes)
    tensors |= both_modes(module, inputs, run, probes)
    save("lips", tensors, lengths=lengths, lips=LIPS)


def frame_positions(durations, first, frames):
    """Fraction passed and left, frames passed and left over ten, of the symbol that each frame's centre lies in; zero past the end."""
    rows = torch.zeros(frames, POSITION)
    for row, centre in zip(rows, torch.arange(first, first + frames) + 0.5):
        ends = torch.tensor(durations).cumsum(0)
        if centre < ends[-1]:
            symbol = int((ends > centre).nonzero()[0, 0])
            passed, left = centre - (ends[symbol] - durations[symbol]), ends[symbol] - centre
            row[:] = torch.stack([passed / durations[symbol], left / durations[symbol], passed / 10, left / 10])
    return rows


def tacotron():
    """The whole model along the duration path: losses, all gradients, ten updates."""
    module = initialised(Tacotron, 5).train()
    lengths, window, firsts = [6, 4, 5], 8, [3, 0, 0]
    frames_of = [[2, 3, 1, 4, 2, 3], [2, 1, 1, 2], [1, 4, 2, 3, 1]]  # The second ends before its window does.
    batch = dict(
        symbols=torch.randint(0, SYMBOLS, (3, 6)),
        lengths=lengths,
        speakers=torch.tensor([2, 0, 1]),
        durations=torch.tensor([row + [1] * (6 - len(row)) for row in frames_of]).double(),
        times=torch.tensor(firsts)[:, None] + torch.arange(window) + 0.5,
        positions=torch.stack([frame_positions(row, first, window) for row, first in zip(frames_of, firsts)]),
        targets=noise(3, window, M),
        mask=torch.tensor([[first + frame < sum(row) for frame in range(window)] for row, first in zip(frames_of, firsts)]).double(),
    )
    adam = dict(beta_1=0.9, beta_2=0.98, epsilon=1e-6, weight_decay=0.1, clip_norm=0.5, rate=1e-2)
    tensors = prefixed("weights", weights(module))
    tensors |= prefixed("inputs", {name: value for name, value in batch.items() if name != "lengths"})
    trained = [parameter for parameter in module.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=adam["rate"], betas=(adam["beta_1"], adam["beta_2"]), weight_decay=adam["weight_decay"])
    totals, norms = [], []
    for update in range(1, 11):
        losses = module.losses(batch)
        optimizer.zero_grad()
        sum(losses.values()).backward()
        if update == 1:
            tensors |= prefixed("first/values", {name: loss.detach()[None] for name, loss in losses.items()})
            tensors |= prefixed("first/gradients", gradients(module))
        totals.append(sum(losses.values()).item())
        norms.append(nn.utils.clip_grad_norm_(trained, adam["clip_norm"]).item())
        for group in optimizer.param_groups:
            group["eps"] = adam["epsilon"] / math.sqrt(1 - adam["beta_2"] ** update)
        optimizer.step()
    assert min(norms) > adam["clip_norm"], f"clipping did nothing: {norms}"
    tensors |= {"ten/values/totals": torch.tensor(totals)} | prefixed("ten/after", weights(module))
    save("tacotron", tensors, lengths=lengths, frames=frames_of, firsts=firsts, adam=adam)


if __name__ == "__main__":
    for make in (encoder, durations, attention, postnet, tacotron, lips):
        make()
