include { check_name } from '../../check_name'

process COVPROFILE_CORRELATE {
    tag "$meta.id"
    label 'process_low'

    conda "${moduleDir}/environment.yml"
    container "${ workflow.containerEngine in ['singularity', 'apptainer'] && !task.ext.singularity_pull_docker_container
        ? "${projectDir}/../../covtools.sif"
        : 'covtools:0.1.0' }"

    input:
    tuple val(meta), path(signals, stageAs: 'signals/*')

    output:
    tuple val(meta), path("${prefix}.correlation.tsv"), emit: table
    tuple val(meta), path("${prefix}{,.tracks}_mqc.json"), emit: stats
    tuple val("${task.process}"), val('covprofile'), eval("covprofile --version | sed '1!d;s/.* //'"), topic: versions, emit: versions_covprofile

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    prefix = check_name(task.ext.prefix ?: meta.id)
    """
    covprofile correlate -f -@ ${task.cpus} --stats ${prefix}_mqc.json ${args} \\
        -o ${prefix}.correlation.tsv ${signals}
    """

    stub:
    prefix = check_name(task.ext.prefix ?: meta.id)
    """
    touch ${prefix}.correlation.tsv ${prefix}_mqc.json ${prefix}.tracks_mqc.json
    """
}
