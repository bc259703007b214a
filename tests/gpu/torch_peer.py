#!/usr/bin/python3
"""Measures the published network in PyTorch on the same card, for comparison with bench_gpu: chunks per second in fp32,
tf32 and bf16 (autocast), eager and compiled, with one-hot input on the card and values copied back; and training steps,
with targets on the card and fused Adam.

usage: torch_peer.py [SECONDS [BATCH...]]

Prints SKIP and exits with status 0 without PyTorch or a GPU that it can use.
SPDX-License-Identifier: MIT"""

import sys
import time

LENGTH = 21384


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

    return Network().cuda().eval()


def median_rate(n, seconds, once):
    """Returns the median rate of calls that each process n chunks, over `seconds` after three warm-up calls. once()
    returns when the GPU is done."""
    for _ in range(3):
        once()
    rates = []
    start = time.monotonic()
    while len(rates) < 3 or time.monotonic() - start < seconds:
        beg = time.monotonic()
        once()
        rates.append(n / (time.monotonic() - beg))
    return sorted(rates)[len(rates) // 2]


def measure(torch, run, x, seconds):
    host = torch.empty((x.shape[0], LENGTH, 2), pin_memory=True)

    def once():
        host.copy_(run(x))
        torch.cuda.synchronize()

    return median_rate(x.shape[0], seconds, once)


def measure_training(torch, network, x, bf16, seconds):
    network.train()
    adam = torch.optim.Adam(network.parameters(), fused=True)
    target = torch.randint(5, (x.shape[0], LENGTH, 2), device="cuda").float()
    loss_of = torch.nn.PoissonNLLLoss(log_input=False)

    def step():
        with torch.autocast("cuda", torch.bfloat16, enabled=bf16):
            value = network(x)
        loss = loss_of(value, target)
        adam.zero_grad(set_to_none=True)
        loss.backward()
        adam.step()
        return float(loss)

    rate = median_rate(x.shape[0], seconds, step)
    network.eval()
    return rate


def report(torch, name, batch, rate_of):
    """Prints the rate, or the reason why there is none: out of memory, or unsupported by the compiler."""
    x = torch.eye(4, device="cuda")[torch.randint(4, (batch, LENGTH), device="cuda")]
    try:
        print(f"{name} batch {batch:4}: {rate_of(x):9.1f} chunks/s", flush=True)
    except Exception as e:
        print(f"{name} batch {batch:4}: {str(e).splitlines()[0]}", flush=True)
    torch.cuda.empty_cache()


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 5
    batches = [int(a) for a in sys.argv[2:]] or [16, 64, 256]
    try:
        import torch
    except ImportError:
        print("torch_peer: SKIP, no PyTorch")
        return
    if not torch.cuda.is_available():
        print("torch_peer: SKIP, PyTorch sees no GPU")
        return
    print(f"PyTorch {torch.__version__}, CUDA {torch.version.cuda}, cuDNN {torch.backends.cudnn.version()}, "
          f"{torch.cuda.get_device_name()}")
    network = make_network(torch)
    with torch.inference_mode():
        for name in ("fp32", "tf32", "bf16"):
            torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = name == "tf32"
            for how, module in ("eager   ", network), ("compiled", torch.compile(network)):

                def run(x):
                    with torch.autocast("cuda", torch.bfloat16, enabled=name == "bf16"):
                        return module(x)

                for batch in batches:
                    report(torch, f"{name} {how}", batch, lambda x: measure(torch, run, x, seconds))
    for name in ("fp32", "tf32", "bf16"):
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = name == "tf32"
        for batch in batches:
            report(torch, f"{name} training", batch,
                   lambda x: measure_training(torch, network, x, name == "bf16", seconds))


if __name__ == "__main__":
    main()
