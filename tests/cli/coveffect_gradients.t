#!/bin/sh
# coveffect gradients: scores of PyTorch; the same scores however they are computed; what is refused.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
need_python h5py numpy
start_python "$SRC/tests/oracle/attribution_check.py"

cp "$SRC/tests/data/plant.ckpt" m.ckpt || exit 99
g=$SRC/tests/data/genome.fa
printf 'chrA\t21731\t21737\n' >six.bed
gradients() { run coveffect gradients -q -m m.ckpt -g "$g" --window 1200 --target atacseq "$@"; }

# Values of autograd, tangermeme and captum (tests/bench/attribution_peers.py) for these six bases.
# shellcheck disable=SC2317 # ok calls it
same_as() {
    "$PYTHON" -c 'import sys, numpy
a, ohe = (numpy.load(sys.argv[1] + file)["arr_0"][0] for file in ("/attr.npz", "/ohe.npz"))
a = a.ravel() if len(sys.argv) == 26 else (a * ohe).sum(0)
b = numpy.array([float(v) for v in sys.argv[2:]])
assert a.shape == b.shape and abs(a - b).max() < 1e-4 * abs(b).max() + 5e-7, (a, b)' "$@"
}
run_ok 'gradients' gradients -R six.bed -o g
ok '  equal those of autograd' same_as g \
    1.355420e-04 -7.196373e-06 2.142086e-04 -2.528508e-04 -2.766052e-05 -6.858737e-05 \
    1.408956e-04 7.389740e-05 -1.426875e-04 1.395470e-04 6.376636e-04 -1.255205e-04 \
    -4.524754e-04 -2.825583e-04 -2.729189e-04 9.029756e-05 -5.815518e-04 -8.333793e-05 \
    1.760379e-04 2.158572e-04 2.013979e-04 2.300629e-05 -2.845127e-05 2.774458e-04
run_ok 'integrated gradients' gradients -R six.bed --integrated 5 --shuffles 1 -o i
ok '  equal those of captum' same_as i 0 0.002329 0.001634 0.000917 0 -0.000464
run coveffect ism -q -m m.ckpt -g "$g" --window 1200 --target atacseq -R six.bed -o ism
ok 'mutagenesis equals that of tangermeme' same_as ism \
    1.998803e-04 -4.023004e-05 2.253292e-04 -8.078291e-04 -2.967913e-04 -3.901428e-04 \
    -6.366776e-05 -1.044672e-04 5.842670e-05 8.865798e-05 6.474087e-04 -9.271527e-04 \
    -3.039063e-04 4.202788e-05 -3.630394e-04 1.172931e-03 -6.729999e-04 1.121151e-03 \
    1.676938e-04 1.026694e-04 7.928347e-05 -4.537599e-04 3.223825e-04 1.961444e-04

# ---------------------------------------------------------------- files; threads and batches

{
    echo '>s'
    awk 'NR > 1 && /^>/ { exit } NR > 1' "$g" | head -n 20
    printf 'ACGTNNNNRACG\n'
    echo '>short'
    awk 'NR == 3' "$g"
} >few.fa
g=few.fa
printf 's\t%s\t%s\n' 600 620 610 630 2 22 0 4 1198 1210 >r.bed
printf 'short\t10\t20\n' >>r.bed
for method in '' '--integrated 3 --shuffles 2 --seed 7'; do
    rm -rf o
    # shellcheck disable=SC2086 # a list of words
    run_ok "regions at the ends of sequences, with N: $method" gradients -R r.bed --length 12 $method -o o/
    bw_dump o/scores.bw >o.bg
    ok '  all files have the same scores' ask forms o o.bg few.fa r.bed 12
    for how in '-@ 1 --batch-size 1' '-@ 2 --batch-size 3' '-@ 3 --batch-size 50'; do
        # shellcheck disable=SC2086 # lists of words
        gradients -f -R r.bed --length 12 $method $how -o x
        ok "  the same bytes with $how" diff -r o x
    done
done
gradients -f -R r.bed --length 12 --integrated 3 --shuffles 2 --seed 8 -o x
ok '  another seed gives other scores' eval '! cmp -s o/attr.npz x/attr.npz'
# The same network in another file.
"$PYTHON" -c 'import zipfile
with zipfile.ZipFile("m.ckpt") as a, zipfile.ZipFile("same.ckpt", "w") as b:
    for name in a.namelist():
        b.writestr(zipfile.ZipInfo(name), a.read(name))' || exit 99
make_ckpt bi-hybrid random.ckpt || exit 99
gradients -f -R r.bed --length 12 -o o
ensemble() { run coveffect gradients -q -m "$1" -g few.fa --window 1200 --target atacseq -R r.bed --length 12 -o "$2"; }
ensemble m.ckpt,same.ckpt twice
ensemble m.ckpt,random.ckpt two
ensemble random.ckpt,m.ckpt owt
ok 'several models' "$PYTHON" -c 'import numpy
one, twice, two, owt = (numpy.load(f + "/attr.npz")["arr_0"] for f in ("o", "twice", "two", "owt"))
assert abs(one).max() > 1e-4 and abs(one - twice).max() < 1e-8
assert abs(one - two).max() > 1e-5 and abs(two - owt).max() < 1e-8'
gradients -f -R r.bed --length 12 --stats s.json --plot x.svg -o x
ok '--stats' "$PYTHON" -c 'import json; assert json.load(open("s.json"))["device"]'

# ---------------------------------------------------------------- what is refused

run_refused 2 '^coveffect: error: --seed needs --integrated$' '--seed, too' gradients -R r.bed --length 12 --seed 5 -o y
ok '  nothing is written' test ! -e y

done_testing
