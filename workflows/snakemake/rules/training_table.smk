# A table and a plot of the networks of each entry of `training`.
# SPDX-License-Identifier: MIT


localrules:
    training_table,


rule training_table:
    input:
        checkpoints=lambda wildcards: [f"trained/{run}.ckpt" for run in RUNS_OF_TRAINING[wildcards.group]],
        script=workflow.source_path("../../nextflow/training_table.sh"),
    output:
        table="trained/{group}.tsv",
        plot="trained/{group}.svg",
        runs=temp("trained/{group}.runs"),
    log:
        "logs/training_table/{group}.log",
    params:
        runs=lambda wildcards: lines_of_runs(RUNS_OF_TRAINING[wildcards.group]),
    conda:
        "../envs/covtools.yaml"
    container:
        config["container"]
    shell:
        "printf %s {params.runs:q} >{output.runs:q} && "
        "sh {input.script:q} {output.runs:q} {output.plot:q} >{output.table:q} 2>{log:q}"
