include { check_name } from '../../check_name'

process COVPEAKS_COMPARE {
    tag "$meta.id"
    label 'process_single'

    conda "${moduleDir}/environment.yml"
    container "${ workflow.containerEngine in ['singularity', 'apptainer'] && !task.ext.singularity_pull_docker_container
        ? "${projectDir}/../../covtools.sif"
        : 'covtools:0.1.0' }"

    input:
    tuple val(meta), path(predicted, stageAs: 'predicted/*'), path(measured, stageAs: 'measured/*'), path(genome, stageAs: 'genome/*')

    output:
    tuple val(meta), path("${prefix}.peaks.tsv"), emit: table
    tuple val(meta), path("${prefix}_mqc.json"), emit: stats
    tuple val("${task.process}"), val('covpeaks'), eval("covpeaks --version | sed '1!d;s/.* //'"), topic: versions, emit: versions_covpeaks

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    prefix = check_name(task.ext.prefix ?: meta.id)
    """
    covpeaks compare -f --stats ${prefix}_mqc.json ${args} --genome ${genome} \\
        ${predicted} ${measured} > ${prefix}.peaks.tsv
    """

    stub:
    prefix = check_name(task.ext.prefix ?: meta.id)
    """
    touch ${prefix}.peaks.tsv ${prefix}_mqc.json
    """
}
