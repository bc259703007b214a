#!/usr/bin/python3
"""network_peers.py - chunks per second of the published network on the CPU: covtools compared to PyTorch, ONNX Runtime and OpenVINO.

  network_peers.py [--python PYTHON] [--training] [--rounds N] [--seconds S] [-@ N] [--batch-size N] [--peer-batch-size N]
                   [--precision LIST] [--peers LIST] [--patience S] [-o FILE]

PYTHON (default: the variable PEER_PYTHON, or python3) has the peers installed. Each peer is a process that loads the
network, compiles it, runs it once, and then waits. A peer that PYTHON lacks, or that is not ready within --patience
(900) seconds, is omitted, with a SKIP line. In each of N rounds (7), the contestants run one at a time in random order,
each for at least S seconds (2) after a warm-up pass. Peers:

  fp32-eager  fp32-compiled  bf16-eager  bf16-compiled    PyTorch, eager or by torch.compile; bf16 is its autocast
  bf16-weights                                            PyTorch with weights and activations of bf16
  fp32-onnx                                               ONNX Runtime
  fp32-openvino  bf16-openvino                            OpenVINO; bf16 is its inference precision

covtools is measured by `benchmark model` from PATH at each --precision (exact,balanced,bf16), with N threads (-@, all)
and batches of --batch-size (16). A peer uses all threads for a batch of --peer-batch-size (16). With --training, Adam
steps are measured: fp32 and bf16 against fp32-eager and bf16-eager, with batches of 8.

Prints a table (contestant, n, median, least, greatest), and the ratios of covtools' medians to those of the best peer in
fp32 and in bf16, with the least and greatest ratio of a round. -o writes all values, one line per round.
SPDX-License-Identifier: MIT"""
import argparse
import json
import os
import random
import selectors
import statistics
import subprocess
import sys
import tempfile
import time

LENGTH = 21384
PEERS = ["fp32-eager", "fp32-compiled", "fp32-onnx", "fp32-openvino", "bf16-eager", "bf16-compiled", "bf16-weights", "bf16-openvino"]
TRAINING_PEERS = ["fp32-eager", "bf16-eager"]


class Skip(Exception):
    pass


# ---------------------------------------------------------------- a peer


def load_network():
    sys.dont_write_bytecode = True
    sys.path.insert(0, f"{os.path.dirname(os.path.abspath(__file__))}/../oracle")
    try:
        import torch
    except ImportError as e:
        raise Skip("no PyTorch") from e
    from torch_network import COMBINED, Network
    torch.manual_seed(1)
    return torch, Network(COMBINED)


def bases(torch, batch):
    return torch.nn.functional.one_hot(torch.randint(4, (batch, LENGTH)), 4).float()


def predictor(name, batch, threads):
    """Returns the version, and a function that predicts a batch: numpy[B, L, outputs]."""
    torch, network = load_network()
    torch.set_num_threads(threads)
    precision, how = name.split("-")

    class Predict(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.network = network.eval()

        def forward(self, x):
            return torch.exp(self.network(x).float())

    module, x = Predict(), bases(torch, batch)
    if how == "onnx":
        try:
            import onnxruntime
        except ImportError as e:
            raise Skip("no ONNX Runtime") from e
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        options.add_session_config_entry("session.force_spinning_stop", "1")  # between turns
        with tempfile.TemporaryDirectory() as directory, torch.no_grad():
            torch.onnx.export(module, (x,), f"{directory}/network.onnx", input_names=["x"], output_names=["y"], dynamo=False)
            session = onnxruntime.InferenceSession(f"{directory}/network.onnx", options, providers=["CPUExecutionProvider"])
        x = x.numpy()
        return f"ONNX Runtime {onnxruntime.__version__}", lambda: session.run(None, {"x": x})[0]
    if how == "openvino":
        try:
            import openvino
        except ImportError as e:
            raise Skip("no OpenVINO") from e
        with torch.no_grad():
            converted = openvino.convert_model(module, example_input=x, input=list(x.shape))
        compiled = openvino.Core().compile_model(converted, "CPU", {
            "INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1,
            "INFERENCE_PRECISION_HINT": "bf16" if precision == "bf16" else "f32"})
        x = x.numpy()
        return f"OpenVINO {openvino.__version__.split('-')[0]}", lambda: compiled(x)[0]
    if how == "weights":
        network.to(torch.bfloat16)
        x = x.to(torch.bfloat16)
    if how == "compiled":
        module = torch.compile(module)

    def predict():
        with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16, enabled=precision == "bf16" and how != "weights"):
            return module(x).numpy()

    return f"PyTorch {torch.__version__}", predict


def learner(name, batch, threads):
    """Returns the version, and a function that runs a training step with Predmoter's loss and returns the loss."""
    torch, network = load_network()
    torch.set_num_threads(threads)
    network.train()
    adam = torch.optim.Adam(network.parameters(), lr=0.001)
    x, y = bases(torch, batch), torch.randint(5, (batch, LENGTH, 2)).float()
    loss_of = torch.nn.PoissonNLLLoss()

    def step():
        with torch.autocast("cpu", torch.bfloat16, enabled=name.startswith("bf16")):
            logs = network(x)
        loss = loss_of(logs.float(), y)
        adam.zero_grad()
        loss.backward()
        adam.step()
        return loss.detach().numpy()

    return f"PyTorch {torch.__version__}", step


def serve(name, training, batch, threads):
    """Runs once and prints "ready". Then reads lines with a number of seconds, and answers each with the chunks per second."""
    try:
        what, compute = (learner if training else predictor)(name, batch, threads)
        import numpy
        values = compute()
        assert values.shape == (() if training else (batch, LENGTH, 2)) and numpy.isfinite(values).all()
    except Skip as e:
        print("skip", e, flush=True)
        return
    except Exception as e:  # an unsupported version, a missing compiler
        print("skip", (str(e).strip() or type(e).__name__).splitlines()[0], flush=True)
        return
    print("ready", what, flush=True)
    for line in sys.stdin:
        compute()
        passes, beg = 0, time.perf_counter()
        while passes == 0 or time.perf_counter() - beg < float(line):
            compute()
            passes += 1
        print(passes * batch / (time.perf_counter() - beg), flush=True)


# ---------------------------------------------------------------- contestants


class Peer:
    def __init__(self, name, c):
        self.name, self.state = name, ""
        self.child = subprocess.Popen([c.python, os.path.abspath(__file__), "--serve", name, "--peer-batch-size", str(c.peer_batch_size),
                                       "-@", str(c.threads)] + ["--training"] * c.training,
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def load(self, patience):
        """Waits until the peer is ready; returns false if it is not."""
        selector = selectors.DefaultSelector()
        selector.register(self.child.stdout, selectors.EVENT_READ)
        if not selector.select(patience):
            self.state = f"SKIP: not ready within {patience:g} s"
            self.child.kill()
            self.child.wait()
            return False
        # Ignores output printed by the modules.
        line = next((s for s in self.child.stdout if s.startswith(("ready ", "skip "))), "skip the process ended")
        word, self.state = line.strip().split(" ", 1)
        if word == "skip":
            self.state = f"SKIP: {self.state}"
        return word == "ready"

    def turn(self, seconds):
        self.child.stdin.write(f"{seconds}\n")
        self.child.stdin.flush()
        line = self.child.stdout.readline()
        if not line:
            sys.exit(f"network_peers.py: {self.name} ended with {self.child.wait()}")
        return float(line)

    def close(self):
        self.child.communicate()


class Ours:
    def __init__(self, precision, c):
        self.name, self.precision, self.c, self.state = f"covtools {precision}", precision, c, "benchmark model"

    def turn(self, seconds):
        c, batch = self.c, str(self.c.batch_size)
        with tempfile.TemporaryDirectory() as directory:
            command = ["benchmark", "model", "-q", "--model", "combined", "--precision", self.precision, "--device", "cpu", "--repeats", "1",
                       "-@", str(c.threads), "-o", directory, "-f"]
            # With --training, prediction is measured, too, with one chunk.
            command += ["--batch-size", "1", "--training", batch, "--seconds", str(seconds)] if c.training else \
                ["--batch-size", batch, "--seconds", str(seconds)]
            subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
            with open(f"{directory}/benchmark.json") as f:
                figures = json.load(f)["figures"]
        prefix = f"model/{'training_' * c.training}chunks_per_second/"
        return next(f["median"] for f in figures if f["name"].startswith(prefix))

    def close(self):
        pass


# ---------------------------------------------------------------- rounds


def measure(contestants, c):
    values = {x.name: [] for x in contestants}
    for n in range(c.rounds):
        turns = random.sample(contestants, len(contestants))
        got = {x.name: x.turn(c.seconds) for x in turns}
        for name, value in got.items():
            values[name].append(value)
        print(f"round {n + 1} of {c.rounds}: " + ", ".join(f"{name} {value:.4g}" for name, value in got.items()), file=sys.stderr)
    return values


def report(contestants, values):
    print("contestant\tn\tmedian\tleast\tgreatest\tby")
    for x in contestants:
        v = values[x.name]
        print(f"{x.name}\t{len(v)}\t{statistics.median(v):.4g}\t{min(v):.4g}\t{max(v):.4g}\t{x.state}")
    for precision in ("fp32", "bf16"):
        peers = [x.name for x in contestants if x.name.startswith(precision)]
        if not peers:
            continue
        best = max(peers, key=lambda name: statistics.median(values[name]))
        for x in contestants:
            if not isinstance(x, Ours) or (precision == "bf16") != (x.precision in ("balanced", "bf16")):
                continue
            ratios = [a / b for a, b in zip(values[x.name], values[best])]
            print(f"ratio\t{x.name} / {best}\t{statistics.median(values[x.name]) / statistics.median(values[best]):.3g}"
                  f"\t{min(ratios):.3g}\t{max(ratios):.3g}")


def parse():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("--python", default=os.environ.get("PEER_PYTHON", "python3"))
    p.add_argument("--training", action="store_true")
    p.add_argument("--rounds", type=int, default=7)
    p.add_argument("--seconds", type=float, default=2)
    p.add_argument("-@", "--threads", type=int, default=len(os.sched_getaffinity(0)))
    p.add_argument("--batch-size", type=int)
    p.add_argument("--peer-batch-size", type=int)
    p.add_argument("--precision", type=lambda text: text.split(","))
    p.add_argument("--peers", type=lambda text: text.split(","))
    p.add_argument("--patience", type=float, default=900)
    p.add_argument("-o", "--output")
    p.add_argument("--serve", help=argparse.SUPPRESS)
    c = p.parse_args()
    known = TRAINING_PEERS if c.training else PEERS
    c.batch_size = c.batch_size or (8 if c.training else 16)
    c.peer_batch_size = c.peer_batch_size or (8 if c.training else 16)
    c.precision = c.precision or (["fp32", "bf16"] if c.training else ["exact", "balanced", "bf16"])
    c.peers = known if c.peers is None else c.peers
    for name in c.peers:
        if name not in known:
            p.error(f"--peers: unknown peer '{name}'; use {', '.join(known)}")
    if c.rounds < 1 or c.threads < 1 or c.batch_size < 1 or c.peer_batch_size < 1:
        p.error("rounds, threads and batches are 1 or more")
    return c


def main():
    c = parse()
    if c.serve:
        return serve(c.serve, c.training, c.peer_batch_size, c.threads)
    contestants, peers = [Ours(precision, c) for precision in c.precision], []
    try:
        for name in c.peers:
            peers.append(Peer(name, c))
            beg = time.monotonic()
            if peers[-1].load(c.patience):
                contestants.append(peers[-1])
                print(f"{name}: ready after {time.monotonic() - beg:.0f} s", file=sys.stderr)
            else:
                print(f"{name}\t{peers[-1].state}", flush=True)
        values = measure(contestants, c)
    finally:
        for peer in peers:
            peer.close()
    report(contestants, values)
    if c.output:
        with open(c.output, "w") as f:
            print(*values, sep="\t", file=f)
            for line in zip(*values.values()):
                print(*line, sep="\t", file=f)
    return 0


if __name__ == "__main__":
    sys.exit(main())
