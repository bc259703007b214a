include { check_name } from '../../check_name'

process H5CHUNK_INFO {
    tag "$meta.id"
    label 'process_single'

    conda "${moduleDir}/environment.yml"
    container "${ workflow.containerEngine in ['singularity', 'apptainer'] && !task.ext.singularity_pull_docker_container
        ? "${projectDir}/../../covtools.sif"
        : 'covtools:0.1.0' }"

    input:
    tuple val(meta), path(h5, stageAs: './*')

    output:
    tuple val(meta), path("${prefix}.info.json"), emit: info
    tuple val(meta), path("${prefix}_mqc.json"), emit: stats
    tuple val("${task.process}"), val('h5chunk'), eval("h5chunk --version | sed '1!d;s/.* //'"), topic: versions, emit: versions_h5chunk

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    prefix = check_name(task.ext.prefix ?: meta.id)
    """
    h5chunk info --json -f --stats ${prefix}_mqc.json ${args} ${h5} > ${prefix}.info.json
    """

    stub:
    prefix = check_name(task.ext.prefix ?: meta.id)
    """
    touch ${prefix}.info.json ${prefix}_mqc.json
    """
}
