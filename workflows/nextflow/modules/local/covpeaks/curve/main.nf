include { check_name } from '../../check_name'

process COVPEAKS_CURVE {
    tag "$meta.id"
    label 'process_low'

    conda "${moduleDir}/environment.yml"
    container "${ workflow.containerEngine in ['singularity', 'apptainer'] && !task.ext.singularity_pull_docker_container
        ? "${projectDir}/../../covtools.sif"
        : 'covtools:0.1.0' }"

    input:
    tuple val(meta), path(signal, stageAs: './*'), path(measured, stageAs: 'measured*/*'), val(dataset)

    output:
    tuple val(meta), path("${prefix}.curve.tsv"), emit: table
    tuple val(meta), path("${prefix}.curve.png"), emit: plot, optional: true
    tuple val(meta), path("${prefix}{,.curve}_mqc.json"), emit: stats
    tuple val("${task.process}"), val('covpeaks'), eval("covpeaks --version | sed '1!d;s/.* //'"), topic: versions, emit: versions_covpeaks

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    def part = (dataset ? "--datasets ${check_name(dataset)} " : '') + "--measured ${[measured].flatten().join(',')}"
    prefix = check_name(task.ext.prefix ?: meta.id)
    """
    covpeaks curve -f -@ ${task.cpus} ${part} --stats ${prefix}_mqc.json ${args} \\
        -o ${prefix}.curve.tsv ${signal}
    """

    stub:
    prefix = check_name(task.ext.prefix ?: meta.id)
    """
    touch ${prefix}.curve.tsv ${prefix}_mqc.json ${prefix}.curve_mqc.json
    """
}
