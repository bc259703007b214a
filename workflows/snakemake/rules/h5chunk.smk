# Checks checkpoints before they are used, and describes and verifies predictions files. SPDX-License-Identifier: MIT

localrules:
    check_datasets,


# Runs first, so that a wrong sheet costs no time. Which peaks there are depends on the datasets of the model.
checkpoint checkpoint_info:
    input:
        checkpoint_of,
    output:
        "checkpoints/{model}.info.json",
    log:
        "logs/checkpoint_info/{model}.log",
    threads: 1
    priority: 100
    resources:
        mem_mb=memory_of("h5chunk"),
        runtime=config["h5chunk"]["runtime"],
    conda:
        "../envs/covtools.yaml"
    container:
        config["container"]
    shell:
        "h5chunk info --json -- {input:q} > {output:q} 2> {log:q}"


rule check_datasets:
    input:
        "checkpoints/{model}.info.json",
    output:
        touch("checkpoints/{model}.checked"),
    log:
        "logs/check_datasets/{model}.log",
    priority: 100
    run:
        check_datasets(wildcards.model, input[0])


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
