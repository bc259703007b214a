include { check_name } from '../check_name'

process TRAINING_TABLE {
    tag "$meta.id"
    label 'process_single'

    conda "${moduleDir}/environment.yml"
    container "${ workflow.containerEngine in ['singularity', 'apptainer'] && !task.ext.singularity_pull_docker_container
        ? "${projectDir}/../../covtools.sif"
        : 'covtools:0.1.0' }"

    input:
    tuple val(meta), path(runs), path(metrics, stageAs: 'metrics/*')
    path(script)

    output:
    tuple val(meta), path("${prefix}.tsv"), emit: table
    tuple val(meta), path("${prefix}.svg"), emit: plot
    tuple val("${task.process}"), val('gnuplot'), eval("gnuplot --version | cut -d ' ' -f 2"), topic: versions, emit: versions_gnuplot

    when:
    task.ext.when == null || task.ext.when

    script:
    prefix = check_name(task.ext.prefix ?: meta.id)
    """
    sh ${script} ${runs} ${prefix}.svg >${prefix}.tsv
    """

    stub:
    prefix = check_name(task.ext.prefix ?: meta.id)
    """
    touch ${prefix}.tsv ${prefix}.svg
    """
}
