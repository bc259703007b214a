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

// The same for several genomes in turn. A genome that fails has no files, but fails no other one, and not the job. If the job was killed,
// for example for lack of memory, all are repeated.
process PREDICT_GENOMES {
    tag "${metas*.id.join(' ')}"
    label 'process_high'

    conda "${moduleDir}/environment.yml"
    container "${ workflow.containerEngine in ['singularity', 'apptainer'] && !task.ext.singularity_pull_docker_container
        ? "${projectDir}/../../covtools.sif"
        : 'covtools:0.1.0' }"

    input:
    tuple val(metas), path(fastas, stageAs: '?/genome/*'), path(models, stageAs: '?/*'), val(species)

    output:
    tuple val(metas), path('done/*/*.h5', arity: '0..*'), emit: predictions
    tuple val(metas), path('done/*/*.info.json', arity: '0..*'), emit: info
    tuple val(metas), path('done/*/*_*.{bw,bg,bg.gz}', arity: '0..*'), emit: tracks
    tuple val(metas), path('done/*/*/*_mqc.json', arity: '0..*'), emit: stats
    tuple val("${task.process}"), val('covpredict'), eval("covpredict --version | sed '1!d;s/.* //'"), topic: versions, emit: versions_covpredict
    tuple val("${task.process}"), val('h5chunk'), eval("h5chunk --version | sed '1!d;s/.* //'"), topic: versions, emit: versions_h5chunk
    tuple val("${task.process}"), val('cov2bigwig'), eval("cov2bigwig --version | sed '1!d;s/.* //'"), topic: versions, emit: versions_cov2bigwig

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    def args2 = task.ext.args2 ?: ''
    // Each has the directory with its number.
    def runs = [metas, species, [models].flatten(), [fastas].flatten()].transpose().withIndex(1).collect { run, i ->
        "predict ${i} ${check_name(run[0].id)} ${check_name(run[1])} ${"${run[2]}" - "${i}/"} ${"${run[3]}" - "${i}/"}"
    }.join('\n    ')
    """
    predict() { # DIRECTORY PREFIX SPECIES CHECKPOINT FASTA
        (cd \$1 && mkdir covpredict info tracks &&
            covpredict -f -@ ${task.cpus} -m "\$4" --species \$3 --stats covpredict/\$2_mqc.json ${args} -o \$2.h5 "\$5" &&
            h5chunk info --json --stats info/\$2_mqc.json \$2.h5 > \$2.info.json &&
            cov2bigwig -f -@ ${task.cpus} --basename \$2 --stats tracks/\$2_mqc.json ${args2} -o ./ \$2.h5) && mv \$1 done/\$2 || {
            status=\$?
            [ \$status -lt 128 ] || exit \$status
        }
    }
    mkdir done
    ${runs}
    """

    stub:
    def ids = metas.collect { check_name(it.id) }.join(' ')
    """
    for id in ${ids}; do
        mkdir -p done/\$id/{covpredict,info,tracks}
        touch done/\$id/\$id.h5 done/\$id/\$id.info.json done/\$id/\${id}_dataset_avg_strand.bw done/\$id/{covpredict,info,tracks}/\${id}_mqc.json
    done
    """
}
