// Writes to --out what the checks say about the sheets of the directory --sheets, and about the parameters of each line of the
// file --maps, on top of --defaults, the params.json of a run; and whether its values are the defaults of the schema.
//
//   nextflow run inputs.nf -lib ../lib --sheets DIRECTORY --maps FILE --defaults FILE --out FILE
//
// SPDX-License-Identifier: MIT
import groovy.json.JsonSlurper

workflow {
    def said = { check ->
        try {
            check()
            return 'accepted'
        } catch (Exception e) {
            return e.message.readLines()[0]
        }
    }
    def home = "${projectDir}/.."
    def rules = Schema.read(file("${home}/nextflow_schema.json"))
    def sheet = Schema.read(file("${home}/assets/schema_input.json"))
    def defaults = new JsonSlurper().parseText(file(params.defaults).text)
    def lines = file(params.maps).readLines().collect { line ->
        "${line} " + said { Schema.checkParams(defaults + new JsonSlurper().parseText(line), rules, '') }
    }
    lines += Schema.properties(rules).findAll { it.value.default != defaults[it.key] }.collect { "${it.key} has another default" }
    lines += file("${params.sheets}/*.{csv,tsv}")*.name.sort().collect { name -> "${name} " + said { Sheet.read("${params.sheets}/${name}", sheet) } }
    file(params.out).text = lines.join('\n') + '\n'
}
