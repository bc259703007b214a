# Checks checkpoints before they are used. SPDX-License-Identifier: MIT

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
