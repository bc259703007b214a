include { check_name } from '../../check_name'

process COVEFFECT_BASES {
    tag "$meta.id"
    label 'process_high'

    conda "${moduleDir}/environment.yml"
    container "${ workflow.containerEngine in ['singularity', 'apptainer'] && !task.ext.singularity_pull_docker_container
        ? "${projectDir}/../../covtools.sif"
        : 'covtools:0.1.0' }"

    input:
    tuple val(meta), path(fasta, stageAs: 'genome/*'), path(regions, stageAs: 'regions/*'), path(model, stageAs: 'model/*'), val(dataset)
    val kind // ism or gradients

    output:
    tuple val(meta), path("${prefix}/*.{npz,h5,bw,bed}"), emit: scores
    tuple val(meta), path("${prefix}_mqc.json"), emit: stats
    tuple val("${task.process}"), val('coveffect'), eval("coveffect --version | sed '1!d;s/.* //'"), topic: versions, emit: versions_coveffect

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    prefix = check_name(task.ext.prefix ?: meta.id)
    if (!(kind in ['ism', 'gradients'])) {
        error "invalid subcommand '${kind}'; use ism or gradients"
    }
    """
    coveffect ${kind} -f -@ ${task.cpus} -m ${model} -g ${fasta} -R ${regions} --dataset ${check_name(dataset)} \\
        --stats ${prefix}_mqc.json ${args} -o ${prefix}/
    """

    stub:
    prefix = check_name(task.ext.prefix ?: meta.id)
    """
    mkdir ${prefix}
    touch ${prefix}/attr.npz ${prefix}/ohe.npz ${prefix}/scores.h5 ${prefix}/scores.bw ${prefix}/regions.bed ${prefix}_mqc.json
    """
}
