"""torch_resume.py - resumes training from a checkpoint of Predmoter in PyTorch, to compare with covtrain.

torch_resume.py CKPT GENOME,... BATCH METRICS [SEED [AFTER [OPTION...]]]
                    continues CKPT with its weights and its optimiser, and compares loss and accuracy of each step with
                    METRICS (metrics.jsonl); uses the order of the file, or the order and the dropout that covtrain draws
                    with SEED. Parameters without a state of the optimiser are frozen. AFTER: the checkpoint after these
                    steps, whose running statistics must be the same ("-": none). OPTION, as of covtrain: balance,
                    recompute (PyTorch's checkpointing of LSTMs)

SPDX-License-Identifier: MIT
"""
import json

import h5py
import numpy as np
import torch
from torch.utils.checkpoint import checkpoint

import serve
import training_draws
from torch_network import Network


def score(p, t, base):
    losses, rs = [], []
    for i in range(p.shape[0]):
        for d in range(p.shape[2]):
            log, y = p[i, base[i], d], t[i, base[i], d]
            losses.append((torch.exp(log) - y * log).mean())
            a, b = torch.exp(log) - torch.exp(log).mean(), y - y.mean()
            rs.append((a * b).sum() / (a.norm() * b.norm() + 1e-8))
    return torch.stack(losses).mean(), torch.stack(rs).mean().item()


class Dropout(torch.nn.Module):
    """The dropout that covtrain draws after LSTM layer i."""

    def __init__(self, hp, i, seed):
        super().__init__()
        self.p, self.layer, self.seed = hp["dropout"], hp["cnn_layers"] + i, seed

    def forward(self, x):
        return x * torch.from_numpy(training_draws.dropout(x.shape, self.p, self.seed, self.step, self.layer))


class Again(torch.nn.Module):
    """An LSTM whose activations are computed again in the backward pass."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        return checkpoint(self.layer, x, use_reentrant=False)[0]


def load(path):
    # Checkpoints of Predmoter have objects of NumPy.
    return torch.load(path, map_location="cpu", weights_only=False)


def read(genome, datasets):
    """Returns bases, targets and species of the chunks without gaps."""
    with h5py.File(genome) as f:
        x = f["data/X"][:].astype("f4")
        y = [np.around(f[f"evaluation/{d}_coverage"][:].astype("f4").mean(axis=2), 2) for d in datasets]
        keep = x[:, :, 0].max(axis=1) != 0.25
        return x[keep], np.stack(y, axis=2)[keep], list(f["data/species"][:][keep])


def main(ckpt, genomes, batch, metrics, seed=None, after="-", *options):
    torch.set_num_threads(1)  # the steps of the LSTM are too small for threads
    c = load(ckpt)
    hp = c["hyper_parameters"]
    net = Network(hp)
    net.load_state_dict(c["state_dict"])
    drops = [Dropout(hp, i, int(seed or 0)) for i in range(hp["lstm_layers"] - 1)]
    for i, drop in enumerate(drops if hp["dropout"] else []):
        net.lstm_layer_list[2 * i + 1] = drop
    state = c["optimizer_states"][0]
    adam = (torch.optim.AdamW if state["param_groups"][0]["weight_decay"] else torch.optim.Adam)(net.parameters())
    adam.load_state_dict(state)
    for i, p in enumerate(net.parameters()):
        p.requires_grad_(i in state["state"])
    if "recompute" in options:
        for i, layer in enumerate(net.lstm_layer_list):
            if isinstance(layer, torch.nn.LSTM):
                net.lstm_layer_list[i] = Again(layer)
    files = [read(genome, hp["datasets"]) for genome in genomes.split(",")]
    x, y = (torch.from_numpy(np.concatenate([f[i] for f in files])) for i in range(2))
    species = [s for f in files for s in f[2]]
    with open(metrics, encoding="utf-8") as f:
        steps = [r for r in map(json.loads, f) if "step" in r]
    epoch, order = c["epoch"], []
    for step in steps:
        if not order:
            epoch += 1
            if seed is None:
                order = list(range(len(x)))
            elif "balance" in options:
                order = training_draws.balanced(species, int(seed), epoch)
            else:
                order = training_draws.order(len(x), int(seed), epoch)
        now, order = order[:int(batch)], order[int(batch):]
        bx, by = x[now], y[now]
        for drop in drops:
            drop.step = step["step"] - 1
        adam.zero_grad()
        loss, r = score(net(bx), by, bx.sum(dim=2) > 0)
        if step is not steps[-1]:
            loss.backward()
            adam.step()
        if abs(loss.item() - step["loss"]) > 1e-4 * abs(loss.item()) or abs(r - step["accuracy"]) > 1e-4:
            return f"step {step['step']}: loss {step['loss']} for {loss.item()}, accuracy {step['accuracy']} for {r}"
    for name, wanted in load(after)["state_dict"].items() if after != "-" else ():
        if "running" in name and not torch.allclose(net.state_dict()[name], wanted, rtol=1e-3, atol=1e-5):
            return "other statistics: " + name
    return None if steps and not order else "the steps are not whole epochs"


if __name__ == "__main__":
    serve.run(main)
