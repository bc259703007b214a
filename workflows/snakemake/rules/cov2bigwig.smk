# Compares a prediction with measured coverage. SPDX-License-Identifier: MIT


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
