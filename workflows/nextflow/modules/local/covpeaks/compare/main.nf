include { check_name } from '../../check_name'

// MultiQC orders columns by the names of files, which therefore differ from those of COV2BIGWIG_COMPARE.
process COVPEAKS_COMPARE {
    tag "$meta.id"
    label 'process_single'

    conda "${moduleDir}/environment.yml"
    container "${ workflow.containerEngine in ['singularity', 'apptainer'] && !task.ext.singularity_pull_docker_container
        ? "${projectDir}/../../covtools.sif"
        : 'covtools:0.1.0' }"

    input:
    tuple val(meta), path(predicted, stageAs: 'predicted/*'), path(measured, stageAs: 'measured/*'), path(genome, stageAs: 'genome/*'), val(dataset)

    output:
    tuple val(meta), path("${prefix}.peaks.tsv"), emit: table
    tuple val(meta), path("${prefix}.covpeaks_mqc.json"), emit: stats
    tuple val("${task.process}"), val('covpeaks'), eval("covpeaks --version | sed '1!d;s/.* //'"), topic: versions, emit: versions_covpeaks

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    def part = dataset ? "--dataset ${check_name(dataset)}" : ''
    prefix = check_name(task.ext.prefix ?: meta.id)
    """
    covpeaks compare -f --stats ${prefix}.covpeaks_mqc.json ${part} ${args} --genome ${genome} \\
        ${predicted} ${measured} > ${prefix}.peaks.tsv
    """

    stub:
    prefix = check_name(task.ext.prefix ?: meta.id)
    """
    touch ${prefix}.peaks.tsv ${prefix}.covpeaks_mqc.json
    """
}
