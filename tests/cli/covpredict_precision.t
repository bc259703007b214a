#!/bin/sh
# covpredict --precision: errors against Predmoter's values; and covpredict --cpu.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
need_python h5py numpy

start_python "$SRC/tests/oracle/predict_check.py"
there=$(covpredict --version | sed -n 's/^--cpu: //p')
best=${COVTOOLS_CPU:-${there##* }}

mini=$SRC/tests/data/bihybrid.ckpt
genome=$SRC/tests/data/genome.h5
expected=$SRC/tests/data/predictions.h5
for precision in exact fp32 bf16x3 balanced bf16; do
    run_ok "--precision $precision" covpredict -f --float --precision $precision --stats stats.json -m "$mini" -o x.h5 "$genome"
    if ! grep -q "\"precision\": \"$precision\"" stats.json && [ $precision != exact ]; then
        stderr_like "fp32 instead of $precision: " '  was replaced by fp32, and a line says why'
    fi
    ok '  is close to the values of Predmoter' ask accuracy x.h5 "$expected" 1e-1 - - bihybrid
    run covpredict -f --float --precision $precision -@ 1 --batch-size 3 -m "$mini" -o y.h5 "$genome"
    status_is 0 "  on one thread, with batches of 3 chunks"
    ok '  the same bytes' cmp x.h5 y.h5
done

for level in base avx2 avx512 avx512bf16 amx; do
    run covpredict -f --float --cpu $level --precision fp32 -m "$mini" -o x.h5 "$genome"
    case " $there " in
    *" $level "*)
        status_is 0 "--cpu $level"
        ok '  is close to the values of Predmoter' ask accuracy x.h5 "$expected" 2e-4 - - bihybrid
        ;;
    *) refused 1 "^covpredict: error: --cpu: $level: not available on this machine; available: scalar base" \
        "--cpu $level is not available" ;;
    esac
done
run_ok 'a list with one available level is accepted' covpredict -f --cpu amx,base -q -m "$mini" -o x.h5 "$genome"
COVTOOLS_CPU=base,x run covpredict -f -m "$mini" -o x.h5 "$genome"
refused 2 "^covpredict: error: COVTOOLS_CPU: 'x' is not a level" 'unknown level in COVTOOLS_CPU'
COVTOOLS_CPU=base run covpredict -f -m "$mini" -o x.h5 "$genome"
stderr_like ', baseline' 'COVTOOLS_CPU applies without --cpu'

rest_needs_shared reference/models reference/fasta2h5
reference=$SHARED/reference
genome=some.h5
# The first rows, both strands of the first sequence, are enough.
h5chunk subset -q -r Chrom1 -o some.h5 "$reference/fasta2h5/pred_data.21384.h5" || exit 99

# MODEL PRECISION LARGEST 1-R MOST [ARG...]: the requested precision is used.
within() {
    model=$1 precision=$2 largest=$3 r=$4 most=$5
    shift 5
    run covpredict -f --float --precision "$precision" --stats stats.json -m "$reference/models/$model/model.ckpt" "$@" \
        -o x.h5 "$genome"
    status_is 0 "$model in $precision"
    ok "  computes in $precision" grep -q "\"precision\": \"$precision\"" stats.json
    ok "  errors are below $largest, 1 - r below $r, 99 % of the errors below $most" \
        ask accuracy x.h5 "$reference/models/$model/expected.h5" "$largest" "$r" "$most"
}
# Skipped with sanitizers: networks of full size take long, and small ones run the same code.
[ -n "${SAN:-}" ] || {
    within combined_size fp32 2e-5 1e-11 -
    within yeast_trained fp32 2e-5 1e-11 -
    case $best in
    amx)
        within combined_size bf16x3 1e-4 1e-9 -
        within combined_size balanced 3e-3 - -
        within combined_size bf16 2e-2 - -
        within yeast_trained bf16x3 1e-4 1e-9 -
        # A cell of this network counts. Where rounding changes its count, at a few positions of one chunk, the error is that of bf16.
        within yeast_trained balanced 2e-2 - 3e-3
        within yeast_trained bf16 2e-2 - -
        ;;
    avx512bf16) # computes in fp32 and 16-bit integers, which are more exact
        within combined_size balanced 3e-4 - -
        within combined_size bf16 3e-3 - -
        within yeast_trained balanced 3e-3 - 3e-4
        within yeast_trained bf16 1e-2 - 5e-3
        ;;
    esac
}
for model in cnn_plain hybrid bihybrid_step3 bihybrid_even_kernel; do
    within "$model" fp32 2e-4 - -
done
# The reference has every precision on every CPU.
within cnn_plain bf16x3 3e-3 - - --cpu scalar
within bihybrid_even_kernel bf16x3 3e-3 - - --cpu scalar
done_testing
