include { check_name } from '../../check_name'

process COV2BIGWIG_COMPARE {
    tag "$meta.id"
    label 'process_medium'

    conda "${moduleDir}/environment.yml"
    container "${ workflow.containerEngine in ['singularity', 'apptainer'] && !task.ext.singularity_pull_docker_container
        ? "${projectDir}/../../covtools.sif"
        : 'covtools:0.1.0' }"

    input:
    tuple val(meta), path(predictions, stageAs: './*'), path(measured, stageAs: 'measured/*')

    output:
    tuple val(meta), path("${prefix}.compare.tsv"), emit: table
    tuple val(meta), path("${prefix}{,.correlation}_mqc.json"), emit: stats
    tuple val("${task.process}"), val('cov2bigwig'), eval("cov2bigwig --version | sed '1!d;s/.* //'"), topic: versions, emit: versions_cov2bigwig

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    prefix = check_name(task.ext.prefix ?: meta.id)
    """
    cov2bigwig -f -@ ${task.cpus} --measured ${measured} --stats ${prefix}_mqc.json ${args} \\
        -o ${prefix}.compare.tsv ${predictions}
    """

    stub:
    prefix = check_name(task.ext.prefix ?: meta.id)
    """
    touch ${prefix}.compare.tsv ${prefix}_mqc.json ${prefix}.correlation_mqc.json
    """
}
