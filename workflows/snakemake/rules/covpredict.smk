# Predicts a genome and makes its tracks: in one job that reads the FASTA, in a job for several genomes in turn, or in a job for
# each shard of the genome file and one that merges these. An interrupted job resumes from its journal. Only the checkpoint knows the names of the tracks:
# tracks/SAMPLE.MODEL/SAMPLE.MODEL_DATASET_avg_strand.bw.
# SPDX-License-Identifier: MIT

# The options that decide about the values. The FASTA is read as fasta2h5 reads it; how that stores bases does not matter.
OVERLAP = f"--overlap {config['overlap']}" if config["overlap"] else ""
VALUES = f"--precision {config['precision']} {OVERLAP}"
SEQUENCES = re.sub(r"--(compression|layout)[ =]\S*", "", config["fasta2h5"]["extra"])
SMOOTHING = f"--window-size {config['window_size']}" if config["window_size"] else ""
# The files of a predicted genome.
PREDICTED = dict(
    predictions="predictions/{sample}.{model}.h5",
    stats=f"stats/{'covpredict' if SHARDS == 1 else 'h5chunk_merge'}/{{sample}}.{{model}}_mqc.json",
    info="metrics/{sample}.{model}.info.json",
    info_stats="stats/h5chunk_info/{sample}.{model}_mqc.json",
    tracks="tracks/{sample}.{model}",
    tracks_stats="stats/cov2bigwig/{sample}.{model}_mqc.json",
)
OUTPUTS = PREDICTED | dict(tracks=directory(PREDICTED["tracks"]))
# The end of all jobs describes the predictions, and reads all of them again for the tracks.
MAKE_TRACKS = (
    "h5chunk info --json -f --stats {output.info_stats:q} {output.predictions:q} > {output.info:q} 2>> {log:q}"
    " && cov2bigwig -f -v -@ {threads} --stats {output.tracks_stats:q} {params.smoothing} -o {output.tracks:q}/"
    " {output.predictions:q} 2>> {log:q}"
)
PREDICT_GENOME = (
    "covpredict -f --resume -v -@ {threads} -m {input.model:q} --species {wildcards.sample:q} --stats {output.stats:q}"
    " {params.values} {params.extra} -o {output.predictions:q} -- {input.fasta:q} {params.urls:q} 2> {log:q} && "
) + MAKE_TRACKS

if GENOMES_PER_JOB > 1:
    # Jobs of predict_in_turn form groups, whose jobs run in turn, because a group has one of the resource `genomes`. If
    # one of them failed, Snakemake would delete the results of all. So it does not fail, and leaves no results to covpredict, which
    # does. Only if it was killed, for example for lack of memory, the whole group is repeated.
    workflow.global_resources["genomes"] = 1

    resource_scopes:
        genomes="local",

    localrules:
        covpredict,
        all_checked,

    # Snakemake forms groups again after each checkpoint, and would mix them if some of their jobs ran already.
    rule all_checked:
        input:
            [f"checkpoints/{model}.checked" for model in CHECKPOINT],
        output:
            touch("checkpoints/all.checked"),

    rule predict_in_turn:
        input:
            fasta=files(fasta_of),
            model=checkpoint_of,
            checked=["checkpoints/{model}.checked", ancient("checkpoints/all.checked")],
        output:
            temp(directory("predicted/{sample}.{model}")),
        log:
            "logs/predict_in_turn/{sample}.{model}.log",
        benchmark:
            "benchmarks/covpredict/{sample}.{model}.tsv"
        params:
            urls=urls(fasta_of),
            values=VALUES,
            extra=f"{SEQUENCES} {config['covpredict']['extra']}",
            smoothing=f"{SMOOTHING} {config['cov2bigwig']['extra']}",
            names=list(PREDICTED.values()),
            **PREDICTED,
        group:
            group_of
        threads: config["covpredict"]["threads"]
        resources:
            mem_mb=memory_of("covpredict", "cov2bigwig"),
            runtime=-(-config["covpredict"]["runtime"] // GENOMES_PER_JOB),  # Snakemake adds them up
            genomes=1,
        conda:
            "../envs/covtools.yaml"
        container:
            config["container"]
        shell:
            'rm -rf {params.names:q}; for name in {params.names:q}; do mkdir -p "$(dirname "$name")" {output:q}/"$(dirname "$name")"; done;'
            f" {{{{ {PREDICT_GENOME.replace('{output.', '{params.')}; }}}} || [ $? -lt 128 ] || exit 1;"
            ' for name in {params.names:q}; do [ ! -e "$name" ] || mv "$name" {output:q}/"$name"; done'

    rule covpredict:
        input:
            "predicted/{sample}.{model}",
        output:
            **OUTPUTS,
        params:
            log="logs/predict_in_turn/{sample}.{model}.log",
        retries: 0
        shell:
            'for name in {output:q}; do mv {input:q}/"$name" "$name" 2> /dev/null || {{ cat {params.log:q} >&2; rm -rf {input:q}; exit 1; }}; done'

elif SHARDS == 1:

    rule covpredict:
        input:
            fasta=files(fasta_of),
            model=checkpoint_of,
            checked="checkpoints/{model}.checked",
        output:
            **OUTPUTS,
        log:
            "logs/covpredict/{sample}.{model}.log",
        benchmark:
            "benchmarks/covpredict/{sample}.{model}.tsv"
        params:
            urls=urls(fasta_of),
            values=VALUES,
            extra=f"{SEQUENCES} {config['covpredict']['extra']}",
            smoothing=f"{SMOOTHING} {config['cov2bigwig']['extra']}",
        threads: config["covpredict"]["threads"]
        resources:
            mem_mb=memory_of("covpredict", "cov2bigwig"),
            runtime=config["covpredict"]["runtime"],
        conda:
            "../envs/covtools.yaml"
        container:
            config["container"]
        shell:
            PREDICT_GENOME

else:

    rule covpredict_shard:
        input:
            genome="genomes/{sample}.h5",
            model=checkpoint_of,
            checked="checkpoints/{model}.checked",
        output:
            predictions=temp("shards/{sample}.{model}.{part}of{parts}.h5"),
            stats="stats/covpredict/{sample}.{model}.{part}of{parts}_mqc.json",
        log:
            "logs/covpredict/{sample}.{model}.{part}of{parts}.log",
        benchmark:
            "benchmarks/covpredict/{sample}.{model}.{part}of{parts}.tsv"
        params:
            values=VALUES,
            extra=config["covpredict"]["extra"],
        threads: config["covpredict"]["threads"]
        resources:
            mem_mb=memory_of("covpredict"),
            runtime=config["covpredict"]["runtime"],
        conda:
            "../envs/covtools.yaml"
        container:
            config["container"]
        shell:
            "covpredict -f --resume -v -@ {threads} -m {input.model:q} --shard {wildcards.part}/{wildcards.parts}"
            " --stats {output.stats:q} {params.values} {params.extra} -o {output.predictions:q} -- {input.genome:q} 2> {log:q}"

    rule h5chunk_merge:
        input:
            shards=[f"shards/{{sample}}.{{model}}.{i}of{SHARDS}.h5" for i in range(1, SHARDS + 1)],
            stats=[f"stats/covpredict/{{sample}}.{{model}}.{i}of{SHARDS}_mqc.json" for i in range(1, SHARDS + 1)],
        output:
            **OUTPUTS,
        log:
            "logs/h5chunk_merge/{sample}.{model}.log",
        benchmark:
            "benchmarks/h5chunk_merge/{sample}.{model}.tsv"
        params:
            shard_stats=lambda wildcards, input: ",".join(input.stats),
            extra=config["h5chunk"]["extra"],
            smoothing=f"{SMOOTHING} {config['cov2bigwig']['extra']}",
        threads: config["h5chunk"]["threads"]
        resources:
            mem_mb=memory_of("h5chunk", "cov2bigwig"),
            runtime=config["h5chunk"]["runtime"] + config["cov2bigwig"]["runtime"],
        conda:
            "../envs/covtools.yaml"
        container:
            config["container"]
        shell:
            " && ".join(
                (
                    "h5chunk merge -f -v -@ {threads} --shard-stats {params.shard_stats:q} --stats {output.stats:q}"
                    " {params.extra} -o {output.predictions:q} {input.shards:q} 2> {log:q}",
                    MAKE_TRACKS,
                )
            )
