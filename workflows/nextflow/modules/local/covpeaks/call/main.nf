include { check_name } from '../../check_name'

process COVPEAKS_CALL {
    tag "$meta.id"
    label 'process_low'

    conda "${moduleDir}/environment.yml"
    container "${ workflow.containerEngine in ['singularity', 'apptainer'] && !task.ext.singularity_pull_docker_container
        ? "${projectDir}/../../covtools.sif"
        : 'covtools:0.1.0' }"

    input:
    tuple val(meta), path(signal, stageAs: './*'), val(dataset), val(cutoffs)

    output:
    tuple val(meta), path("${prefix}.${kind}"), emit: peaks
    tuple val(meta), path("${prefix}_mqc.json"), emit: stats
    tuple val("${task.process}"), val('covpeaks'), eval("covpeaks --version | sed '1!d;s/.* //'"), topic: versions, emit: versions_covpeaks

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    def (cutoff, weak) = cutoffs as List
    def broad = weak ? "--broad -C ${check_name(weak)}" : ''
    // The lengths of Predmoter's authors for the assay.
    def preset = meta.assay == 'atacseq' ? '--preset atac' : meta.assay == 'chipseq' && weak ? '--preset h3k4me3' : ''
    def part = dataset ? "--datasets ${check_name(dataset)}" : ''
    def measured = meta.is_measured ? '--experimental' : ''
    kind = weak ? 'gappedPeak' : 'narrowPeak'
    prefix = check_name(task.ext.prefix ?: meta.id)
    """
    covpeaks call -f -@ ${task.cpus} ${part} -c ${check_name(cutoff)} ${broad} ${preset} ${measured} --stats ${prefix}_mqc.json ${args} \\
        -o ${prefix}.${kind} ${signal}
    """

    stub:
    kind = (cutoffs as List)[1] ? 'gappedPeak' : 'narrowPeak'
    prefix = check_name(task.ext.prefix ?: meta.id)
    """
    touch ${prefix}.${kind} ${prefix}_mqc.json
    """
}
