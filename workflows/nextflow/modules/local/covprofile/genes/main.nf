include { check_name } from '../../check_name'

process COVPROFILE_GENES {
    tag "$meta.id"
    label 'process_low'

    conda "${moduleDir}/environment.yml"
    container "${ workflow.containerEngine in ['singularity', 'apptainer'] && !task.ext.singularity_pull_docker_container
        ? "${projectDir}/../../covtools.sif"
        : 'covtools:0.1.0' }"

    input:
    tuple val(meta), path(signals, stageAs: 'signals/*'), path(genes, stageAs: 'genes*/*')

    output:
    tuple val(meta), path("${prefix}.genes.tsv"), emit: table
    tuple val(meta), path("${prefix}.genes.png"), emit: plot, optional: true
    tuple val(meta), path("${prefix}{,.profile}_mqc.json"), emit: stats
    tuple val("${task.process}"), val('covprofile'), eval("covprofile --version | sed '1!d;s/.* //'"), topic: versions, emit: versions_covprofile

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    def annotation = [genes].flatten().join(',')
    prefix = check_name(task.ext.prefix ?: meta.id)
    """
    covprofile genes -f -@ ${task.cpus} --genes ${annotation} --stats ${prefix}_mqc.json ${args} \\
        -o ${prefix}.genes.tsv ${signals}
    """

    stub:
    prefix = check_name(task.ext.prefix ?: meta.id)
    """
    touch ${prefix}.genes.tsv ${prefix}_mqc.json ${prefix}.profile_mqc.json
    """
}
