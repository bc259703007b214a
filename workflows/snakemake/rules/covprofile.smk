# Compares the predictions of a sample with each other and with measured coverage: around the genes of its annotation, in a region,
# and by correlations. SPDX-License-Identifier: MIT


rule covprofile_genes:
    input:
        genes=files(genes_of),
        signals=signals_of,
    output:
        table="metrics/{sample}.genes.tsv",
        stats="stats/covprofile_genes/{sample}_mqc.json",
        plot="stats/covprofile_genes/{sample}.profile_mqc.json",
    log:
        "logs/covprofile_genes/{sample}.log",
    benchmark:
        "benchmarks/covprofile_genes/{sample}.tsv"
    params:
        urls=urls(genes_of),
        extra=config["covprofile"]["extra"],
    threads: config["covprofile"]["threads"]
    resources:
        mem_mb=memory_of("covprofile"),
        runtime=config["covprofile"]["runtime"],
    conda:
        "../envs/covtools.yaml"
    container:
        config["container"]
    shell:
        "covprofile genes -f -v -@ {threads} --genes={input.genes:q}{params.urls:q} --stats {output.stats:q} {params.extra}"
        " -o {output.table:q} {input.signals:q} 2> {log:q}"


rule covprofile_region:
    input:
        genes=files(genes_of),
        signals=signals_of,
    output:
        table="metrics/{sample}.region.tsv",
        plot="metrics/{sample}.region_mqc.png",
        stats="stats/covprofile_region/{sample}_mqc.json",
    log:
        "logs/covprofile_region/{sample}.log",
    benchmark:
        "benchmarks/covprofile_region/{sample}.tsv"
    params:
        urls=urls(genes_of),
        region=lambda wildcards: REGION[wildcards.sample],
        genes=lambda wildcards: "--genes=" if wildcards.sample in GENES else "",
        extra=config["region"]["extra"],
    threads: config["covprofile"]["threads"]
    resources:
        mem_mb=memory_of("covprofile"),
        runtime=config["covprofile"]["runtime"],
    conda:
        "../envs/covtools.yaml"
    container:
        config["container"]
    shell:
        "covprofile region -f -v -@ {threads} -r {params.region:q} {params.genes}{input.genes:q}{params.urls:q}"
        " --stats {output.stats:q} {params.extra} --plot {output.plot:q} -o {output.table:q} {input.signals:q} 2> {log:q}"


rule covprofile_correlate:
    input:
        signals_of,
    output:
        table="metrics/{sample}.correlation.tsv",
        stats="stats/covprofile_correlate/{sample}_mqc.json",
        plot="stats/covprofile_correlate/{sample}.tracks_mqc.json",
    log:
        "logs/covprofile_correlate/{sample}.log",
    benchmark:
        "benchmarks/covprofile_correlate/{sample}.tsv"
    params:
        extra=config["correlate"]["extra"],
    threads: config["covprofile"]["threads"]
    resources:
        mem_mb=memory_of("covprofile"),
        runtime=config["covprofile"]["runtime"],
    conda:
        "../envs/covtools.yaml"
    container:
        config["container"]
    shell:
        "covprofile correlate -f -v -@ {threads} --stats {output.stats:q} {params.extra} -o {output.table:q} {input:q} 2> {log:q}"


rule covprofile_heatmap:
    input:
        tables=lambda wildcards: HEATMAPS[wildcards.score][1],
        script=workflow.source_path("../../nextflow/heatmap.sh"),
    output:
        table="figures/{score}.tsv",
        plot="figures/{score}.png",
        stats="stats/covprofile_heatmap/{score}_mqc.json",
        cells="stats/covprofile_heatmap/{score}.scores_mqc.json",
    wildcard_constraints:
        score="|".join(HEATMAPS),
    log:
        "logs/covprofile_heatmap/{score}.log",
    params:
        column=lambda wildcards: HEATMAPS[wildcards.score][0],
    resources:
        mem_mb=memory_of("covprofile"),
        runtime=config["covprofile"]["runtime"],
    conda:
        "../envs/covtools.yaml"
    container:
        config["container"]
    shell:
        "sh {input.script:q} {params.column} figures/{wildcards.score} {output.stats:q} {input.tables:q} 2> {log:q}"


rule covprofile_species:
    input:
        genes=lambda wildcards: [GENES[s] for s, _ in gene_runs(wildcards.target) if "://" not in GENES[s]],
        predictions=lambda wildcards: [f"predictions/{s}.{m}.h5" for s, m in gene_runs(wildcards.target)],
    output:
        table="figures/{target}.genes.tsv",
        picture="figures/{target}.genes.png",
        stats="stats/covprofile_species/{target}_mqc.json",
        plot="stats/covprofile_species/{target}.profile_mqc.json",
    wildcard_constraints:
        target=r"[^/.]+",
    log:
        "logs/covprofile_species/{target}.log",
    params:
        genes=lambda wildcards: ",".join(GENES[s] for s, _ in gene_runs(wildcards.target)),
        extra=config["covprofile"]["extra"],
    threads: config["covprofile"]["threads"]
    resources:
        mem_mb=memory_of("covprofile"),
        runtime=config["covprofile"]["runtime"],
    conda:
        "../envs/covtools.yaml"
    container:
        config["container"]
    shell:
        "covprofile genes -f -v -@ {threads} --datasets {wildcards.target:q} --genes={params.genes:q} --stats {output.stats:q}"
        " {params.extra} --plot {output.picture:q} -o {output.table:q} {input.predictions:q} 2> {log:q}"
