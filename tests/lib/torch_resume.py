"""torch_resume.py - what PyTorch makes of a checkpoint of Predmoter's that training goes on from.

torch_resume.py CKPT GENOME BATCH METRICS    loss and accuracy of each step of an epoch in the order of the file, from the
                                             weights and the optimiser in CKPT, are those in METRICS (metrics.jsonl)

SPDX-License-Identifier: MIT
"""
import json
import math
import sys

import h5py
import numpy as np
import torch
from torch import nn


class Network(nn.Module):
    """Predmoter's network, without dropout."""

    def __init__(self, hp):
        super().__init__()
        n, k, s, d = hp["cnn_layers"], hp["kernel_size"], hp["step"], hp["dilation"]
        lengths = [hp["seq_len"] // s ** i for i in range(n + 1)]
        channels = [4] + [hp["filter_size"] * hp["up"] ** i for i in range(n)]
        down, up, lstm = [], [], []
        for i in range(n):
            pad = math.ceil(((lengths[i + 1] - 1) * s - lengths[i] + d * (k - 1) + 1) / 2)
            down.append(nn.Conv1d(channels[i], channels[i + 1], k, s, pad, d))
            down += [nn.BatchNorm1d(channels[i + 1])] if hp["bnorm"] else []
        width = channels[n]
        for _ in range(hp["lstm_layers"] if hp["model_type"] != "cnn" else 0):
            both = hp["model_type"] == "bi-hybrid"
            lstm.append(nn.LSTM(width, hp["hidden_size"], batch_first=True, bidirectional=both))
            width = hp["hidden_size"] * (2 if both else 1)
        for i in range(n, 0, -1):
            out = 0 if (s + k) % 2 == 0 else 1
            out = 1 - out if d % 2 == 0 and k % 2 == 0 else out
            pad = int(((lengths[i] - 1) * s - lengths[i - 1] + d * (k - 1) + out + 1) / 2)
            up.append(nn.ConvTranspose1d(width, channels[i - 1], k, s, pad, out, dilation=d))
            up += [nn.BatchNorm1d(channels[i - 1])] if hp["bnorm"] else []
            width = channels[i - 1]
        # The optimiser numbers parameters in this order.
        self.down_layer_list, self.lstm_layer_list = nn.ModuleList(down), nn.ModuleList(lstm)
        self.up_layer_list = nn.ModuleList(up)
        self.out = nn.Linear(4, hp["output_size"])

    @staticmethod
    def through(layers, x):
        for layer in layers:
            x = layer(x) if isinstance(layer, nn.BatchNorm1d) else torch.relu(layer(x))
        return x

    def forward(self, x):
        x = self.through(self.down_layer_list, x.transpose(1, 2)).transpose(1, 2)
        for layer in self.lstm_layer_list:
            x = layer(x)[0]
        return self.out(self.through(self.up_layer_list, x.transpose(1, 2)).transpose(1, 2))


def score(p, t, base):
    losses, rs = [], []
    for i in range(p.shape[0]):
        for d in range(p.shape[2]):
            log, y = p[i, base[i], d], t[i, base[i], d]
            losses.append((torch.exp(log) - y * log).mean())
            a, b = torch.exp(log) - torch.exp(log).mean(), y - y.mean()
            rs.append((a * b).sum() / (a.norm() * b.norm() + 1e-8))
    return torch.stack(losses).mean(), torch.stack(rs).mean().item()


def main(ckpt, genome, batch, metrics):
    torch.set_num_threads(1)  # the LSTM's steps are too small for more
    c = torch.load(ckpt, map_location="cpu")
    hp = c["hyper_parameters"]
    net = Network(hp)
    net.load_state_dict(c["state_dict"])
    adam = torch.optim.Adam(net.parameters())
    adam.load_state_dict(c["optimizer_states"][0])
    with h5py.File(genome) as f:
        x = f["data/X"][:].astype("f4")
        y = [np.around(f[f"evaluation/{d}_coverage"][:].astype("f4").mean(axis=2), 2) for d in hp["datasets"]]
    keep = x[:, :, 0].max(axis=1) != 0.25
    x, y = torch.from_numpy(x[keep]), torch.from_numpy(np.stack(y, axis=2)[keep])
    with open(metrics, encoding="utf-8") as f:
        steps = [r for r in map(json.loads, f) if "step" in r]
    at = 0
    for step in steps:
        bx, by = x[at:at + int(batch)], y[at:at + int(batch)]
        at += int(batch)
        adam.zero_grad()
        loss, r = score(net(bx), by, bx.sum(dim=2) > 0)
        if step is not steps[-1]:
            loss.backward()
            adam.step()
        print(step["step"], loss.item(), step["loss"], r, step["accuracy"])
        if abs(loss.item() - step["loss"]) > 1e-4 * abs(loss.item()) or abs(r - step["accuracy"]) > 1e-4:
            return "another step"
    return 0 if at >= len(x) and steps else "the steps are not an epoch"


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
