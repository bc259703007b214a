# Converts FASTA to a genome file, for measured coverage and for shards. It is kept, because making it again would repeat the
# predictions of shards. SPDX-License-Identifier: MIT


rule fasta2h5:
    input:
        files(fasta_of),
    output:
        genome="genomes/{sample}.h5",
        stats="stats/fasta2h5/{sample}_mqc.json",
    log:
        "logs/fasta2h5/{sample}.log",
    benchmark:
        "benchmarks/fasta2h5/{sample}.tsv"
    params:
        urls=urls(fasta_of),
        extra=config["fasta2h5"]["extra"],
    threads: config["fasta2h5"]["threads"]
    resources:
        mem_mb=memory_of("fasta2h5"),
        runtime=config["fasta2h5"]["runtime"],
    conda:
        "../envs/covtools.yaml"
    container:
        config["container"]
    shell:
        "fasta2h5 -f -v -@ {threads} --species {wildcards.sample:q} --stats {output.stats:q} {params.extra}"
        " -o {output.genome:q} -- {input:q} {params.urls:q} 2> {log:q}"
