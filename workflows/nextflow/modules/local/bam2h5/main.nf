include { check_name } from '../check_name'

process BAM2H5 {
    tag "$meta.id"
    label 'process_medium'

    conda "${moduleDir}/environment.yml"
    container "${ workflow.containerEngine in ['singularity', 'apptainer'] && !task.ext.singularity_pull_docker_container
        ? "${projectDir}/../../covtools.sif"
        : 'covtools:0.1.0' }"

    input:
    tuple val(meta), path(genome, stageAs: 'genome/*'), val(dataset), path(bams, stageAs: 'bams/?/*')

    output:
    tuple val(meta), path("${prefix}.h5"), emit: genome
    tuple val(meta), path("${prefix}_mqc.json"), emit: stats
    tuple val("${task.process}"), val('bam2h5'), eval("bam2h5 --version | sed '1!d;s/.* //'"), topic: versions, emit: versions_bam2h5

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    // Reads of ATAC-seq are shifted to the Tn5 cut; tracks cannot be.
    def reads = (bams instanceof List ? bams : [bams]).any { !(it.name ==~ /(?i).*\.(bw|bigwig|bg|bdg|bedgraph)(\.gz)?/) }
    def shift = meta.assay == 'atacseq' && reads ? '--shift' : ''
    prefix = check_name(task.ext.prefix ?: meta.id)
    """
    bam2h5 -f -@ ${task.cpus} -p ${check_name(dataset)} --stats ${prefix}_mqc.json ${shift} ${args} \\
        -o ${prefix}.h5 ${genome} ${bams}
    """

    stub:
    prefix = check_name(task.ext.prefix ?: meta.id)
    """
    touch ${prefix}.h5 ${prefix}_mqc.json
    """
}
