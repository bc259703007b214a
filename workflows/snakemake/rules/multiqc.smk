# Makes a report of the statistics of all steps. SPDX-License-Identifier: MIT
import json

import snakemake


localrules:
    versions,


# The versions that made the results, from their statistics.
rule versions:
    input:
        STATS,
        SHARD_STATS,
    output:
        "stats/covtools_mqc_versions.yml",
    run:
        versions = {"snakemake": {snakemake.__version__}}
        for path in input:
            with open(path, encoding="utf-8") as file:
                stats = json.load(file)
            versions.setdefault(stats["tool"], set()).add(stats["version"])
        with open(output[0], "w", encoding="utf-8") as file:
            json.dump({tool: sorted(versions[tool]) for tool in sorted(versions)}, file, indent=2)


rule multiqc:
    input:
        STATS,
        PLOTS,
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
