# Reads and checks the configuration and the sheet of samples, and derives the targets.
# SPDX-License-Identifier: MIT
import csv
import re

from snakemake.utils import validate

validate(config, "../schemas/config.schema.yaml")


def read_samples(path):
    """{sample: {fasta, models: [name], measured: {data set: [path]}}} of the sheet."""
    samples = {}
    with open(path, encoding="utf-8", newline="") as sheet:
        lines = (line for line in sheet if line.strip() and not line.startswith("#"))
        for row in csv.DictReader(lines, delimiter="\t"):
            row = {key: value for key, value in row.items() if value}
            validate(row, "../schemas/samples.schema.yaml")
            name = row["sample"]
            if name in samples:
                raise ValueError(f"{path}: duplicate sample {name}")
            models = list(dict.fromkeys(row["models"].split(",") if "models" in row else config["models"]))
            for model in models:
                if model not in config["models"]:
                    raise ValueError(f"{path}: {name}: unknown model {model}")
            measured = {}
            for entry in row["bams"].split(",") if "bams" in row else []:
                dataset, bam = entry.split("=", 1)
                if not any(dataset in config["models"][model]["datasets"] for model in models):
                    raise ValueError(f"{path}: {name}: none of its models has the data set {dataset}")
                measured.setdefault(dataset, []).append(bam)
            samples[name] = {"fasta": row["fasta"], "models": models, "measured": measured}
    if not samples:
        raise ValueError(f"{path}: no samples")
    return samples


def any_of(names):
    """A regular expression that matches any of the names."""
    return "|".join(map(re.escape, sorted(names))) or "(?!)"


SAMPLES = read_samples(config["samples"])
MODELS = config["models"]
TRAININGS = config["training"]
SHARDS = config["shards"]
# RUNS: (sample, model) to predict. SIGNALS: (sample, model, data set) of tracks. COMPARED: those with measured coverage.
RUNS = [(s, m) for s, sample in SAMPLES.items() for m in sample["models"]]
SIGNALS = [(s, m, d) for s, m in RUNS for d in MODELS[m]["datasets"]]
COMPARED = [(s, m, d) for s, m, d in SIGNALS if d in SAMPLES[s]["measured"]]

TRACKS = [f"tracks/{s}.{m}.{d}.bw" for s, m, d in SIGNALS]
METRICS = (
    [f"metrics/info/{s}.{m}.json" for s, m in RUNS]
    + [f"metrics/verify/{s}.{m}.txt" for s, m in RUNS]
    + [f"metrics/compare/{s}.{m}.{d}.tsv" for s, m, d in COMPARED]
)
# The statistics of all steps, for MultiQC.
STATS = (
    [f"stats/fasta2h5/{s}_mqc.json" for s in SAMPLES]
    + [f"stats/covtrain/{t}_mqc.json" for t in TRAININGS if any(MODELS[m]["checkpoint"] == f"trained/{t}.ckpt" for _, m in RUNS)]
    + [f"stats/bam2h5/{s}.{d}_mqc.json" for s, d in dict.fromkeys((s, d) for s, _, d in COMPARED)]
    + [
        f"stats/covpredict/{s}.{m}{part}_mqc.json"
        for s, m in RUNS
        for part in ([f".{i}of{SHARDS}" for i in range(1, SHARDS + 1)] if SHARDS > 1 else [""])
    ]
    + [f"stats/cov2bigwig/{s}.{m}.{d}_mqc.json" for s, m, d in SIGNALS]
    + [f"stats/compare/{s}.{m}.{d}_mqc.json" for s, m, d in COMPARED]
    + [f"stats/h5chunk_info/{s}.{m}_mqc.json" for s, m in RUNS]
    + [f"stats/h5chunk_verify/{s}.{m}_mqc.json" for s, m in RUNS]
)


wildcard_constraints:
    sample=any_of(SAMPLES),
    model=any_of(MODELS),
    training=any_of(TRAININGS),
    dataset=any_of({d for m in MODELS.values() for d in m["datasets"]}),
    part=r"[0-9]+",
    parts=r"[0-9]+",


def fasta_of(wildcards):
    return SAMPLES[wildcards.sample]["fasta"]


def measured_of(wildcards):
    return SAMPLES[wildcards.sample]["measured"][wildcards.dataset]


def checkpoint_of(wildcards):
    return MODELS[wildcards.model]["checkpoint"]


def data_of_training(wildcards):
    return TRAININGS[wildcards.training]["data"]


def options_of_training(wildcards):
    return TRAININGS[wildcards.training]["options"]


def memory_of(tool):
    """mem_mb of a rule: fixed + per_thread * threads, doubled at each retry."""
    need = config[tool]["mem_mb"]

    def mem_mb(wildcards, threads, attempt):
        return (need["fixed"] + need["per_thread"] * threads) * 2 ** (attempt - 1)

    return mem_mb
