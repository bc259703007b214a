# Converts a prediction to tracks, one per dataset, and compares it with measured coverage. SPDX-License-Identifier: MIT


# The directory has the files SAMPLE.MODEL_DATASET_avg_strand.bw. Only the checkpoint knows the datasets.
rule cov2bigwig:
    input:
        "predictions/{sample}.{model}.h5",
    output:
        tracks=directory("tracks/{sample}.{model}"),
        stats="stats/cov2bigwig/{sample}.{model}_mqc.json",
    log:
        "logs/cov2bigwig/{sample}.{model}.log",
    benchmark:
        "benchmarks/cov2bigwig/{sample}.{model}.tsv"
    params:
        smooth=f"--window-size {config['window_size']}" if config["window_size"] else "",
        extra=config["cov2bigwig"]["extra"],
    threads: config["cov2bigwig"]["threads"]
    resources:
        mem_mb=memory_of("cov2bigwig"),
        runtime=config["cov2bigwig"]["runtime"],
    conda:
        "../envs/covtools.yaml"
    container:
        config["container"]
    shell:
        "cov2bigwig -f -v -@ {threads} --stats {output.stats:q} {params.smooth} {params.extra}"
        " -o {output.tracks:q}/ {input:q} 2> {log:q}"


rule cov2bigwig_compare:
    input:
        predictions="predictions/{sample}.{model}.h5",
        measured="measured/{sample}.{dataset}.h5",
    output:
        table="metrics/{sample}.{model}.{dataset}.compare.tsv",
        stats="stats/compare/{sample}.{model}.{dataset}_mqc.json",
        plot="stats/compare/{sample}.{model}.{dataset}.correlation_mqc.json",
    log:
        "logs/cov2bigwig_compare/{sample}.{model}.{dataset}.log",
    benchmark:
        "benchmarks/cov2bigwig_compare/{sample}.{model}.{dataset}.tsv"
    params:
        extra=config["compare"]["extra"],
    threads: config["cov2bigwig"]["threads"]
    resources:
        mem_mb=memory_of("compare"),
        runtime=config["cov2bigwig"]["runtime"],
    conda:
        "../envs/covtools.yaml"
    container:
        config["container"]
    shell:
        "cov2bigwig -f -v -@ {threads} --datasets {wildcards.dataset:q} --measured {input.measured:q}"
        " --stats {output.stats:q} {params.extra} -o {output.table:q} {input.predictions:q} 2> {log:q}"
