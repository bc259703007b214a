# Scores the variants of a sample, and explains the bases of regions. SPDX-License-Identifier: MIT


# An interrupted job resumes from its journal.
rule coveffect_vcf:
    input:
        fasta=files(fasta_of),
        variants=files(variants_of),
        genes=files(genes_of),
        model=checkpoint_of,
        checked="checkpoints/{model}.checked",
    output:
        table="effects/{sample}.{model}.tsv",
        stats="stats/coveffect_vcf/{sample}.{model}_mqc.json",
    log:
        "logs/coveffect_vcf/{sample}.{model}.log",
    benchmark:
        "benchmarks/coveffect_vcf/{sample}.{model}.tsv"
    params:
        fasta=urls(fasta_of),
        variants=urls(variants_of),
        urls=urls(genes_of),
        genes=lambda wildcards: "--genes=" if wildcards.sample in GENES else "",
        resume=lambda wildcards: "" if urls(variants_of)(wildcards) else "--resume",
        extra=config["coveffect"]["extra"],
    threads: config["coveffect"]["threads"]
    resources:
        mem_mb=memory_of("coveffect"),
        runtime=config["coveffect"]["runtime"],
    conda:
        "../envs/covtools.yaml"
    container:
        config["container"]
    shell:
        "coveffect vcf -f {params.resume} -v -@ {threads} -m {input.model:q} --genome={input.fasta:q}{params.fasta:q}"
        " {params.genes}{input.genes:q}{params.urls:q}"
        " --stats {output.stats:q} {params.extra} -o {output.table:q} -- {input.variants:q} {params.variants:q} 2> {log:q}"
        " && rm -f {output.table:q}.resume"


rule coveffect_bases:
    input:
        fasta=files(fasta_of),
        regions=files(explain_of),
        model=checkpoint_of,
        checked="checkpoints/{model}.checked",
    output:
        multiext("bases/{sample}.{model}.{target}/", "attr.npz", "ohe.npz", "scores.h5", "scores.bw", "regions.bed"),
        stats="stats/coveffect_bases/{sample}.{model}.{target}_mqc.json",
    wildcard_constraints:
        target=r"[^/.]+",
    log:
        "logs/coveffect_bases/{sample}.{model}.{target}.log",
    benchmark:
        "benchmarks/coveffect_bases/{sample}.{model}.{target}.tsv"
    params:
        fasta=urls(fasta_of),
        regions=urls(explain_of),
        how=config["bases"]["method"],
        extra=config["bases"]["extra"],
    threads: config["coveffect"]["threads"]
    resources:
        mem_mb=memory_of("coveffect"),
        runtime=config["coveffect"]["runtime"],
    conda:
        "../envs/covtools.yaml"
    container:
        config["container"]
    shell:
        "coveffect {params.how} -f -v -@ {threads} -m {input.model:q} --genome={input.fasta:q}{params.fasta:q}"
        " --regions-file={input.regions:q}{params.regions:q} --dataset {wildcards.target:q} --stats {output.stats:q} {params.extra}"
        " -o bases/{wildcards.sample:q}.{wildcards.model:q}.{wildcards.target:q}/ 2> {log:q}"
