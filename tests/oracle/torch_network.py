"""torch_network.py - Predmoter's network in PyTorch, of any size.

SPDX-License-Identifier: MIT
"""
import math

import torch
from torch import nn

# The size of Predmoter's published networks (cov_combined_size).
COMBINED = {"model_type": "bi-hybrid", "seq_len": 21384, "cnn_layers": 3, "filter_size": 64, "kernel_size": 9, "step": 2, "up": 2,
            "dilation": 1, "bnorm": True, "lstm_layers": 2, "hidden_size": 128, "dropout": 0.3, "output_size": 2}


class Network(nn.Module):
    """Computes the logarithm of coverage [B, L, outputs] from one-hot bases [B, L, 4]. hp: the hyperparameters of a
    checkpoint, possibly without dropout."""

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
        dropout = hp.get("dropout", 0)
        for i in range(hp["lstm_layers"] if hp["model_type"] != "cnn" else 0):
            both = hp["model_type"] == "bi-hybrid"
            lstm += [nn.Dropout(dropout)] if i and dropout else []
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
            x = layer(x)[0] if isinstance(layer, nn.LSTM) else layer(x)
        return self.out(self.through(self.up_layer_list, x.transpose(1, 2)).transpose(1, 2))
