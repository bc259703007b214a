include { check_name } from '../../check_name'

process COVPEAKS_STATS {
    tag "$meta.id"
    label 'process_low'

    conda "${moduleDir}/environment.yml"
    container "${ workflow.containerEngine in ['singularity', 'apptainer'] && !task.ext.singularity_pull_docker_container
        ? "${projectDir}/../../covtools.sif"
        : 'covtools:0.1.0' }"

    input:
    tuple val(meta), path(peaks, stageAs: 'peaks/*'), path(signal, stageAs: 'signal/*')

    output:
    tuple val(meta), path("${prefix}.frip.tsv"), emit: table
    tuple val(meta), path("${prefix}_mqc.json"), emit: stats
    tuple val("${task.process}"), val('covpeaks'), eval("covpeaks --version | sed '1!d;s/.* //'"), topic: versions, emit: versions_covpeaks

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    prefix = check_name(task.ext.prefix ?: meta.id)
    """
    covpeaks stats -f -@ ${task.cpus} --signal ${signal} --genome ${signal} --stats ${prefix}_mqc.json ${args} \\
        -o ${prefix}.frip.tsv ${peaks}
    """

    stub:
    prefix = check_name(task.ext.prefix ?: meta.id)
    """
    touch ${prefix}.frip.tsv ${prefix}_mqc.json
    """
}
