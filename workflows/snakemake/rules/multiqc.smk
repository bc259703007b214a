# Makes a report of the statistics of all steps. SPDX-License-Identifier: MIT


rule multiqc:
    input:
        stats=STATS,
        config=workflow.source_path("../config/multiqc.yaml"),
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
        "multiqc -f -c {input.config:q} {params.extra} -o report -n multiqc_report.html {input.stats:q} > {log:q} 2>&1"
