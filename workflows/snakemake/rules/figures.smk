# Which pictures of all runs there are, if these are several: scores as heatmaps, curves of precision and recall, profiles around genes.
# SPDX-License-Identifier: MIT


def several(runs):
    """The runs, sorted, unless they are of a single sample and model."""
    return sorted(runs) if len({(s, m) for s, m, *_ in runs}) > 1 else []


# The tables of each heatmap, and their column.
HEATMAPS = {
    "pearson": ("pearson_1", [f"metrics/{s}.{m}.{d}.compare.tsv" for s, m, d in several(COMPARED)]),
    "f1": ("f1", [f"metrics/{s}.{m}.{d}.peaks.tsv" for s, m, d in several(COMPARED_PEAKS)]),
}
CURVES_OF = {d: several([run for run in CURVES if run[2] == d]) for _, _, d in CURVES}
FIGURES = [f"figures/{score}.tsv" for score, (_, tables) in HEATMAPS.items() if tables] + [
    f"figures/{d}.curve.tsv" for d, runs in CURVES_OF.items() if runs
]
FIGURE_STATS = [f"stats/covprofile_heatmap/{score}_mqc.json" for score, (_, tables) in HEATMAPS.items() if tables] + [
    f"stats/covpeaks_curves/{d}_mqc.json" for d, runs in CURVES_OF.items() if runs
]
FIGURE_PLOTS = [path.replace("_mqc", ".scores_mqc" if "heatmap" in path else ".curve_mqc") for path in FIGURE_STATS]


def gene_runs(dataset):
    """(sample, model) of the runs that predict the dataset for a sample with an annotation."""
    known = {m: datasets_of(checkpoints.checkpoint_info.get(model=m).output[0]) for s, m in RUNS if s in GENES}
    return several([(s, m) for s, m in RUNS if s in GENES and dataset in known[m]])


def gene_figures(pattern):
    """An input function: the pattern for each dataset with several such runs."""

    def paths(wildcards):
        models = dict.fromkeys(m for s, m in RUNS if s in GENES)
        known = dict.fromkeys(d for m in models for d in datasets_of(checkpoints.checkpoint_info.get(model=m).output[0]))
        return [pattern.format(target=d) for d in known if gene_runs(d)]

    return paths


gene_tables = gene_figures("figures/{target}.genes.tsv")
gene_stats = gene_figures("stats/covprofile_species/{target}_mqc.json")
gene_plots = gene_figures("stats/covprofile_species/{target}.profile_mqc.json")
