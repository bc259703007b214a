include { check_name } from '../check_name'

// COVPREDICT of a FASTA, H5CHUNK_INFO and COV2BIGWIG_TRACKS in one job.
process PREDICT_GENOME {
    tag "$meta.id"
    label 'process_high'

    conda "${moduleDir}/environment.yml"
    container "${ workflow.containerEngine in ['singularity', 'apptainer'] && !task.ext.singularity_pull_docker_container
        ? "${projectDir}/../../covtools.sif"
        : 'covtools:0.1.0' }"

    input:
    tuple val(meta), path(fasta, stageAs: 'genome/*'), path(model, stageAs: './*'), val(species)

    output:
    tuple val(meta), path("${prefix}.h5"), emit: predictions
    tuple val(meta), path("${prefix}.info.json"), emit: info
    tuple val(meta), path("${prefix}_*.{bw,bg,bg.gz}"), emit: tracks
    tuple val(meta), path("*/${prefix}_mqc.json"), emit: stats
    tuple val("${task.process}"), val('covpredict'), eval("covpredict --version | sed '1!d;s/.* //'"), topic: versions, emit: versions_covpredict
    tuple val("${task.process}"), val('h5chunk'), eval("h5chunk --version | sed '1!d;s/.* //'"), topic: versions, emit: versions_h5chunk
    tuple val("${task.process}"), val('cov2bigwig'), eval("cov2bigwig --version | sed '1!d;s/.* //'"), topic: versions, emit: versions_cov2bigwig

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    def args2 = task.ext.args2 ?: ''
    def ckpt = "$model" - './' // the predictions store this name
    prefix = check_name(task.ext.prefix ?: meta.id)
    """
    mkdir covpredict info tracks
    covpredict -f -@ ${task.cpus} -m ${ckpt} --species ${check_name(species)} --stats covpredict/${prefix}_mqc.json ${args} \\
        -o ${prefix}.h5 ${fasta}
    h5chunk info --json --stats info/${prefix}_mqc.json ${prefix}.h5 > ${prefix}.info.json
    cov2bigwig -f -@ ${task.cpus} --basename ${prefix} --stats tracks/${prefix}_mqc.json ${args2} -o ./ ${prefix}.h5
    """

    stub:
    prefix = check_name(task.ext.prefix ?: meta.id)
    """
    mkdir covpredict info tracks
    touch ${prefix}.h5 ${prefix}.info.json ${prefix}_dataset_avg_strand.bw {covpredict,info,tracks}/${prefix}_mqc.json
    """
}
