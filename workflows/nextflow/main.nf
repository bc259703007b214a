// From a sheet of samples to tracks, metrics and a report: FASTA -> prediction -> bigWig in one job, a comparison with
// measured coverage where a sample has some, profiles around genes where it has an annotation, a picture of its region where the
// sheet names one, the effects of its variants and of the bases of regions to explain, and pictures of several samples and models.
// Has the same steps as workflows/snakemake.
//
//   nextflow run workflows/nextflow/main.nf --input samples.csv --outdir results
//
// SPDX-License-Identifier: MIT

nextflow.enable.dsl = 2
nextflow.preview.topic = true

include { FASTA2H5           } from './modules/local/fasta2h5/main'
include { BAM2H5             } from './modules/local/bam2h5/main'
include { COVPREDICT         } from './modules/local/covpredict/main'
include { PREDICT_GENOME; PREDICT_GENOMES } from './modules/local/predict_genome/main'
include { H5CHUNK_MERGE      } from './modules/local/h5chunk/merge/main'
include { H5CHUNK_INFO       } from './modules/local/h5chunk/info/main'
include { H5CHUNK_INFO as CHECKPOINT_INFO } from './modules/local/h5chunk/info/main'
include { COV2BIGWIG_TRACKS  } from './modules/local/cov2bigwig/tracks/main'
include { COV2BIGWIG_COMPARE } from './modules/local/cov2bigwig/compare/main'
include { COVPEAKS_CALL      } from './modules/local/covpeaks/call/main'
include { COVPEAKS_COMPARE   } from './modules/local/covpeaks/compare/main'
include { COVPEAKS_STATS     } from './modules/local/covpeaks/stats/main'
include { COVPEAKS_CURVE     } from './modules/local/covpeaks/curve/main'
include { COVPEAKS_CURVE as COVPEAKS_CURVES } from './modules/local/covpeaks/curve/main'
include { COVPROFILE_GENES   } from './modules/local/covprofile/genes/main'
include { COVPROFILE_GENES as COVPROFILE_SPECIES } from './modules/local/covprofile/genes/main'
include { COVPROFILE_HEATMAP } from './modules/local/covprofile/heatmap/main'
include { COVPROFILE_REGION  } from './modules/local/covprofile/region/main'
include { COVPROFILE_CORRELATE } from './modules/local/covprofile/correlate/main'
include { COVEFFECT_VCF      } from './modules/local/coveffect/vcf/main'
include { COVEFFECT_BASES    } from './modules/local/coveffect/bases/main'
include { MULTIQC            } from './modules/local/multiqc/main'

// Joins [dataset, [predictions, another file]] to [dataset, all predictions, the other files], for several predictions.
def byDataset(channel) {
    channel.groupTuple().filter { it[1].size() > 1 }.map { dataset, pairs ->
        def sorted = pairs.sort { it[0].name }
        [dataset, sorted.collect { it[0] }, sorted.collect { it[1] }]
    }
}

// Joins the tables SAMPLE.MODEL.DATASET.KIND.tsv, if they are of several samples or models, for a heatmap of a column.
def scores(tables, id, column) {
    tables.map { _meta, file -> file }
        .toSortedList { a, b -> a.name <=> b.name }
        .filter { files -> (files.collect { it.name.tokenize('.').dropRight(3) } as Set).size() > 1 }
        .map { [[id: id], it, column] }
}

workflow COVTOOLS {
    take:
    sheet            // the list of Sheet.read
    cutoffs          // of predicted and measured peaks: the maps of Cutoffs.read
    measured_cutoffs

    main:
    // No other job starts before the datasets of all checkpoints are checked.
    checkpoints = sheet.collect { [[id: it.model], it.checkpoint] }.unique()
    CHECKPOINT_INFO(Channel.fromList(checkpoints))
    rows = CHECKPOINT_INFO.out.info.map { meta, info -> [meta.id, info] }.toList().flatMap { infos ->
        if (infos.size() < checkpoints.size()) { // a job has failed
            return []
        }
        if (workflow.stubRun) {
            return sheet.collect { it + [datasets: cutoffs.keySet()] }
        }
        def datasets = Sheet.checkDatasets(sheet, infos.collectEntries())
        Cutoffs.check(cutoffs.keySet() + measured_cutoffs.keySet(), datasets.values())
        return sheet.collect { it + [datasets: datasets[it.model]] }
    }

    named = { meta, file -> [meta.id, file] }

    // Genome files are for measured coverage and for shards.
    with_reads = rows.filter { it.bams }
    FASTA2H5((params.shards == 1 ? with_reads : rows).map { [[id: it.sample], it.fasta] }.unique())
    genomes = FASTA2H5.out.genome.map(named)

    BAM2H5(
        with_reads.map { [it.sample, it.dataset, it.assay, it.bams] }
            .unique()
            .combine(genomes, by: 0)
            .map { sample, dataset, assay, bams, genome -> [[id: "${sample}.${dataset}".toString(), assay: assay], genome, dataset, bams] }
    )
    measured = BAM2H5.out.genome.map(named)

    // A sample has one row per measured dataset.
    if (params.shards == 1) {
        runs = rows.map { [[id: it.id], it.fasta, it.checkpoint, it.sample] }.unique()
        // Of several genomes in a job, those that failed run again alone, and report why.
        PREDICT_GENOMES(runs.filter { params.genomes_per_job > 1 }.collate(params.genomes_per_job).map { it.transpose() })
        files_of = { metas, files -> metas.collect { meta -> [meta, files.find { it.name == "${meta.id}.h5" }] } }
        PREDICT_GENOME(
            params.genomes_per_job == 1 ? runs
                : PREDICT_GENOMES.out.predictions.flatMap(files_of).filter { !it[1] }.join(runs).map { it[0, 2, 3, 4] }
        )
        predictions = PREDICT_GENOME.out.predictions.mix(PREDICT_GENOMES.out.predictions.flatMap(files_of).filter { it[1] })
        predicted = PREDICT_GENOME.out.stats.mix(PREDICT_GENOMES.out.stats)
        tracks = PREDICT_GENOME.out.tracks.mix(PREDICT_GENOMES.out.tracks)
    } else {
        COVPREDICT(
            rows.map { [it.sample, [id: it.id], it.checkpoint] }
                .unique()
                .combine(genomes, by: 0)
                .map { _sample, meta, checkpoint, genome -> [meta, genome, checkpoint] }
                .combine(Channel.of(1..params.shards).map { "${it}/${params.shards}".toString() })
        )
        parts = COVPREDICT.out.predictions.groupTuple(size: params.shards, sort: { it.name })
        H5CHUNK_MERGE(parts.join(COVPREDICT.out.stats.groupTuple(size: params.shards, sort: { it.name })))
        predictions = H5CHUNK_MERGE.out.predictions
        H5CHUNK_INFO(predictions)
        COV2BIGWIG_TRACKS(predictions)
        predicted = H5CHUNK_MERGE.out.stats.mix(H5CHUNK_INFO.out.stats, COV2BIGWIG_TRACKS.out.stats)
        tracks = COV2BIGWIG_TRACKS.out.tracks
    }

    predicted_signal = predictions.map(named)
    compared = with_reads.map { ["${it.sample}.${it.dataset}".toString(), it.id, it.dataset] }.unique()
    COV2BIGWIG_COMPARE(
        compared.combine(measured, by: 0)
            .map { _name, id, dataset, file -> [id, dataset, file] }
            .combine(predicted_signal, by: 0)
            .map { id, dataset, measured_file, file -> [[id: "${id}.${dataset}".toString()], file, measured_file] }
    )

    // The ids of predicted peaks are SAMPLE.MODEL.DATASET, those of measured ones SAMPLE.DATASET.measured.
    COVPEAKS_CALL(
        rows.flatMap { row -> row.datasets.findAll { it in cutoffs }.collect { [row.id, it, Cutoffs.assay(sheet, row.sample, it)] } }
            .unique()
            .combine(predicted_signal, by: 0)
            .map { id, dataset, assay, file -> [[id: "${id}.${dataset}".toString(), assay: assay], file, dataset, cutoffs[dataset]] }
            .mix(
                with_reads.filter { it.dataset in measured_cutoffs }
                    .map { ["${it.sample}.${it.dataset}".toString(), it.dataset, it.assay] }
                    .unique()
                    .combine(measured, by: 0)
                    .map { id, dataset, assay, file ->
                        [[id: "${id}.measured".toString(), assay: assay, is_measured: true], file, dataset, measured_cutoffs[dataset]]
                    }
            )
    )
    peaks = COVPEAKS_CALL.out.peaks.map(named)
    COVPEAKS_COMPARE(
        with_reads.map { ["${it.id}.${it.dataset}".toString(), "${it.sample}.${it.dataset}.measured".toString(), it.sample, it.dataset] }
            .unique()
            .combine(peaks, by: 0)
            .map { id, measured_id, sample, dataset, file -> [measured_id, id, sample, dataset, file] }
            .combine(peaks, by: 0)
            .map { _measured_id, id, sample, dataset, file, measured_file -> [sample, id, dataset, file, measured_file] }
            .combine(genomes, by: 0)
            .map { _sample, id, dataset, file, measured_file, genome -> [[id: id], file, measured_file, genome, dataset] }
    )

    COVPEAKS_STATS(
        with_reads.map { ["${it.id}.${it.dataset}".toString(), "${it.sample}.${it.dataset}".toString()] }
            .unique()
            .combine(peaks, by: 0)
            .map { id, measured_id, file -> ["${measured_id}.measured".toString(), measured_id, id, file] }
            .combine(peaks, by: 0)
            .map { _peaks_id, measured_id, id, file, measured_file -> [measured_id, id, [file, measured_file]] }
            .combine(measured, by: 0)
            .map { _measured_id, id, files, signal -> [[id: id], files, signal] }
    )

    curves =
        with_reads.filter { it.dataset in measured_cutoffs }
            .map { [it.id, "${it.sample}.${it.dataset}.measured".toString(), it.dataset] }
            .unique()
            .combine(predicted_signal, by: 0)
            .map { id, measured_id, dataset, file -> [measured_id, id, dataset, file] }
            .combine(peaks, by: 0)
            .map { _measured_id, id, dataset, file, measured_file -> [[id: "${id}.${dataset}".toString()], file, measured_file, dataset] }
    COVPEAKS_CURVE(curves)

    // The predictions of a sample and its measured coverage: [sample, files].
    signals = rows.map { [it.id, it.sample] }.unique().combine(predicted_signal, by: 0).map { _id, sample, file -> [sample, [0, file]] }
        .mix(
            with_reads.map { ["${it.sample}.${it.dataset}".toString(), it.sample] }
                .unique()
                .combine(measured, by: 0)
                .map { _id, sample, file -> [sample, [1, file]] }
        )
        .map { sample, item -> [groupKey(sample, Sheet.countSignals(sheet, sample)), item] }
        .groupTuple()
        .map { key, items -> [key.target, items.sort { "${it[0]}${it[1].name}" }.collect { it[1] }] }
    COVPROFILE_GENES(
        signals.map { sample, files -> [[id: sample], files, sheet.find { it.sample == sample }.genes] }.filter { it[2] }
    )
    COVPROFILE_REGION(
        signals.map { sample, files ->
            def row = sheet.find { it.sample == sample }
            [[id: sample], files, row.genes ?: [], row.region]
        }.filter { it[3] }
    )
    COVPROFILE_CORRELATE(
        signals.filter { sample, _files -> sheet.any { it.sample == sample && it.bams } }.map { sample, files -> [[id: sample], files] }
    )

    // Pictures of all runs together, if there are several.
    COVPEAKS_CURVES(
        byDataset(curves.map { _meta, file, measured_file, dataset -> [dataset, [file, measured_file]] })
            .map { dataset, files, measured_files -> [[id: dataset], files, measured_files, dataset] }
    )
    COVPROFILE_SPECIES(
        byDataset(
            rows.filter { it.genes }
                .flatMap { row -> row.datasets.collect { [row.id, it, row.genes] } }
                .unique()
                .combine(predicted_signal, by: 0)
                .map { _id, dataset, genes, file -> [dataset, [file, genes]] }
        ).map { dataset, files, genes -> [[id: dataset], files, genes] }
    )
    COVPROFILE_HEATMAP(
        scores(COV2BIGWIG_COMPARE.out.table, 'pearson', 'pearson_1').mix(scores(COVPEAKS_COMPARE.out.table, 'f1', 'f1')),
        file("${projectDir}/heatmap.sh")
    )

    COVEFFECT_VCF(rows.filter { it.variants }.map { [[id: it.id], it.fasta, it.variants, it.checkpoint, it.genes ?: []] }.unique())
    COVEFFECT_BASES(
        rows.filter { it.explain }
            .flatMap { row ->
                row.datasets.collect { [[id: "${row.id}.${it}".toString()], row.fasta, row.explain, row.checkpoint, it] }
            }
            .unique(),
        params.bases
    )

    stats = FASTA2H5.out.stats.mix(
        BAM2H5.out.stats, predicted, COV2BIGWIG_COMPARE.out.stats, COVPEAKS_CALL.out.stats, COVPEAKS_COMPARE.out.stats,
        COVPEAKS_STATS.out.stats, COVPEAKS_CURVE.out.stats,
        COVPEAKS_CURVES.out.stats, COVPROFILE_SPECIES.out.stats, COVPROFILE_HEATMAP.out.stats,
        COVPROFILE_GENES.out.stats, COVPROFILE_REGION.out.stats, COVPROFILE_REGION.out.plot, COVPROFILE_CORRELATE.out.stats,
        COVEFFECT_VCF.out.stats, COVEFFECT_BASES.out.stats).map { _meta, files -> files }.flatten()
    versions = Channel.topic('versions')
        .map { _process, tool, version -> "${tool}: '${version}'" }
        .mix(Channel.of("nextflow: '${workflow.nextflow.version}'".toString()))
        .unique()
        .collectFile(name: 'covtools_mqc_versions.yml', newLine: true, sort: true)
    if (params.report) {
        MULTIQC(stats.mix(versions).toSortedList { a, b -> a.toString() <=> b.toString() })
    }

    emit:
    tracks = tracks
    tables = COV2BIGWIG_COMPARE.out.table
    peaks = COVPEAKS_CALL.out.peaks
}

workflow {
    rules = Schema.read(file("${projectDir}/nextflow_schema.json"))
    if (params.version) {
        println "${workflow.manifest.name} ${workflow.manifest.version}"
    } else if (params.help) {
        println """${workflow.manifest.name} ${workflow.manifest.version} - ${workflow.manifest.description}

Usage: nextflow run main.nf --input samples.csv [--outdir DIRECTORY] [-profile NAME,...] [-resume]

${Schema.help(rules)}

Profiles: docker, singularity, apptainer, conda, slurm, pbs, test (small samples that come with the pipeline)
The sheet, the profiles and the results are described in ${projectDir}/docs."""
    } else {
        Schema.checkParams(params, rules, workflow.commandLine)
        if (params.shards > 1 && params.genomes_per_job > 1) {
            Schema.fail('--genomes_per_job needs --shards 1')
        }
        rows = Sheet.read(params.input, Schema.read(file("${projectDir}/assets/schema_input.json")))
        cutoffs = Cutoffs.read(params, 'peak_cutoffs', rules)
        measured_cutoffs = Cutoffs.read(params, 'measured_cutoffs', rules) ?: cutoffs
        file("${params.outdir}/pipeline_info/params.json").text = groovy.json.JsonOutput.prettyPrint(groovy.json.JsonOutput.toJson(params))
        COVTOOLS(rows, cutoffs, measured_cutoffs)
    }
}
