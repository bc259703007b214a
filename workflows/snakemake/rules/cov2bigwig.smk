# Converts a prediction to a track, and compares it with measured coverage. SPDX-License-Identifier: MIT


rule cov2bigwig:
    input:
        "predictions/{sample}.{model}.h5",
    output:
        track="tracks/{sample}.{model}.{dataset}.bw",
        stats="stats/cov2bigwig/{sample}.{model}.{dataset}_mqc.json",
    log:
        "logs/cov2bigwig/{sample}.{model}.{dataset}.log",
    benchmark:
        "benchmarks/cov2bigwig/{sample}.{model}.{dataset}.tsv"
    params:
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
        "cov2bigwig -f -v -@ {threads} --datasets {wildcards.dataset:q} --stats {output.stats:q} {params.extra}"
        " -o {output.track:q} {input:q} 2> {log:q}"


rule cov2bigwig_compare:
    input:
        predictions="predictions/{sample}.{model}.h5",
        measured="measured/{sample}.{dataset}.h5",
    output:
        table="metrics/compare/{sample}.{model}.{dataset}.tsv",
        stats="stats/compare/{sample}.{model}.{dataset}_mqc.json",
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
        "cov2bigwig -f -v -@ {threads} --datasets {wildcards.dataset:q} --compare {input.measured:q}"
        " --stats {output.stats:q} {params.extra} -o {output.table:q} {input.predictions:q} 2> {log:q}"
