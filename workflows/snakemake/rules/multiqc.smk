# Makes a report of the statistics of all steps. SPDX-License-Identifier: MIT

localrules:
    versions,


rule versions:
    input:
        STATS,
        SHARD_STATS,
        FIGURE_STATS,
        gene_stats,
        peak_stats,
        explained_stats,
    output:
        "stats/covtools_mqc_versions.yml",
    log:
        "logs/versions.log",
    run:
        write_versions(input, output[0])


rule multiqc:
    input:
        STATS,
        PLOTS,
        CURVE_PLOTS,
        FIGURE_STATS,
        FIGURE_PLOTS,
        gene_stats,
        gene_plots,
        peak_stats,
        explained_stats,
        "stats/covtools_mqc_versions.yml",
    output:
        report="report/multiqc_report.html",
        data=directory("report/multiqc_report_data"),
    log:
        "logs/multiqc.log",
    benchmark:
        "benchmarks/multiqc.tsv"
    params:
        extra=config["multiqc"]["extra"],
    threads: 1
    resources:
        mem_mb=2000,
        runtime=30,
    conda:
        "../envs/multiqc.yaml"
    container:
        config["multiqc"]["container"]
    shell:
        "multiqc -f --title covtools --fullnames {params.extra} -o report -n multiqc_report.html {input:q} > {log:q} 2>&1"
