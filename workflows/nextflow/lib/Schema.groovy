// Schema.groovy - checks values against a JSON schema, and prints --help from it. Knows the keywords that nextflow_schema.json
// and assets/schema_input.json use, with nf-core's `exists` and `errorMessage`.
//
// SPDX-License-Identifier: MIT
import groovy.json.JsonSlurper
import java.nio.file.Path
import nextflow.Nextflow

class Schema {
    private static final Map<String, List<Class>> TYPES = [
        string: [CharSequence], boolean: [Boolean], integer: [Integer, Long, BigInteger]]
    private static final Map<String, String> EXPECTED = [
        string: 'text, not a number', boolean: 'true or false', integer: 'an integer']

    static Map read(Path path) {
        return new JsonSlurper().parseText(path.text) as Map
    }

    // The rules of all properties by name; parameters are in groups.
    static Map properties(Map rule) {
        return (rule['$defs'] ?: [:]).values().inject(rule.properties ?: [:]) { all, group -> all + group.properties }
    }

    // Returns what is wrong with the first of the names that is unknown, or null.
    static String unknown(Collection<String> names, Map rule, String dashes = '') {
        def known = properties(rule).keySet()
        def name = names.find { !(it in known) }
        if (name == null) {
            return null
        }
        def near = known.toList().closest(name)
        return "${dashes}${name}: unknown ${dashes ? 'parameter' : 'column'}; " + (near ? "did you mean ${dashes}${near[0]}?" : "known: ${known.collect { dashes + it }.join(', ')}")
    }

    // Returns the first fault of a map whose keys are properties, or null. `at` returns the file of a path.
    static String fault(Map map, Map rule, Closure<Path> at, String dashes = '') {
        def given = map.findAll { it.value != null }
        def needed = (rule.required ?: []) + (rule.dependentRequired ?: [:]).findAll { given.containsKey(it.key) }.values().flatten()
        def missing = needed.find { !given.containsKey(it) }
        if (missing) {
            return "missing ${dashes}${missing}" + (rule.errorMessage ? "; ${rule.errorMessage}" : '')
        }
        def wrong = (rule.properties ?: [:]).findAll { given.containsKey(it.key) }
            .findResult { name, its -> valueFault(given[name], its, at)?.with { "${dashes}${name} ${it}" } }
        if (!wrong && rule.if && !fault(map, rule.if, at)) {
            wrong = fault(map, rule.then, at, dashes)
        }
        return wrong ?: (rule['$defs'] ?: [:]).values().findResult { fault(map, it, at, dashes) }
    }

    private static String valueFault(value, Map rule, Closure<Path> at) {
        if (rule.type == 'array') {
            return value.findResult { valueFault(it, rule.items, at) }
        }
        if (!TYPES[rule.type].any { it.isInstance(value) }) {
            return value == true ? 'needs a value' : "${value}: expected ${EXPECTED[rule.type]}"
        }
        if (rule.enum && !(value.toString() in rule.enum)) {
            return "${value}: expected one of ${rule.enum.join(', ')}"
        }
        if (rule.pattern && !(value ==~ rule.pattern)) {
            return "${value}: " + (rule.errorMessage ?: "does not match ${rule.pattern}")
        }
        if (rule.minimum != null && value < rule.minimum) {
            return "${value}: expected at least ${rule.minimum}"
        }
        if (rule.maximum != null && value > rule.maximum) {
            return "${value}: expected at most ${rule.maximum}"
        }
        if (rule.exists && !at("$value").with { it.exists() && !it.isDirectory() }) {
            return "${value}: no such file"
        }
        return null
    }

    // Ends the run if a parameter is unknown or has a wrong value. Nextflow adds aB to a given a-b, and a-b to a given aB.
    static void checkParams(Map params, Map rule, String commandLine) {
        def names = params.keySet().toList().sort { commandLine.contains("--$it") ? 0 : 1 }
        def text = unknown(names, rule, '--') ?: fault(params, rule, { Nextflow.file(it, glob: false) }, '--')
        if (text) {
            fail("${text}\nTry --help.")
        }
    }

    // Ends the run.
    static void fail(String text) {
        Nextflow.error("covtools: error: ${text}")
    }

    static String help(Map rule) {
        return rule['$defs'].values().collect { group ->
            "${group.title}\n" + group.properties.collect { name, its ->
                def kind = its.enum ? 'NAME' : [boolean: 'true|false', integer: 'N', 'file-path': 'FILE', 'directory-path': 'DIRECTORY', string: 'LIST'][its.format ?: its.type]
                def text = its.description + (its.enum ? ": ${its.enum.join(', ')}" : '') +
                    (its.default in [null, ''] ? '' : " (default: ${its.default})")
                "  --${name} ${kind}".padRight(24) + text.replaceAll(/(.{1,55})( |$)/, '$1\n' + ' ' * 24).trim()
            }.join('\n')
        }.join('\n\n')
    }
}
