process MULTIQC {
    label 'process_single'

    conda "${moduleDir}/environment.yml"
    container "${ workflow.containerEngine in ['singularity', 'apptainer'] && !task.ext.singularity_pull_docker_container
        ? 'docker://multiqc/multiqc:v1.35'
        : 'multiqc/multiqc:v1.35' }"

    input:
    path(files, stageAs: '?/*')

    output:
    path("multiqc_report.html"), emit: report
    path("multiqc_report_data"), emit: data
    tuple val("${task.process}"), val('multiqc'), eval("multiqc --version | sed 's/.* //'"), emit: versions_multiqc

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    """
    multiqc -f --title covtools --fullnames ${args} -n multiqc_report.html .
    """

    stub:
    """
    mkdir multiqc_report_data
    touch multiqc_report.html
    """
}
