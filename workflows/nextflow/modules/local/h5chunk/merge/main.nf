include { check_name } from '../../check_name'

process H5CHUNK_MERGE {
    tag "$meta.id"
    label 'process_low'

    conda "${moduleDir}/environment.yml"
    container "${ workflow.containerEngine in ['singularity', 'apptainer'] && !task.ext.singularity_pull_docker_container
        ? "${projectDir}/../../covtools.sif"
        : 'covtools:0.1.0' }"

    input:
    tuple val(meta), path(parts, stageAs: 'parts/*'), path(part_stats, stageAs: 'stats/*') // part_stats: may be []

    output:
    tuple val(meta), path("${prefix}.h5"), emit: predictions
    tuple val(meta), path("${prefix}_mqc.json"), emit: stats
    tuple val("${task.process}"), val('h5chunk'), eval("h5chunk --version | sed '1!d;s/.* //'"), topic: versions, emit: versions_h5chunk

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    def part = part_stats ? "--shard-stats ${[part_stats].flatten().join(',')}" : ''
    prefix = check_name(task.ext.prefix ?: meta.id)
    """
    h5chunk merge -f -@ ${task.cpus} ${part} --stats ${prefix}_mqc.json ${args} \\
        -o ${prefix}.h5 ${parts}
    """

    stub:
    prefix = check_name(task.ext.prefix ?: meta.id)
    """
    touch ${prefix}.h5 ${prefix}_mqc.json
    """
}
