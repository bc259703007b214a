include { check_name } from '../check_name'

process FASTA2H5 {
    tag "$meta.id"
    label 'process_low'

    conda "${moduleDir}/environment.yml"
    container "${ workflow.containerEngine in ['singularity', 'apptainer'] && !task.ext.singularity_pull_docker_container
        ? "${projectDir}/../../covtools.sif"
        : 'covtools:0.1.0' }"

    input:
    tuple val(meta), path(fasta, stageAs: './*')

    output:
    tuple val(meta), path("${prefix}.h5"), emit: genome
    tuple val(meta), path("${prefix}_mqc.json"), emit: stats
    tuple val("${task.process}"), val('fasta2h5'), eval("fasta2h5 --version | sed '1!d;s/.* //'"), topic: versions, emit: versions_fasta2h5

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    prefix = check_name(task.ext.prefix ?: meta.id)
    """
    fasta2h5 -f -@ ${task.cpus} --species ${check_name(meta.id)} --stats ${prefix}_mqc.json ${args} \\
        -o ${prefix}.h5 ${fasta}
    """

    stub:
    prefix = check_name(task.ext.prefix ?: meta.id)
    """
    touch ${prefix}.h5 ${prefix}_mqc.json
    """
}
