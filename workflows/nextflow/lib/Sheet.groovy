// Sheet.groovy - reads the sheet of samples (CSV, or .tsv). assets/schema_input.json says what a row may be; here are the rules between
// rows. The Snakemake workflow reads the same sheet.
//
// SPDX-License-Identifier: MIT
import java.nio.file.Path
import nextflow.Nextflow
import nextflow.splitter.CsvSplitter

class Sheet {
    // What must agree in all rows with the same first columns.
    private static final List CONSISTENT = [
        [['model'], 'checkpoint'], [['sample'], 'fasta'], [['sample', 'dataset'], 'assay'], [['sample', 'dataset'], 'bams'],
        [['sample'], 'genes'], [['sample'], 'region'], [['sample'], 'variants'], [['sample'], 'explain']]
    private static final List FILES_OF_SAMPLE = ['genes', 'variants', 'explain']

    // Returns a map per row: {sample, fasta, dataset, assay, bams, model, checkpoint, genes, region, variants, explain, id, where}, with
    // files in place of paths, which are relative to the directory of the sheet. bams may be empty; otherwise dataset and assay are
    // there. genes, region, variants and explain may be null; if a row of a sample has one, all of its rows get it.
    static List<Map> read(String name, Map schema) {
        def sheet = Nextflow.file(name, glob: false)
        def at = { String path -> path =~ '^/|://' ? Nextflow.file(path, glob: false) : sheet.resolveSibling(path) }
        def columns = null
        def seen = [:]
        def rows = []
        sheet.getText('UTF-8').replaceFirst('^\uFEFF', '').readLines().eachWithIndex { line, i ->
            if (!line.trim() || line.startsWith('#')) {
                return
            }
            def where = "${name}:${i + 1}"
            if (line.count('"') % 2) {
                Schema.fail("${where}: unbalanced quotes")
            }
            def cells = new CsvSplitter().options(quote: '"', sep: name.endsWith('.tsv') ? '\t' : ',').target(line).list()[0]
                .collect { (it ?: '').replaceAll(/^[ \t]+|[ \t]+$/, '') } as List<String>
            if (!cells.any()) {
                return
            }
            if (columns == null) {
                columns = checkHeader(where, cells, schema.items)
                return
            }
            if (cells.size() > columns.size()) {
                Schema.fail("${where}: ${cells.size()} cells, but ${columns.size()} columns")
            }
            def row = [columns, cells].transpose().collectEntries { column, cell -> [column, cell ?: null] }
            where += row.sample ? ": sample ${row.sample}" : ''
            if (row.bams) {
                row.bams = row.bams.split(';', -1) as List
            }
            def fault = Schema.fault(row, schema.items, at)
            if (fault) {
                Schema.fail("${where}: ${fault}")
            }
            if (row.bams && !row.assay) { // the schema requires it of other datasets
                row.assay = row.dataset == 'atacseq' ? 'atacseq' : 'chipseq'
            }
            checkRow(where, row, seen, i + 1)
            rows << row + [
                id: "${row.sample}.${row.model}".toString(), fasta: at(row.fasta), checkpoint: at(row.checkpoint),
                bams: (row.bams ?: []).collect { at(it) }, where: where] +
                FILES_OF_SAMPLE.collectEntries { [it, row[it] ? at(row[it]) : null] }
        }
        if (!rows) {
            Schema.fail("${name}: no samples")
        }
        return rows.collect { row ->
            row + (FILES_OF_SAMPLE + ['region']).collectEntries { column ->
                [column, rows.find { it.sample == row.sample && it[column] }?.get(column)]
            }
        }
    }

    // Ends the run if a checkpoint does not predict the dataset of a row. `infos` are the files that `h5chunk info --json`
    // wrote about the checkpoint of each model. Returns the datasets of each model.
    static Map<String, List<String>> checkDatasets(List<Map> rows, Map<String, Path> infos) {
        def datasets = infos.collectEntries { model, path -> [model, Schema.read(path).files[0].hyperparameters?.datasets] }
        rows.each { row ->
            def known = datasets[row.model]
            def name = row.checkpoint.name
            if (!known) {
                Schema.fail("${row.where}: checkpoint ${name}: not a model of Predmoter or covtrain")
            }
            if (row.dataset && !(row.dataset in known)) {
                def letters = { it.toLowerCase().replaceAll(/[^a-z0-9]/, '') }
                def near = known.find { letters(it) == letters(row.dataset) }
                Schema.fail("${row.where}: unknown dataset ${row.dataset}; ${name} predicts ${known.join(', ')}" +
                    (near ? "; did you mean ${near}?" : ''))
            }
        }
        return datasets
    }

    // Returns the number of predictions and measured datasets of a sample.
    static int countSignals(List<Map> rows, String sample) {
        def its = rows.findAll { it.sample == sample }
        return (its*.id as Set).size() + (its.findAll { it.bams }*.dataset as Set).size()
    }

    private static List<String> checkHeader(String where, List<String> columns, Map rule) {
        def unknown = Schema.unknown(columns, rule)
        def twice = columns.find { columns.count(it) > 1 }
        def missing = rule.required.find { !(it in columns) }
        if (unknown || twice || missing) {
            Schema.fail("${where}: " + (unknown ?: (twice ? "repeated column ${twice}" : "missing column ${missing}")))
        }
        return columns
    }

    // Compares a row with those before it, which `seen` keeps with their lines.
    private static void checkRow(String where, Map row, Map seen, int line) {
        CONSISTENT.findAll { _keys, column -> row[column] }.each { keys, column ->
            def first = seen.computeIfAbsent([column] + keys.collect { row[it] }) { [value: row[column], line: line] }
            if (first.value != row[column]) {
                def text = { it instanceof List ? it.join(';') : it }
                Schema.fail("${where}: ${column} ${text(row[column])}, but line ${first.line} has ${text(first.value)} for " +
                    keys.collect { "${it} ${row[it]}" }.join(', ') +
                    (column == 'bams' ? '; write replicates in one row, separated by ;' : ''))
            }
        }
    }
}
