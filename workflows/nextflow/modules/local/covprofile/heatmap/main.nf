include { check_name } from '../../check_name'

process COVPROFILE_HEATMAP {
    tag "$meta.id"
    label 'process_low'

    conda "${moduleDir}/environment.yml"
    container "${ workflow.containerEngine in ['singularity', 'apptainer'] && !task.ext.singularity_pull_docker_container
        ? "${projectDir}/../../covtools.sif"
        : 'covtools:0.1.0' }"

    input:
    tuple val(meta), path(tables, stageAs: 'tables/*'), val(column)
    path(script)

    output:
    tuple val(meta), path("${prefix}.tsv"), emit: table
    tuple val(meta), path("${prefix}.png"), emit: plot
    tuple val(meta), path("${prefix}{,.scores}_mqc.json"), emit: stats
    tuple val("${task.process}"), val('covprofile'), eval("covprofile --version | sed '1!d;s/.* //'"), topic: versions, emit: versions_covprofile

    when:
    task.ext.when == null || task.ext.when

    script:
    def part = check_name(column)
    prefix = check_name(task.ext.prefix ?: meta.id)
    """
    sh ${script} ${part} ${prefix} ${prefix}_mqc.json ${tables}
    """

    stub:
    prefix = check_name(task.ext.prefix ?: meta.id)
    """
    touch ${prefix}.tsv ${prefix}.png ${prefix}_mqc.json ${prefix}.scores_mqc.json
    """
}
