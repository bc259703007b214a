#!/bin/sh
# Calls and allocations that fail, and losses of power: a sample of what `make check-faults` does, and calls that once led to
# wrong results.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
[ -z "${SAN:-}" ] || skip_all 'sanitizers replace the same functions'

sweep() { # NAME ARG...
    name=$1
    shift
    ok "$name" "$PYTHON" "$SRC/tests/faults/sweep.py" --seed 1 "$@"
}
set -- "$work/faults" "$TESTLIB/../faults.so"
sweep 'covtrain: a kill loses no line of the metrics' --modes kill --calls 'model/(metrics|\.last|last)' "$@" train
sweep 'h5chunk: a read error is no missing dataset' --modes eio --calls 'pread.* .*/in/c\.h5' --some 12 "$@" info split
sweep 'coveffect vcf --resume: continues after a failure at the end' --modes eio,kill --calls 'o\.tsv\.resume' "$@" effects-resume
sweep 'bam2h5: an error of close on an unused standard output' --modes eio,eintr --calls 'close .*/run$' "$@" bam2h5
sweep 'memory runs out: no option is missing in --help' --modes mem,mem+ "$@" help
sweep 'memory runs out in htslib, in a report, in a training' --modes mem --some 8 "$@" effects effects-vcf genes train-resume
sweep 'all tools, 12 s of random calls' --some 2 --seconds 12 "$@"
power() { # NAME ARG...
    name=$1
    shift
    ok "$name" "$PYTHON" "$SRC/tests/faults/power.py" --seed 1 --states 8 "$@"
}
power 'power is lost: --resume continues' --repeats 8 "$@" predict-resume effects-resume
power 'power is lost: no torn output' --repeats 2 "$@" split bam2h5 bedgraph train
done_testing
