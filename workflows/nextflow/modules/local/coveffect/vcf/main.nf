include { check_name } from '../../check_name'

process COVEFFECT_VCF {
    tag "$meta.id"
    label 'process_high'

    conda "${moduleDir}/environment.yml"
    container "${ workflow.containerEngine in ['singularity', 'apptainer'] && !task.ext.singularity_pull_docker_container
        ? "${projectDir}/../../covtools.sif"
        : 'covtools:0.1.0' }"

    input:
    tuple val(meta), path(fasta, stageAs: 'genome/*'), path(variants, stageAs: 'variants/*'), path(model, stageAs: 'model/*'), path(genes, stageAs: 'genes/*')

    output:
    tuple val(meta), path("${prefix}.tsv"), emit: table
    tuple val(meta), path("${prefix}_mqc.json"), emit: stats
    tuple val("${task.process}"), val('coveffect'), eval("coveffect --version | sed '1!d;s/.* //'"), topic: versions, emit: versions_coveffect

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    def annotation = genes ? "--genes ${genes}" : ''
    prefix = check_name(task.ext.prefix ?: meta.id)
    """
    coveffect vcf -f -@ ${task.cpus} -m ${model} -g ${fasta} ${annotation} --stats ${prefix}_mqc.json ${args} \\
        -o ${prefix}.tsv ${variants}
    """

    stub:
    prefix = check_name(task.ext.prefix ?: meta.id)
    """
    touch ${prefix}.tsv ${prefix}_mqc.json
    """
}
