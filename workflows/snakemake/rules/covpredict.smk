# Predicts a genome in one job, or in one job per shard and merges these. An interrupted job resumes from its journal.
# SPDX-License-Identifier: MIT

# The options that decide about the values.
VALUES = f"--precision {config['precision']}" + (f" --overlap {config['overlap']}" if config["overlap"] else "")

if SHARDS == 1:

    rule covpredict:
        input:
            genome="genomes/{sample}.h5",
            model=checkpoint_of,
            checked="checkpoints/{model}.checked",
        output:
            predictions="predictions/{sample}.{model}.h5",
            stats="stats/covpredict/{sample}.{model}_mqc.json",
        log:
            "logs/covpredict/{sample}.{model}.log",
        benchmark:
            "benchmarks/covpredict/{sample}.{model}.tsv"
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
            "covpredict -f --resume -v -@ {threads} -m {input.model:q} --stats {output.stats:q}"
            " {params.values} {params.extra} -o {output.predictions:q} -- {input.genome:q} 2> {log:q}"

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
            predictions="predictions/{sample}.{model}.h5",
            stats="stats/h5chunk_merge/{sample}.{model}_mqc.json",
        log:
            "logs/h5chunk_merge/{sample}.{model}.log",
        benchmark:
            "benchmarks/h5chunk_merge/{sample}.{model}.tsv"
        params:
            shard_stats=lambda wildcards, input: ",".join(input.stats),
            extra=config["h5chunk"]["extra"],
        threads: config["h5chunk"]["threads"]
        resources:
            mem_mb=memory_of("h5chunk"),
            runtime=config["h5chunk"]["runtime"],
        conda:
            "../envs/covtools.yaml"
        container:
            config["container"]
        shell:
            "h5chunk merge -f -v -@ {threads} --shard-stats {params.shard_stats:q} --stats {output.stats:q}"
            " {params.extra} -o {output.predictions:q} {input.shards:q} 2> {log:q}"
