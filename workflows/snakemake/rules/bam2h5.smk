# Adds the measured coverage of a dataset to a genome file. SPDX-License-Identifier: MIT


rule bam2h5:
    input:
        genome="genomes/{sample}.h5",
        bams=files(measured_of),
    output:
        genome=temp("measured/{sample}.{dataset}.h5"),
        stats="stats/bam2h5/{sample}.{dataset}_mqc.json",
    log:
        "logs/bam2h5/{sample}.{dataset}.log",
    benchmark:
        "benchmarks/bam2h5/{sample}.{dataset}.tsv"
    params:
        urls=urls(measured_of),
        shift=shift_of,
        extra=config["bam2h5"]["extra"],
    threads: config["bam2h5"]["threads"]
    resources:
        mem_mb=memory_of("bam2h5"),
        runtime=config["bam2h5"]["runtime"],
    conda:
        "../envs/covtools.yaml"
    container:
        config["container"]
    shell:
        "bam2h5 -f -v -@ {threads} -p {wildcards.dataset:q} --stats {output.stats:q}"
        " {params.shift} {params.extra} -o {output.genome:q} -- {input.genome:q} {input.bams:q} {params.urls:q} 2> {log:q}"
