// Cutoffs.groovy - reads the cutoffs of peaks: DATASET=CUTOFF or DATASET=CUTOFF:WEAK, separated by commas. The schema of the
// parameters says how they are written.
//
// SPDX-License-Identifier: MIT
class Cutoffs {
    // Datasets that may have a cutoff although no model predicts them.
    private static final Map ASSAYS = [atacseq: 'atacseq', h3k4me3: 'chipseq']

    // Returns {dataset: [cutoff] or [cutoff, weaker cutoff]} of a parameter; without --peaks, it must have its default.
    static Map<String, List<String>> read(Map params, String name, Map rule) {
        if (!params.peaks) {
            if (params[name] != Schema.properties(rule)[name].default) {
                Schema.fail("--${name} has no effect unless --peaks is true")
            }
            return [:]
        }
        return params[name].tokenize(',').inject([:]) { cutoffs, item ->
            def (dataset, values) = item.tokenize('=')
            def list = values.tokenize(':')
            if (dataset in cutoffs) {
                Schema.fail("--${name}: repeated dataset ${dataset}")
            }
            if (list.size() == 2 && list[1].toBigDecimal() >= list[0].toBigDecimal()) {
                Schema.fail("--${name}: ${item}: the second cutoff must be less than the first")
            }
            return cutoffs + [(dataset): list]
        }
    }

    // Ends the run if no model predicts a dataset with a cutoff. `known` are lists of datasets.
    static void check(Collection<String> datasets, Collection<List<String>> known) {
        def unknown = datasets.find { !(it in ASSAYS) && !known.any { list -> it in list } }
        if (unknown) {
            Schema.fail("unknown dataset ${unknown} has a cutoff for peaks; no model predicts it")
        }
    }

    // Returns the assay of a sample's dataset, which decides about the lengths of peaks: that of the sheet, or of the name.
    static String assay(List<Map> sheet, String sample, String dataset) {
        return sheet.find { it.sample == sample && it.dataset == dataset }?.assay ?: ASSAYS[dataset]
    }
}
