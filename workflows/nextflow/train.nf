// Trains networks that differ in the species for validation, or in options of covtrain, and makes a table and a plot of
// their validation. Has the same results as `training` of workflows/snakemake.
//
//   nextflow run workflows/nextflow/train.nf --data species --leave_out moss,weed,fern --options '--epochs 20 --seed 1'
//   nextflow run workflows/nextflow/train.nf --data data --tune sweep.tsv
//
// SPDX-License-Identifier: MIT

nextflow.enable.dsl = 2
nextflow.preview.topic = true

include { COVTRAIN       } from './modules/local/covtrain/main'
include { TRAINING_TABLE } from './modules/local/training_table/main'

params.data = null
params.name = 'network'
params.options = ''
params.leave_out = null
params.tune = null

// Returns {name: options} of a file.
def readTuning(String path) {
    def networks = [:]
    file(path, glob: false).getText('UTF-8').replaceFirst('^\uFEFF', '').readLines().eachWithIndex { line, i ->
        if (!line.trim() || line.startsWith('#')) {
            return
        }
        def (name, options) = (line.stripTrailing().split('\t', 2) as List) + ['']
        if (!(name ==~ /[A-Za-z0-9_-]+/) || !(options ==~ /[A-Za-z0-9 .,_=\/+:-]+/)) {
            Schema.fail("${path}:${i + 1}: write a name (letters, digits, _ and -), a tab, and options of covtrain without quotes")
        }
        if (name in networks) {
            Schema.fail("${path}:${i + 1}: repeated name ${name}")
        }
        networks[name] = options
    }
    if (!networks) {
        Schema.fail("${path}: no networks")
    }
    return networks
}

// Returns [id, options] of each network.
def networks() {
    def all = [[params.name, params.options]]
    if (params.leave_out) {
        all = params.leave_out.tokenize(',').unique().collect { ["${params.name}.${it}", "${params.options} --leave-out ${it}"] }
    }
    if (params.tune) {
        def tuning = readTuning(params.tune)
        all = all.collectMany { id, options -> tuning.collect { name, more -> ["${id}.${name}", "${options} ${more}"] } }
    }
    return all.collect { id, options -> [id: id.toString(), options: options.toString().trim()] }
}

// Returns the genome files of a directory.
def genomes(String directory) {
    def files = file("${directory}/*.h5").sort { it.name }
    if (!files) {
        Schema.fail("--data ${params.data}: no ${directory}/*.h5")
    }
    return files
}

workflow {
    rules = Schema.read(file("${projectDir}/train_schema.json"))
    if (params.help) {
        println """nextflow run train.nf --data DIRECTORY [--outdir DIRECTORY] [-profile NAME,...] [-resume]

${Schema.help(rules)}

The profiles and the results are described in ${projectDir}/docs."""
        return
    }
    // Parameters of main.nf, which have defaults.
    others = Schema.properties(Schema.read(file("${projectDir}/nextflow_schema.json"))).keySet() - Schema.properties(rules).keySet()
    Schema.checkParams(params.findAll { !(it.key in others) || workflow.commandLine.contains("--${it.key}") }, rules, workflow.commandLine)
    metas = networks()
    train = genomes(params.leave_out ? params.data : "${params.data}/train")
    val = params.leave_out ? [] : genomes("${params.data}/val")
    COVTRAIN(Channel.fromList(metas).map { [it, train, val, []] })
    runs = Channel.fromList(metas).map { "${it.id}\tmetrics/${it.id}.log\t${it.options}".toString() }
        .collectFile(name: 'runs.tsv', newLine: true, sort: false)
    logs = COVTRAIN.out.metrics.collectFile { meta, files -> ["${meta.id}.log", files.find { it.name == 'metrics.log' }.text] }
        .toSortedList { a, b -> a.name <=> b.name }
        .filter { it.size() == metas.size() } // otherwise a job has failed
    TRAINING_TABLE(runs.combine(logs.map { [it] }).map { file, metrics -> [[id: params.name], file, metrics] }, file("${projectDir}/training_table.sh"))
}
