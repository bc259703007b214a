// From a sheet of samples to tracks, metrics and a report: FASTA -> genome file -> prediction -> bigWig, and a comparison
// with measured coverage where a sample has some. Has the same steps as workflows/snakemake.
//
//   nextflow run workflows/nextflow/main.nf --input samples.csv --outdir results
//
// SPDX-License-Identifier: MIT

nextflow.enable.dsl = 2
nextflow.preview.topic = true

include { FASTA2H5           } from './modules/local/fasta2h5/main'
include { BAM2H5             } from './modules/local/bam2h5/main'
include { COVPREDICT         } from './modules/local/covpredict/main'
include { H5CHUNK_MERGE      } from './modules/local/h5chunk/merge/main'
include { H5CHUNK_INFO       } from './modules/local/h5chunk/info/main'
include { H5CHUNK_VERIFY     } from './modules/local/h5chunk/verify/main'
include { COV2BIGWIG_TRACKS  } from './modules/local/cov2bigwig/tracks/main'
include { COV2BIGWIG_COMPARE } from './modules/local/cov2bigwig/compare/main'
include { MULTIQC            } from './modules/local/multiqc/main'

// Checks a row of the sheet. Paths are relative to the folder of the sheet.
def read_row(row, sheet) {
    def where = "${sheet}: ${row.sample ?: 'a row without a sample'}"
    ['sample', 'fasta', 'model', 'checkpoint'].each { column ->
        if (!row[column]) {
            error "${where}: missing ${column}"
        }
    }
    if (!(row.sample ==~ /[A-Za-z0-9][A-Za-z0-9._+-]*/) || !(row.model ==~ /[A-Za-z0-9_-]+/)) {
        error "${where}: invalid name; use letters, digits and . _ + - (for a model _ -)"
    }
    if (row.bams && !(row.dataset ==~ /[A-Za-z0-9_-]+/)) {
        error "${where}: missing dataset of the bams"
    }
    def at = { path -> file(path.startsWith('/') || path.contains('://') ? path : "${sheet.parent}/${path}", checkIfExists: true) }
    return [
        id: "${row.sample}.${row.model}".toString(),
        sample: row.sample,
        fasta: at(row.fasta),
        checkpoint: at(row.checkpoint),
        dataset: row.dataset,
        bams: row.bams ? row.bams.split(';').collect { at(it) } : [],
    ]
}

workflow COVTOOLS {
    take:
    rows // maps of read_row

    main:
    FASTA2H5(rows.map { [[id: it.sample], it.fasta] }.unique())
    genomes = FASTA2H5.out.genome.map { meta, genome -> [meta.id, genome] }

    BAM2H5(
        rows.filter { it.bams }
            .map { [it.sample, it.dataset, it.bams] }
            .unique()
            .combine(genomes, by: 0)
            .map { sample, dataset, bams, genome -> [[id: "${sample}.${dataset}".toString()], genome, dataset, bams] }
    )
    measured = BAM2H5.out.genome.map { meta, genome -> [meta.id, genome] }

    // A sample has one row per measured data set.
    runs = rows.map { [it.sample, [id: it.id], it.checkpoint] }
        .unique()
        .combine(genomes, by: 0)
        .map { _sample, meta, checkpoint, genome -> [meta, genome, checkpoint] }
    if (params.shards == 1) {
        COVPREDICT(runs.map { it + [''] })
        predictions = COVPREDICT.out.predictions
        joined = Channel.empty()
    } else {
        COVPREDICT(runs.combine(Channel.of(1..params.shards).map { "${it}/${params.shards}".toString() }))
        H5CHUNK_MERGE(COVPREDICT.out.predictions.groupTuple(size: params.shards, sort: { it.name }))
        predictions = H5CHUNK_MERGE.out.predictions
        joined = H5CHUNK_MERGE.out.stats
    }

    H5CHUNK_INFO(predictions)
    H5CHUNK_VERIFY(predictions)
    COV2BIGWIG_TRACKS(predictions)
    COV2BIGWIG_COMPARE(
        rows.filter { it.bams }
            .map { ["${it.sample}.${it.dataset}".toString(), it.id, it.dataset] }
            .unique()
            .combine(measured, by: 0)
            .map { _name, id, dataset, file -> [id, dataset, file] }
            .combine(predictions.map { meta, file -> [meta.id, file] }, by: 0)
            .map { id, dataset, measured_file, file -> [[id: "${id}.${dataset}".toString()], file, measured_file] }
    )

    stats = FASTA2H5.out.stats.mix(
        BAM2H5.out.stats, COVPREDICT.out.stats, joined, H5CHUNK_VERIFY.out.stats, COV2BIGWIG_TRACKS.out.stats,
        COV2BIGWIG_COMPARE.out.stats).map { _meta, file -> file }
    versions = Channel.topic('versions')
        .map { _process, tool, version -> "${tool}: '${version}'" }
        .unique()
        .collectFile(name: 'covtools_mqc_versions.yml', newLine: true, sort: true)
    if (params.report) {
        MULTIQC(stats.mix(versions).toSortedList { a, b -> a.toString() <=> b.toString() }, file("${projectDir}/assets/multiqc.yml"))
    }

    emit:
    tracks = COV2BIGWIG_TRACKS.out.tracks
    tables = COV2BIGWIG_COMPARE.out.table
}

workflow {
    if (!params.input) {
        error 'missing --input: a sheet with the columns sample,fasta,dataset,bams,model,checkpoint'
    }
    if (!(params.shards instanceof Integer) || params.shards < 1) {
        error "--shards ${params.shards}: expected an integer above 0"
    }
    sheet = file(params.input, checkIfExists: true)
    COVTOOLS(Channel.fromPath(sheet).splitCsv(header: true).map { read_row(it, sheet) })
}
