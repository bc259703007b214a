# Describes and verifies a predictions file. SPDX-License-Identifier: MIT


rule h5chunk_info:
    input:
        "predictions/{sample}.{model}.h5",
    output:
        info="metrics/{sample}.{model}.info.json",
        stats="stats/h5chunk_info/{sample}.{model}_mqc.json",
    log:
        "logs/h5chunk_info/{sample}.{model}.log",
    benchmark:
        "benchmarks/h5chunk_info/{sample}.{model}.tsv"
    threads: 1
    resources:
        mem_mb=memory_of("h5chunk"),
        runtime=config["h5chunk"]["runtime"],
    conda:
        "../envs/covtools.yaml"
    container:
        config["container"]
    shell:
        "h5chunk info --json -f --stats {output.stats:q} {input:q} > {output.info:q} 2> {log:q}"


# Faults are in the log and stop the workflow.
rule h5chunk_verify:
    input:
        "predictions/{sample}.{model}.h5",
    output:
        stats="stats/h5chunk_verify/{sample}.{model}_mqc.json",
    log:
        "logs/h5chunk_verify/{sample}.{model}.log",
    benchmark:
        "benchmarks/h5chunk_verify/{sample}.{model}.tsv"
    threads: config["h5chunk"]["threads"]
    resources:
        mem_mb=memory_of("h5chunk"),
        runtime=config["h5chunk"]["runtime"],
    conda:
        "../envs/covtools.yaml"
    container:
        config["container"]
    shell:
        "h5chunk verify -f -@ {threads} --stats {output.stats:q} {input:q} > {log:q} 2>&1"
