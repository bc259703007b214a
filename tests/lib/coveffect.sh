# shellcheck shell=sh
# coveffect.sh - a model, a genome and variants for the tests of coveffect vcf; source it after tap.sh.
# SPDX-License-Identifier: MIT
: "${random:?}"
need_python h5py numpy
start_python "$SRC/tests/oracle/effect_check.py"
make_ckpt bi-hybrid m.ckpt || exit 99
awk "$random"'BEGIN {
    seed(7)
    n = split("2500 300 504 9", length_of, " ")
    for (s = 1; s <= n; s++) {
        printf ">c%d some words\n", s
        for (i = 1; i <= length_of[s]; i++)
            printf "%s", (i % 1200 > 900 ? "N" : letter(i % 50 ? "ACGTacgt" : "ACGTacgtR"))
        print ""
    }
}' >g.fa
ask variants v.vcf g.fa 3 || exit 99
vcf() { run coveffect vcf -q -m m.ckpt -g g.fa --window 504 "$@"; }
