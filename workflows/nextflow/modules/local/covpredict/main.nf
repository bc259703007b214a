process COVPREDICT {
    tag "$meta.id"
    label 'process_high'

    conda "${moduleDir}/environment.yml"
    container "${ workflow.containerEngine in ['singularity', 'apptainer'] && !task.ext.singularity_pull_docker_container
        ? "${projectDir}/../../covtools.sif"
        : 'covtools:0.1.0' }"

    input:
    tuple val(meta), path(genome), path(model), val(shard)

    output:
    tuple val(meta), path("${prefix}.predictions.h5"), emit: predictions
    tuple val(meta), path("${prefix}_mqc.json"), emit: stats
    tuple val("${task.process}"), val('covpredict'), eval("covpredict --version | sed '1!d;s/.* //'"), topic: versions, emit: versions_covpredict

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    def part = shard ? "--shard ${shard}" : ''
    prefix = task.ext.prefix ?: "${meta.id}"
    prefix = shard ? "${prefix}.${shard.replace('/', 'of')}" : prefix
    """
    covpredict -f -@ ${task.cpus} -m ${model} ${part} --stats ${prefix}_mqc.json ${args} \\
        -o ${prefix}.predictions.h5 ${genome}
    """

    stub:
    prefix = task.ext.prefix ?: "${meta.id}"
    prefix = shard ? "${prefix}.${shard.replace('/', 'of')}" : prefix
    """
    touch ${prefix}.predictions.h5 ${prefix}_mqc.json
    """
}
