include { check_name } from '../check_name'

process COVPREDICT {
    tag "$meta.id"
    label 'process_high'

    conda "${moduleDir}/environment.yml"
    container "${ workflow.containerEngine in ['singularity', 'apptainer'] && !task.ext.singularity_pull_docker_container
        ? "${projectDir}/../../covtools.sif"
        : 'covtools:0.1.0' }"

    input:
    tuple val(meta), path(genome, stageAs: 'genome/*'), path(model, stageAs: './*'), val(shard)

    output:
    tuple val(meta), path("${prefix}.h5"), emit: predictions
    tuple val(meta), path("${prefix}_mqc.json"), emit: stats
    tuple val("${task.process}"), val('covpredict'), eval("covpredict --version | sed '1!d;s/.* //'"), topic: versions, emit: versions_covpredict

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    def ckpt = "$model" - './' // the predictions store this name
    def part = shard ? "--shard ${shard}" : ''
    prefix = check_name(task.ext.prefix ?: meta.id)
    prefix = shard ? check_name("${prefix}.${shard.replace('/', 'of')}") : prefix
    """
    covpredict -f -@ ${task.cpus} -m ${ckpt} ${part} --stats ${prefix}_mqc.json ${args} \\
        -o ${prefix}.h5 ${genome}
    """

    stub:
    prefix = check_name(task.ext.prefix ?: meta.id)
    prefix = shard ? check_name("${prefix}.${shard.replace('/', 'of')}") : prefix
    """
    touch ${prefix}.h5 ${prefix}_mqc.json
    """
}
