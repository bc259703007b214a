# Which peaks there are, and the options for them. SPDX-License-Identifier: MIT

MEASURED_PEAKS = [(s, d) for s, d in MEASURED if d in MEASURED_CUTOFFS]
COMPARED_PEAKS = [(s, m, d) for s, m, d in COMPARED if d in CUTOFFS and d in MEASURED_CUTOFFS]
CURVES = [(s, m, d) for s, m, d in COMPARED if d in MEASURED_CUTOFFS]
PEAK_METRICS = [f"metrics/{s}.{m}.{d}.{kind}.tsv" for s, m, d in COMPARED_PEAKS for kind in ("peaks", "frip")] + [
    f"metrics/{s}.{m}.{d}.curve.tsv" for s, m, d in CURVES
]
CURVE_PLOTS = [f"stats/covpeaks_curve/{s}.{m}.{d}.curve_mqc.json" for s, m, d in CURVES]


def predicted_peaks():
    """(sample, model, dataset) of the predicted datasets that have a cutoff. Waits for the descriptions of the checkpoints."""
    if not config["peaks"]:
        return []
    known = {model: datasets_of(checkpoints.checkpoint_info.get(model=model).output[0]) for model in CHECKPOINT}
    for dataset in {**CUTOFFS, **MEASURED_CUTOFFS}:
        if dataset not in ASSAY_OF_DATASET and not any(dataset in datasets for datasets in known.values()):
            fail(f"configuration: unknown dataset {dataset} has a cutoff for peaks; no model predicts it")
    return [(s, m, d) for s, m in RUNS for d in known[m] if d in CUTOFFS]


def kind_of(cutoffs):
    return "gappedPeak" if len(cutoffs) == 2 else "narrowPeak"


def peaks_of(sample, model, dataset):
    return f"peaks/{sample}.{model}.{dataset}.{kind_of(CUTOFFS[dataset])}"


def measured_peaks_of(sample, dataset):
    return f"peaks/{sample}.{dataset}.measured.{kind_of(MEASURED_CUTOFFS[dataset])}"


def peak_files(wildcards):
    return [peaks_of(*names) for names in predicted_peaks()] + [measured_peaks_of(*names) for names in MEASURED_PEAKS]


def wanted_peaks(wildcards):
    if not config["peaks"]:
        fail("the target peaks needs the configuration peaks: true")
    return peak_files(wildcards)


def peak_stats(wildcards):
    return (
        [f"stats/covpeaks_call/{kind_of(CUTOFFS[d])}/{s}.{m}.{d}_mqc.json" for s, m, d in predicted_peaks()]
        + [f"stats/covpeaks_call/{kind_of(MEASURED_CUTOFFS[d])}/{s}.{d}.measured_mqc.json" for s, d in MEASURED_PEAKS]
        + [f"stats/covpeaks_compare/{s}.{m}.{d}.covpeaks_mqc.json" for s, m, d in COMPARED_PEAKS]
        + [f"stats/covpeaks_stats/{s}.{m}.{d}_mqc.json" for s, m, d in COMPARED_PEAKS]
        + [f"stats/covpeaks_curve/{s}.{m}.{d}_mqc.json" for s, m, d in CURVES]
    )


def options_of_peaks(table):
    """A function of wildcards: the options for cutoffs, and for the lengths that suit the assay."""

    def options(wildcards):
        cutoff, *weak = table[wildcards.dataset]
        assay = ASSAY.get((wildcards.sample, wildcards.dataset)) or ASSAY_OF_DATASET.get(wildcards.dataset)
        preset = {"atacseq": " --preset atac", "chipseq": " --preset h3k4me3" if weak else ""}.get(assay, "")
        smooth = f" --window-size {config['window_size']}" if config["window_size"] else ""
        return f"-c {cutoff}" + (f" --broad -C {weak[0]}" if weak else "") + preset + smooth

    return options
