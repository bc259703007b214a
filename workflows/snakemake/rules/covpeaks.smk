# Calls the peaks of predicted and measured coverage, compares these, and shows how well the values of predictions find the
# measured ones over all cutoffs; peaks.smk selects them. SPDX-License-Identifier: MIT


rule covpeaks_call:
    input:
        "predictions/{sample}.{model}.h5",
    output:
        peaks="peaks/{sample}.{model}.{dataset}.{kind}",
        stats="stats/covpeaks_call/{kind}/{sample}.{model}.{dataset}_mqc.json",
    log:
        "logs/covpeaks_call/{sample}.{model}.{dataset}.{kind}.log",
    benchmark:
        "benchmarks/covpeaks_call/{sample}.{model}.{dataset}.{kind}.tsv"
    wildcard_constraints:
        kind="narrowPeak|gappedPeak",
    params:
        options=options_of_peaks(CUTOFFS),
        extra=config["covpeaks"]["extra"],
    threads: config["covpeaks"]["threads"]
    resources:
        mem_mb=memory_of("covpeaks"),
        runtime=config["covpeaks"]["runtime"],
    conda:
        "../envs/covtools.yaml"
    container:
        config["container"]
    shell:
        "covpeaks call -f -v -@ {threads} --datasets {wildcards.dataset:q} --stats {output.stats:q}"
        " {params.options} {params.extra} -o {output.peaks:q} {input:q} 2> {log:q}"


use rule covpeaks_call as covpeaks_call_measured with:
    input:
        "measured/{sample}.{dataset}.h5",
    output:
        peaks="peaks/{sample}.{dataset}.measured.{kind}",
        stats="stats/covpeaks_call/{kind}/{sample}.{dataset}.measured_mqc.json",
    log:
        "logs/covpeaks_call/{sample}.{dataset}.measured.{kind}.log",
    benchmark:
        "benchmarks/covpeaks_call/{sample}.{dataset}.measured.{kind}.tsv"
    params:
        options=options_of_peaks(MEASURED_CUTOFFS),
        extra=f"--experimental {config['covpeaks']['extra']}",


# MultiQC orders columns by the names of files, which therefore differ from those of cov2bigwig --measured.
rule covpeaks_compare:
    input:
        predicted=lambda wildcards: peaks_of(wildcards.sample, wildcards.model, wildcards.dataset),
        measured=lambda wildcards: measured_peaks_of(wildcards.sample, wildcards.dataset),
        genome="genomes/{sample}.h5",
    output:
        table="metrics/{sample}.{model}.{dataset}.peaks.tsv",
        stats="stats/covpeaks_compare/{sample}.{model}.{dataset}.covpeaks_mqc.json",
    log:
        "logs/covpeaks_compare/{sample}.{model}.{dataset}.log",
    benchmark:
        "benchmarks/covpeaks_compare/{sample}.{model}.{dataset}.tsv"
    params:
        extra=config["compare_peaks"]["extra"],
    threads: 1
    resources:
        mem_mb=memory_of("covpeaks"),
        runtime=config["covpeaks"]["runtime"],
    conda:
        "../envs/covtools.yaml"
    container:
        config["container"]
    shell:
        "covpeaks compare -f -v --stats {output.stats:q} {params.extra} --genome {input.genome:q}"
        " --dataset {wildcards.dataset:q} {input.predicted:q} {input.measured:q} > {output.table:q} 2> {log:q}"


# Which fraction of the measured signal is in predicted and in measured peaks (FRiP).
rule covpeaks_stats:
    input:
        predicted=lambda wildcards: peaks_of(wildcards.sample, wildcards.model, wildcards.dataset),
        measured=lambda wildcards: measured_peaks_of(wildcards.sample, wildcards.dataset),
        signal="measured/{sample}.{dataset}.h5",
    output:
        table="metrics/{sample}.{model}.{dataset}.frip.tsv",
        stats="stats/covpeaks_stats/{sample}.{model}.{dataset}_mqc.json",
    log:
        "logs/covpeaks_stats/{sample}.{model}.{dataset}.log",
    benchmark:
        "benchmarks/covpeaks_stats/{sample}.{model}.{dataset}.tsv"
    threads: config["covpeaks"]["threads"]
    resources:
        mem_mb=memory_of("covpeaks"),
        runtime=config["covpeaks"]["runtime"],
    conda:
        "../envs/covtools.yaml"
    container:
        config["container"]
    shell:
        "covpeaks stats -f -v -@ {threads} --signal={input.signal:q} --genome={input.signal:q} --stats {output.stats:q}"
        " -o {output.table:q} {input.predicted:q} {input.measured:q} 2> {log:q}"


rule covpeaks_curve:
    input:
        measured=lambda wildcards: measured_peaks_of(wildcards.sample, wildcards.dataset),
        predictions="predictions/{sample}.{model}.h5",
    output:
        table="metrics/{sample}.{model}.{dataset}.curve.tsv",
        stats="stats/covpeaks_curve/{sample}.{model}.{dataset}_mqc.json",
        plot="stats/covpeaks_curve/{sample}.{model}.{dataset}.curve_mqc.json",
    log:
        "logs/covpeaks_curve/{sample}.{model}.{dataset}.log",
    benchmark:
        "benchmarks/covpeaks_curve/{sample}.{model}.{dataset}.tsv"
    params:
        extra=config["curve"]["extra"],
    threads: config["covpeaks"]["threads"]
    resources:
        mem_mb=memory_of("covpeaks"),
        runtime=config["covpeaks"]["runtime"],
    conda:
        "../envs/covtools.yaml"
    container:
        config["container"]
    shell:
        "covpeaks curve -f -v -@ {threads} --datasets {wildcards.dataset:q} --measured={input.measured:q} --stats {output.stats:q}"
        " {params.extra} -o {output.table:q} {input.predictions:q} 2> {log:q}"


rule covpeaks_curves:
    input:
        measured=lambda wildcards: [measured_peaks_of(s, d) for s, _, d in CURVES_OF[wildcards.dataset]],
        predictions=lambda wildcards: [f"predictions/{s}.{m}.h5" for s, m, _ in CURVES_OF[wildcards.dataset]],
    output:
        table="figures/{dataset}.curve.tsv",
        picture="figures/{dataset}.curve.png",
        stats="stats/covpeaks_curves/{dataset}_mqc.json",
        plot="stats/covpeaks_curves/{dataset}.curve_mqc.json",
    log:
        "logs/covpeaks_curves/{dataset}.log",
    params:
        measured=lambda wildcards, input: ",".join(input.measured),
    threads: config["covpeaks"]["threads"]
    resources:
        mem_mb=memory_of("covpeaks"),
        runtime=config["covpeaks"]["runtime"],
    conda:
        "../envs/covtools.yaml"
    container:
        config["container"]
    shell:
        "covpeaks curve -f -v -@ {threads} --datasets {wildcards.dataset:q} --measured={params.measured:q} --stats {output.stats:q}"
        " --plot {output.picture:q} -o {output.table:q} {input.predictions:q} 2> {log:q}"
