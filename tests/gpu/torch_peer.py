#!/usr/bin/python3
"""Measures the published network in PyTorch on the same card, for comparison with bench_gpu, in chunks per second:
  forward   with one-hot input on the card, and values copied to the host
  training  with input and targets on the card, and fused Adam
  compiled, compiled-training  the same through torch.compile

usage: torch_peer.py [--only WHAT[,WHAT...]] [--precision NAME[,NAME...]] [--cpu] [SECONDS [BATCH...]]

Measures all in bf16 and fp16 (autocast), tf32 and fp32, each for SECONDS (5) with batches of 8, 64 and 256. Prints
"1..0 # SKIP" and exits with status 0 without PyTorch or a GPU that it can use. LSTMs are cuDNN's, also through
torch.compile. --cpu: on the CPU, with short chunks, to see that everything works.
SPDX-License-Identifier: MIT"""

import argparse
import time

LENGTH = 21384
DEVICE = "cuda"
WHATS = ("forward", "training", "compiled", "compiled-training")
PRECISIONS = ("bf16", "fp16", "tf32", "fp32")


def make_network(torch):
    nn = torch.nn

    class Network(nn.Module):
        def __init__(self):
            super().__init__()
            channels = [4, 64, 128, 256]
            self.down = nn.ModuleList(nn.Conv1d(a, b, 9, stride=2, padding=4)
                                      for a, b in zip(channels, channels[1:]))
            self.down_norm = nn.ModuleList(nn.BatchNorm1d(c) for c in channels[1:])
            self.lstm = nn.LSTM(256, 128, num_layers=2, batch_first=True, bidirectional=True)
            channels = [256, 128, 64, 4]
            self.up = nn.ModuleList(nn.ConvTranspose1d(a, b, 9, stride=2, padding=4, output_padding=1)
                                    for a, b in zip(channels, channels[1:]))
            self.up_norm = nn.ModuleList(nn.BatchNorm1d(c) for c in channels[1:])
            self.out = nn.Linear(4, 2)

        def forward(self, x):
            x = x.transpose(1, 2)
            for conv, norm in zip(self.down, self.down_norm):
                x = norm(torch.relu(conv(x)))
            x = self.lstm(x.transpose(1, 2))[0].transpose(1, 2)
            for conv, norm in zip(self.up, self.up_norm):
                x = norm(torch.relu(conv(x)))
            return torch.exp(self.out(x.transpose(1, 2)).float())

    return Network().to(DEVICE).eval()


def rates_of(n, seconds, once):
    """Returns the sorted rates of calls that each process n chunks, over `seconds` after three warm-up calls. once()
    returns when the GPU is done."""
    for _ in range(3):
        once()
    rates = []
    start = time.monotonic()
    while len(rates) < 3 or time.monotonic() - start < seconds:
        beg = time.monotonic()
        once()
        rates.append(n / (time.monotonic() - beg))
    return sorted(rates)


def autocast(torch, precision):
    """Selects the precision of the operations in a `with` block."""
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = precision == "tf32"
    return torch.autocast(DEVICE, torch.float16 if precision == "fp16" else torch.bfloat16,
                          enabled=precision in ("bf16", "fp16"))


def measure_forward(torch, network, precision, x, seconds):
    host = torch.empty((x.shape[0], LENGTH, 2), pin_memory=DEVICE == "cuda")

    def once():
        with torch.inference_mode(), autocast(torch, precision):
            host.copy_(network(x))
        if DEVICE == "cuda":
            torch.cuda.synchronize()

    return rates_of(x.shape[0], seconds, once)


def measure_training(torch, network, precision, x, seconds):
    network.train()
    adam = torch.optim.Adam(network.parameters(), fused=True)
    scaler = torch.amp.GradScaler(DEVICE, enabled=precision == "fp16")
    target = torch.randint(5, (x.shape[0], LENGTH, 2), device=DEVICE).float()
    loss_of = torch.nn.PoissonNLLLoss(log_input=False)

    def step():
        with autocast(torch, precision):
            loss = loss_of(network(x), target)
        adam.zero_grad(set_to_none=True)
        scaler.scale(loss).backward()
        scaler.step(adam)
        scaler.update()
        return float(loss.detach())

    try:
        return rates_of(x.shape[0], seconds, step)
    finally:
        network.eval()


def measure(torch, network, what, precision, batch, seconds):
    """Prints the rate, or why there is none: out of memory, or unsupported by the compiler."""
    compiled, training = what.startswith("compiled"), what.endswith("training")
    name = f"PyTorch {'training' if training else 'forward'} {precision} batch {batch}"
    name += ", compiled" if compiled else ", eager"
    try:
        x = torch.eye(4, device=DEVICE)[torch.randint(4, (batch, LENGTH), device=DEVICE)]
        if compiled:
            torch.compiler.reset()
            network = torch.compile(network, dynamic=False)
        rates = (measure_training if training else measure_forward)(torch, network, precision, x, seconds)
        print(f"{name}: {rates[len(rates) // 2]:.1f} chunks/s ({rates[0]:.1f} to {rates[-1]:.1f}, {len(rates)} calls)",
              flush=True)
    except Exception as e:
        print(f"{name}: {(str(e).splitlines() or [type(e).__name__])[0]}", flush=True)
    torch.cuda.empty_cache()


def main():
    def names(allowed):
        def parse(text):
            unknown = [name for name in text.split(",") if name not in allowed]
            if unknown:
                raise argparse.ArgumentTypeError(f"unknown name '{unknown[0]}'; known: {' '.join(allowed)}")
            return text.split(",")
        return parse

    parser = argparse.ArgumentParser()
    parser.add_argument("--only", type=names(WHATS), default=WHATS)
    parser.add_argument("--precision", type=names(PRECISIONS), default=PRECISIONS)
    parser.add_argument("seconds", type=float, nargs="?", default=5)
    parser.add_argument("batch", type=int, nargs="*", default=[8, 64, 256])
    parser.add_argument("--cpu", action="store_true")
    options = parser.parse_args()
    if options.cpu:
        global LENGTH, DEVICE
        LENGTH, DEVICE = 240, "cpu"
    try:
        import torch
    except ImportError:
        print("1..0 # SKIP no PyTorch")
        return
    if DEVICE == "cuda" and not torch.cuda.is_available():
        print("1..0 # SKIP PyTorch sees no GPU")
        return
    card = torch.cuda.get_device_name() if DEVICE == "cuda" else "CPU"
    print(f"PyTorch {torch.__version__}, CUDA {torch.version.cuda}, cuDNN {torch.backends.cudnn.version()}, {card}",
          flush=True)
    torch.backends.cudnn.benchmark = True
    network = make_network(torch)
    for what in options.only:
        for precision in options.precision:
            for batch in options.batch:
                measure(torch, network, what, precision, batch, options.seconds)


if __name__ == "__main__":
    main()
