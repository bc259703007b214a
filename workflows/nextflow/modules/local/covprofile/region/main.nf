include { check_name; check_region } from '../../check_name'

process COVPROFILE_REGION {
    tag "$meta.id"
    label 'process_low'

    conda "${moduleDir}/environment.yml"
    container "${ workflow.containerEngine in ['singularity', 'apptainer'] && !task.ext.singularity_pull_docker_container
        ? "${projectDir}/../../covtools.sif"
        : 'covtools:0.1.0' }"

    input:
    tuple val(meta), path(signals, stageAs: 'signals/*'), path(genes, stageAs: 'genes/*'), val(place)

    output:
    tuple val(meta), path("${prefix}.region.tsv"), emit: table
    tuple val(meta), path("${prefix}.region_mqc.png"), emit: plot
    tuple val(meta), path("${prefix}_mqc.json"), emit: stats
    tuple val("${task.process}"), val('covprofile'), eval("covprofile --version | sed '1!d;s/.* //'"), topic: versions, emit: versions_covprofile

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    def annotation = genes ? "--genes ${genes}" : ''
    region = check_region(place)
    prefix = check_name(task.ext.prefix ?: meta.id)
    """
    covprofile region -f -@ ${task.cpus} -r ${region} ${annotation} --stats ${prefix}_mqc.json ${args} \\
        --plot ${prefix}.region_mqc.png -o ${prefix}.region.tsv ${signals}
    """

    stub:
    prefix = check_name(task.ext.prefix ?: meta.id)
    """
    touch ${prefix}.region.tsv ${prefix}.region_mqc.png ${prefix}_mqc.json
    """
}
