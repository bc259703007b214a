#!/bin/sh
# covpredict's precisions: how far they are from Predmoter's values, in bf16 emulated where the CPU has no
# instructions for it; and the levels of the CPU.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
need_shared reference/models reference/fasta2h5
need_python h5py numpy

reference=$SHARED/reference
genome=some.h5
levels=${COVTOOLS_CPU:-}
emulate=${levels:+$levels,}emulate
# The first rows, both strands of the first sequence, are enough.
h5chunk subset -q -r Chrom1 -o some.h5 "$reference/fasta2h5/pred_data.21384.h5" || exit 99
start_python "$SRC/tests/lib/predict_check.py"

# MODEL PRECISION LARGEST 1-R MOST: what is asked for is what is computed.
within() {
    run covpredict -f --float --cpu "$emulate" --precision "$2" --stats stats.json -m "$reference/models/$1/model.ckpt" \
        -o x.h5 "$genome"
    status_is 0 "$1 in $2"
    ok "  is what was computed in" grep -q "\"precision\": \"$2\"" stats.json
    ok "  errors are below $3, 1 - r below $4, 99 % of the errors below $5" \
        ask accuracy x.h5 "$reference/models/$1/expected.h5" "$3" "$4" "$5"
}
# The sanitizers make networks of full size slow, and see the same code in small ones.
[ -n "${SAN:-}" ] || {
    within combined_size fp32 2e-5 1e-11 -
    within combined_size bf16x3 1e-4 1e-9 -
    within combined_size balanced 3e-3 - -
    within combined_size bf16 2e-2 - -
    within yeast_trained fp32 2e-5 1e-11 -
    within yeast_trained bf16x3 1e-4 1e-9 -
    # A cell of this network counts, and where it tips the error is that of bf16: at a few positions of one chunk.
    within yeast_trained balanced 2e-2 - 3e-3
    within yeast_trained bf16 2e-2 - -
}
for model in cnn_plain hybrid bihybrid_step3 bihybrid_even_kernel; do
    within "$model" fp32 2e-4 - -
    within "$model" bf16x3 3e-3 - -
done

# What bf16 is computed in on a CPU whose other instructions are as fast and more exact.
emulate=${levels:-$(covpredict --version | sed -n 's/^--cpu: .* //p')}
[ -n "${SAN:-}" ] || [ "$emulate" != avx512bf16 ] || {
    within combined_size balanced 3e-4 - -
    within combined_size bf16 3e-3 - -
    within yeast_trained balanced 3e-3 - 3e-4
    within yeast_trained bf16 1e-2 - 5e-3
}
emulate=${levels:+$levels,}emulate
mini=$reference/models/bihybrid_even_kernel/model.ckpt
for precision in bf16x3 balanced bf16; do
    run covpredict -f --float --cpu "$emulate" --precision $precision -m "$mini" -o x.h5 "$genome"
    run covpredict -f --float --cpu "$emulate" --precision $precision -@ 1 --batch-size 3 -m "$mini" -o y.h5 "$genome"
    status_is 0 "$precision on one thread, batch 3"
    ok '  the same bytes' cmp x.h5 y.h5
done

# Without emulation: what is asked for, or what is more exact, and then that is said.
there=$(covpredict --version | sed -n 's/^--cpu: //p')
for precision in exact fp32 bf16x3 balanced bf16; do
    run covpredict -f --float --precision $precision --stats stats.json -m "$mini" -o x.h5 "$genome"
    status_is 0 "--precision $precision"
    if ! grep -q "\"precision\": \"$precision\"" stats.json && [ $precision != exact ]; then
        stderr_like "fp32 instead of $precision: " '  was replaced by fp32, and a line says why'
    fi
    ok '  is close to the values of Predmoter' ask accuracy x.h5 "$reference/models/bihybrid_even_kernel/expected.h5" 1e-1
done

for level in base avx2 avx512 avx512bf16 amx; do
    run covpredict -f --float --cpu $level --precision fp32 -m "$mini" -o x.h5 "$genome"
    case " $there " in
    *" $level "*)
        status_is 0 "--cpu $level"
        ok '  is close to the values of Predmoter' ask accuracy x.h5 "$reference/models/bihybrid_even_kernel/expected.h5" 2e-4
        ;;
    *) refused 1 "^covpredict: error: --cpu: this CPU and its operating system have no $level, but scalar base" \
        "--cpu $level is not there" ;;
    esac
done
run covpredict -f --cpu amx,base -q -m "$mini" -o x.h5 "$genome"
status_is 0 'of several levels the best that is there is enough'
run covpredict -f --cpu mmx -m "$mini" -o x.h5 "$genome"
refused 2 "^covpredict: error: --cpu: 'mmx' is no level of the CPU: scalar, base, " 'no level'
COVTOOLS_CPU=base,x run covpredict -f -m "$mini" -o x.h5 "$genome"
refused 2 "^covpredict: error: COVTOOLS_CPU: 'x' is no level" 'no level in COVTOOLS_CPU'
COVTOOLS_CPU=base run covpredict -f -m "$mini" -o x.h5 "$genome"
stderr_like ', baseline' 'COVTOOLS_CPU is what --cpu is without'
done_testing
