# Reads and checks the configuration and the sheet of samples, and derives the targets.
# SPDX-License-Identifier: MIT
import csv
import json
import os
import re
import sys

import jsonschema
import snakemake
import yaml
from snakemake.exceptions import WorkflowError

# The columns of the sheet: a regular expression of its cells, and what to write there. The cells of MEASUREMENT are empty
# in a row without measured data; those of OPTIONAL columns may always be.
NAME = (r"[A-Za-z0-9_-]+", "use letters, digits, _ and -")
# Snakemake takes { and } for wildcards, Nextflow takes $ for a variable and the others for patterns.
FILE = (r"[^${}*?[\]\n]+", "write the path of a file, without $ * ? [ ] { }")
COLUMNS = {
    "sample": (r"[A-Za-z0-9][A-Za-z0-9._+-]*", "use letters, digits and . _ + -; begin with a letter or digit"),
    "fasta": FILE,
    "dataset": (r"(?!measured$)[A-Za-z0-9_-]+", NAME[1] + ", but not measured, which is part of names of files"),
    "assay": (r"atacseq|chipseq|other", "use atacseq, chipseq or other"),
    "bams": (r"[^;${}*?[\]\n]+(;[^;${}*?[\]\n]+)*", "write its files, separated by ;, without $ * ? [ ] { }"),
    "model": NAME,
    "checkpoint": (r"[^,${}*?[\]\n]+", FILE[1] + " and comma"),  # covpredict takes a list for an ensemble
    "genes": FILE,
    "region": (r"[A-Za-z0-9._+:-]+", "use letters, digits and . _ + - :"),
    "variants": FILE,
    "explain": FILE,
}
MEASUREMENT = ["dataset", "assay", "bams"]
OPTIONAL = ["genes", "region", "variants", "explain"]
ASSAY_OF_DATASET = {"atacseq": "atacseq", "h3k4me3": "chipseq"}
TRACK_SUFFIXES = (".bw", ".bigwig", ".bg", ".bdg", ".bedgraph")


def fail(message):
    """Ends Snakemake with the message alone, without the traceback that it prints by default."""
    sys.tracebacklimit = 0
    raise WorkflowError(message)


def read_yaml(path):
    """The contents of a file of the workflow."""
    with open(workflow.source_path(path), encoding="utf-8") as file:
        return yaml.safe_load(file)


def check_config():
    # To Snakemake, only True and False are no text in --config peaks=true.
    config["peaks"] = {"true": True, "false": False}.get(config["peaks"], config["peaks"])
    schema = jsonschema.Draft202012Validator(read_yaml("../schemas/config.schema.yaml"))
    error = jsonschema.exceptions.best_match(schema.iter_errors(config))
    if error:
        fail(f"configuration: {''.join(f'{key}: ' for key in error.absolute_path)}{error.message}")


def check_header(path, columns):
    for column in columns:
        if column not in COLUMNS or columns.count(column) > 1:
            fault = "repeated" if column in COLUMNS else "unknown"
            fail(f"{path}: {fault} column {column!r}; the columns are {','.join(COLUMNS)}")
    for column in COLUMNS:
        if column not in columns and column not in MEASUREMENT + OPTIONAL:
            fail(f"{path}: missing column {column}")


def read_row(where, columns, cells):
    """{column: cell} of a row. Fills in the assay of a dataset whose name tells it."""
    if len(cells) > len(columns):
        fail(f"{where}: {len(cells)} cells in {len(columns)} columns")
    row = {**dict.fromkeys(COLUMNS, ""), **dict(zip(columns, cells))}
    is_measured = any(row[column] for column in MEASUREMENT)
    if not row["assay"]:
        row["assay"] = ASSAY_OF_DATASET.get(row["dataset"], "")
    for column, (pattern, expected) in COLUMNS.items():
        place = where if column == "sample" else f"{where}: {row['sample']}"
        if (column in MEASUREMENT and not is_measured) or (column in OPTIONAL and not row[column]):
            continue
        if not row[column]:
            fail(f"{place}: missing {column}; {expected}")
        if not re.fullmatch(pattern, row[column]):
            fail(f"{place}: invalid {column} {row[column]!r}; {expected}")
    return row


def read_sheet(path):
    """Yields the place in the sheet and {column: cell} of each row."""
    columns = None
    try:
        with open(path, encoding="utf-8-sig", newline="") as sheet:
            lines = csv.reader(
                ("\n" if line.startswith("#") else line for line in sheet),
                delimiter="\t" if path.endswith(".tsv") else ",",
            )
            for cells in lines:
                cells = [cell.strip(" \t") for cell in cells]
                if not any(cells):
                    continue
                if columns is None:
                    columns = cells
                    check_header(path, columns)
                else:
                    where = f"{path}:{lines.line_num}"
                    row = read_row(where, columns, cells)
                    yield f"{where}: {row['sample']}", row
    except OSError as e:
        fail(f"{path}: {e.strerror}")
    except (UnicodeDecodeError, csv.Error) as e:
        fail(f"{path}: not a sheet of samples: {e}")


def note(where, what, table, key, value, hint=""):
    """table[key] = value, which must be the same in all rows."""
    if table.setdefault(key, value) != value:
        fail(f"{where}: the {what} is {value}, but {table[key]} in an earlier row{hint}")


def located(path):
    """A path of the sheet, which is relative to the directory of the sheet. Trained checkpoints and URLs stay as they are."""
    if "://" in path or path in TRAINED:
        return path
    return os.path.normpath(os.path.join(os.path.dirname(config["samples"]), path))


def check_files(where, row):
    """Ends Snakemake if a file of a row is missing. Trained checkpoints are made later."""
    for column in ("fasta", "bams", "checkpoint", "genes", "variants", "explain"):
        for path in filter(None, row[column].split(";") if column == "bams" else [row[column]]):
            place = located(path)
            if "://" not in path and path not in TRAINED and not os.path.isfile(place):
                fail(f"{where}: {column} {path}: no such file")


def read_cutoffs(key):
    """{dataset: (cutoff,) or (cutoff, weaker cutoff)} of a key of the configuration."""
    if not config["peaks"]:
        if config[key] != read_yaml("../config/defaults.yaml")[key]:
            fail(f"configuration: {key} has no effect unless peaks is true")
        return {}
    cutoffs = {}
    for item in filter(None, config[key].split(",")):
        dataset, values = item.split("=")
        if dataset in cutoffs:
            fail(f"configuration: {key}: repeated dataset {dataset}")
        cutoffs[dataset] = tuple(values.split(":"))
        if len(cutoffs[dataset]) == 2 and float(cutoffs[dataset][1]) >= float(cutoffs[dataset][0]):
            fail(f"configuration: {key}: {item}: the second cutoff must be less than the first")
    return cutoffs


def read_tuning(path):
    """{name: options} of a file with a line per network: its name, a tab, and options of covtrain."""
    networks = {}
    try:
        with open(path, encoding="utf-8-sig") as file:
            for i, line in enumerate(file, 1):
                if not line.strip() or line.startswith("#"):
                    continue
                name, _, options = line.rstrip().partition("\t")
                if not re.fullmatch(NAME[0], name) or not options.strip():
                    fail(f"{path}:{i}: write a name (letters, digits, _ and -), a tab, and options of covtrain")
                if name in networks:
                    fail(f"{path}:{i}: repeated name {name}")
                networks[name] = options
    except (OSError, UnicodeDecodeError) as e:
        fail(f"{path}: {getattr(e, 'strerror', 'not text')}")
    return networks


def networks_of(name, training):
    """{name: {data, options}} of the networks of an entry of `training`: one, or several for leave_out and tune."""
    variants = {"": ""}
    if "leave_out" in training:
        variants = {f".{species}": f" --leave-out {species}" for species in training["leave_out"]}
    if "tune" in training:
        tuning = read_tuning(training["tune"]).items()
        variants = {v + f".{n}": o + f" {options}" for v, o in variants.items() for n, options in tuning}
    return {name + v: {"data": training["data"], "options": training["options"] + o} for v, o in variants.items()}


check_config()
# The cutoffs of predicted and of measured peaks.
CUTOFFS = read_cutoffs("peak_cutoffs")
MEASURED_CUTOFFS = read_cutoffs("measured_cutoffs") or CUTOFFS
# The networks of each entry of `training`, and what each needs.
RUNS_OF_TRAINING = {name: networks_of(name, training) for name, training in config["training"].items()}
TRAININGS = {run: needs for runs in RUNS_OF_TRAINING.values() for run, needs in runs.items()}
TRAINED = {f"trained/{name}.ckpt": name for name in TRAININGS}
FASTA, CHECKPOINT, ASSAY, MEASURED, GENES, REGION, VARIANTS, EXPLAIN = {}, {}, {}, {}, {}, {}, {}, {}
# (sample, model) to predict, and {(sample, model, dataset): place in the sheet} to compare, in the order of the sheet.
RUNS, COMPARED = {}, {}
ROWS = []
# Without samples, there are only networks to train.
TRAINS_ONLY = bool(TRAININGS) and not os.path.exists(config["samples"])
for where, row in [] if TRAINS_ONLY else read_sheet(config["samples"]):
    sample, model, dataset = row["sample"], row["model"], row["dataset"]
    note(where, f"fasta of {sample}", FASTA, sample, located(row["fasta"]))
    note(where, f"checkpoint of {model}", CHECKPOINT, model, located(row["checkpoint"]))
    for what, column, table in [
        ("annotation", "genes", GENES),
        ("file of variants", "variants", VARIANTS),
        ("file of regions to explain", "explain", EXPLAIN),
    ]:
        if row[column]:
            note(where, f"{what} of {sample}", table, sample, located(row[column]))
    if row["region"]:
        note(where, f"region of {sample}", REGION, sample, row["region"])
    RUNS[sample, model] = True
    if dataset:
        note(where, f"assay of {dataset}", ASSAY, (sample, dataset), row["assay"])
        bams = ";".join(map(located, row["bams"].split(";")))
        note(where, f"list of bams of {dataset}", MEASURED, (sample, dataset), bams, "; write replicates in one row, separated by ;")
        COMPARED.setdefault((sample, model, dataset), where)
    ROWS.append((where, row))
for where, row in ROWS:
    check_files(where, row)
if not RUNS and not TRAINS_ONLY:
    fail(f"{config['samples']}: no samples")

SHARDS, GENOMES_PER_JOB = config["shards"], config["genomes_per_job"]
if SHARDS > 1 and GENOMES_PER_JOB > 1:
    fail("configuration: genomes_per_job needs shards: 1")
GROUPS = {run: f"genomes{i // GENOMES_PER_JOB}" for i, run in enumerate(RUNS)}
CORRELATED = list(dict.fromkeys(s for s, _ in MEASURED))
TRAINING_TABLES = [f"trained/{name}.{kind}" for name in RUNS_OF_TRAINING for kind in ("tsv", "svg")]
# Runs with variants to score, and runs with regions to explain.
SCORED = [(s, m) for s, m in RUNS if s in VARIANTS]
EXPLAINED = [(s, m) for s, m in RUNS if s in EXPLAIN]
EFFECTS = [f"effects/{s}.{m}.tsv" for s, m in SCORED]
TRACKS = [f"tracks/{s}.{m}" for s, m in RUNS]
METRICS = (
    [f"metrics/{s}.{m}.info.json" for s, m in RUNS]
    + [f"metrics/{s}.{m}.{d}.compare.tsv" for s, m, d in COMPARED]
    + [f"metrics/{s}.correlation.tsv" for s in CORRELATED]
    + [f"metrics/{s}.genes.tsv" for s in GENES]
    + [f"metrics/{s}.region.tsv" for s in REGION]
)
# The statistics of all steps, for MultiQC. Those of shards are added up by h5chunk merge.
STATS = (
    [f"stats/fasta2h5/{s}_mqc.json" for s in (FASTA if SHARDS > 1 else CORRELATED)]
    + [f"stats/covtrain/{t}_mqc.json" for path, t in TRAINED.items() if TRAINS_ONLY or path in CHECKPOINT.values()]
    + [f"stats/bam2h5/{s}.{d}_mqc.json" for s, d in MEASURED]
    + [
        f"stats/{step}/{s}.{m}_mqc.json"
        for step in ("h5chunk_merge" if SHARDS > 1 else "covpredict", "cov2bigwig", "h5chunk_info")
        for s, m in RUNS
    ]
    + [f"stats/compare/{s}.{m}.{d}_mqc.json" for s, m, d in COMPARED]
    + [f"stats/covprofile_correlate/{s}_mqc.json" for s in CORRELATED]
    + [f"stats/covprofile_genes/{s}_mqc.json" for s in GENES]
    + [f"stats/covprofile_region/{s}_mqc.json" for s in REGION]
    + [f"stats/coveffect_vcf/{s}.{m}_mqc.json" for s, m in SCORED]
)
SHARD_STATS = [f"stats/covpredict/{s}.{m}.{i}of{SHARDS}_mqc.json" for s, m in RUNS for i in range(1, SHARDS + 1) if SHARDS > 1]
PLOTS = (
    [f"stats/compare/{s}.{m}.{d}.correlation_mqc.json" for s, m, d in COMPARED]
    + [f"stats/covprofile_correlate/{s}.tracks_mqc.json" for s in CORRELATED]
    + [f"stats/covprofile_genes/{s}.profile_mqc.json" for s in GENES]
    + [f"metrics/{s}.region_mqc.png" for s in REGION]
)


def any_of(names):
    """A regular expression that matches any of the names."""
    return "|".join(map(re.escape, sorted(names))) or "(?!)"


wildcard_constraints:
    sample=any_of(FASTA),
    model=any_of(CHECKPOINT),
    training=any_of(TRAININGS),
    group=any_of(RUNS_OF_TRAINING),
    dataset=any_of({d for _, d in MEASURED} | CUTOFFS.keys()),
    part=r"[0-9]+",
    parts=r"[0-9]+",


def fasta_of(wildcards):
    return [FASTA[wildcards.sample]]


def genes_of(wildcards):
    return [GENES[wildcards.sample]] if wildcards.sample in GENES else []


def variants_of(wildcards):
    return [VARIANTS[wildcards.sample]]


def explain_of(wildcards):
    return [EXPLAIN[wildcards.sample]]


def signals_of(wildcards):
    """The predictions of a sample, and its measured coverage."""
    return sorted(f"predictions/{s}.{m}.h5" for s, m in RUNS if s == wildcards.sample) + sorted(
        f"measured/{s}.{d}.h5" for s, d in MEASURED if s == wildcards.sample
    )


def measured_of(wildcards):
    return MEASURED[wildcards.sample, wildcards.dataset].split(";")


def files(paths_of):
    """An input function: those of paths_of(wildcards) that Snakemake manages."""
    return lambda wildcards: [path for path in paths_of(wildcards) if "://" not in path]


def urls(paths_of):
    """The others, which the tools read themselves, as a parameter."""
    return lambda wildcards: [path for path in paths_of(wildcards) if "://" in path]


def shift_of(wildcards):
    """The option that centres the reads of ATAC-seq on the cuts. A track, unlike reads, is already centred or not."""
    has_reads = any(not re.sub(r"\.gz$", "", bam.lower()).endswith(TRACK_SUFFIXES) for bam in measured_of(wildcards))
    return "--shift" if ASSAY[wildcards.sample, wildcards.dataset] == "atacseq" and has_reads else ""


def checkpoint_of(wildcards):
    return CHECKPOINT[wildcards.model]


def group_of(wildcards):
    """The group of jobs of a genome. Allows it several, as --group-components does, which Snakemake 8 reads after the rules."""
    group = GROUPS[wildcards.sample, wildcards.model]
    settings = getattr(workflow, "group_settings", workflow)  # of Snakemake 8, of Snakemake 7
    settings.group_components = {**settings.group_components, group: GENOMES_PER_JOB}
    return group


def read_info(path):
    """What `h5chunk info --json` wrote about a file."""
    with open(path, encoding="utf-8") as file:
        return json.load(file)["files"][0]


def datasets_of(path):
    """The datasets that a model predicts, [] if it is none. The file `path` describes it."""
    return read_info(path).get("hyperparameters", {}).get("datasets", [])


def explained(pattern):
    """An input function: the pattern for each explained dataset. Waits for the descriptions of the checkpoints."""

    def paths(wildcards):
        known = {m: datasets_of(checkpoints.checkpoint_info.get(model=m).output[0]) for _, m in EXPLAINED}
        return [pattern.format(sample=s, model=m, target=d) for s, m in EXPLAINED for d in known[m]]

    return paths


explained_bases = explained("bases/{sample}.{model}.{target}/attr.npz")
explained_stats = explained("stats/coveffect_bases/{sample}.{model}.{target}_mqc.json")


def check_datasets(model, path):
    """Fails if the checkpoint of a model, which the file `path` describes, does not predict a dataset of the sheet."""
    name = CHECKPOINT[model]
    known = datasets_of(path)
    if not known:
        fail(f"{name}: not a model of Predmoter or covtrain")
    for (_, m, dataset), where in COMPARED.items():
        if m == model and dataset not in known:
            near = [k for k in known if re.sub(r"\W|_", "", k.lower()) == re.sub(r"\W|_", "", dataset.lower())]
            hint = f"; did you mean {near[0]}?" if near else ""
            fail(f"{where}: unknown dataset {dataset}; {name} predicts {', '.join(known)}{hint}")


def check_known_checkpoints():
    """The same for the checkpoints that an earlier run has described, because the job check_datasets is not repeated for a
    longer sheet; all predictions would be. Not for those that are trained here, since training may change them."""
    for model, checkpoint in CHECKPOINT.items():
        path = f"checkpoints/{model}.info.json"
        if checkpoint in TRAINED:
            continue
        try:
            is_current = read_info(path)["path"] == checkpoint and os.path.getmtime(path) >= os.path.getmtime(checkpoint)
        except (OSError, ValueError, IndexError):  # not there, or not complete
            continue
        if is_current:
            check_datasets(model, path)


check_known_checkpoints()


def data_of_training(wildcards):
    return TRAININGS[wildcards.training]["data"]


def options_of_training(wildcards):
    return TRAININGS[wildcards.training]["options"]


def lines_of_runs(runs):
    """A line with the name, metrics and options of each network, for training_table.sh."""
    return "".join(f"{run}\ttraining/{run}/metrics.log\t{TRAININGS[run]['options']}\n" for run in runs)


def memory_of(*tools):
    """mem_mb of a job that runs these tools in turn: fixed + per_thread * threads, doubled at each retry, and what Snakemake
    itself takes in a job of a cluster."""

    def mem_mb(wildcards, threads, attempt):
        needs = [config[tool]["mem_mb"] for tool in tools]
        return 260 + max(need["fixed"] + need["per_thread"] * threads for need in needs) * 2 ** (attempt - 1)

    return mem_mb


def write_versions(stats, path):
    """Writes the versions that made the results, {tool: [version]}, from their statistics."""
    versions = {"snakemake": {snakemake.__version__}}
    for name in stats:
        with open(name, encoding="utf-8") as file:
            run = json.load(file)
        versions.setdefault(run["tool"], set()).add(run["version"])
    with open(path, "w", encoding="utf-8") as file:
        json.dump({tool: sorted(versions[tool]) for tool in sorted(versions)}, file, indent=2)
