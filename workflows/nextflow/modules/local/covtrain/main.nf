include { check_name } from '../check_name'

process COVTRAIN {
    tag "$meta.id"
    label 'process_high'

    conda "${moduleDir}/environment.yml"
    container "${ workflow.containerEngine in ['singularity', 'apptainer'] && !task.ext.singularity_pull_docker_container
        ? "${projectDir}/../../covtools.sif"
        : 'covtools:0.1.0' }"

    input:
    tuple val(meta), path(train, stageAs: 'data/train/*'), path(val, stageAs: 'data/val/*'), path(resume, stageAs: 'resume/*')

    output:
    tuple val(meta), path("${prefix}/best.ckpt"), emit: model
    tuple val(meta), path("${prefix}/last.ckpt"), emit: last
    tuple val(meta), path("${prefix}/*_epoch=*.ckpt"), emit: epochs, optional: true
    tuple val(meta), path("${prefix}/metrics.{log,jsonl}"), emit: metrics
    tuple val(meta), path("${prefix}_mqc.json"), emit: stats
    tuple val("${task.process}"), val('covtrain'), eval("covtrain --version | sed '1!d;s/.* //'"), topic: versions, emit: versions_covtrain

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    def from = (val ? '-i data' : '-i data/train') + (resume ? " --resume-training ${resume}" : '')
    prefix = check_name(task.ext.prefix ?: meta.id)
    """
    covtrain -f -@ ${task.cpus} ${from} -o ${prefix} --stats ${prefix}_mqc.json ${args}
    """

    stub:
    prefix = check_name(task.ext.prefix ?: meta.id)
    """
    mkdir ${prefix}
    touch ${prefix}/best.ckpt ${prefix}/last.ckpt ${prefix}/metrics.log ${prefix}/metrics.jsonl ${prefix}_mqc.json
    """
}
