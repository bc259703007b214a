# Trains the network NAME of `training`; trained/NAME.ckpt is the checkpoint of its best epoch. Snakemake does not manage
# the directory training/NAME, so that an interrupted job resumes from its last checkpoint. If training/NAME/complete exists,
# the job is run again because something has changed, and starts anew.
# SPDX-License-Identifier: MIT


rule covtrain:
    input:
        data=data_of_training,
    output:
        checkpoint="trained/{training}.ckpt",
        stats="stats/covtrain/{training}_mqc.json",
    log:
        "logs/covtrain/{training}.log",
    benchmark:
        "benchmarks/covtrain/{training}.tsv"
    params:
        directory="training/{training}",
        options=options_of_training,
        extra=config["covtrain"]["extra"],
    threads: config["covtrain"]["threads"]
    resources:
        mem_mb=memory_of("covtrain"),
        runtime=config["covtrain"]["runtime"],
    conda:
        "../envs/covtools.yaml"
    container:
        config["container"]
    shell:
        "[ ! -e {params.directory}/complete ] || rm -f {params.directory}/last.ckpt {params.directory}/complete;"
        " how=-f; [ ! -e {params.directory}/last.ckpt ] || how='--resume-training {params.directory}/last.ckpt';"
        " covtrain -v -@ {threads} $how --stats {output.stats:q} {params.options} {params.extra}"
        " -i {input.data:q} -o {params.directory} 2> {log:q} && cp {params.directory}/best.ckpt {output.checkpoint:q}"
        " && : >{params.directory}/complete"
