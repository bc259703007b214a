# shellcheck shell=sh
# covpeaks.sh - what the tests of covpeaks share. Source it after tap.sh.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/cov2bigwig.sh"
: "${stdout:?}"

need_python h5py numpy
start_python "$SRC/tests/oracle/track_check.py"

check() { "$PYTHON" "$SRC/tests/oracle/peaks_check.py" "$@"; }
# prints NAME ARG...: standard output is what peaks_check.py prints, which stays in `wanted`.
prints() {
    what=$1
    shift
    check "$@" >wanted
    ok "$what" cmp "$stdout" wanted
}
columns() { cut -f "$1" "$stdout"; }
# Makes p.h5, predictions of two datasets, and p.bw, a track of the second.
make_predictions() {
    make_input pred p.h5 datasets=atacseq,h3k4me3
    cov2bigwig -q --datasets h3k4me3 -o p.bw p.h5 || exit 99
}
# The tool of `refuses`.
# shellcheck disable=SC2034 # for cov2bigwig.sh
tool=covpeaks
