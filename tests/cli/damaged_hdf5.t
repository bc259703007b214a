#!/bin/sh
# Damaged and hostile HDF5 files are refused with one line, even if libhdf5 crashes on them.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
make_ckpt cnn m.ckpt || exit 99
mkdir out
echo chr1 >names
refuses() { # NAME PROGRAM ARG...
    name=$1
    shift
    run timeout 200 "$@"
    refused 1 ': .' "$name: $(sed -n 's/.*: //p' "$stderr" | tail -n 1)"
    [ -z "$(ls -A out)" ] || fail "  and leaves $(ls -A out)"
}
# In every way of opening a file: bases, predictions, coverage, everything (all subcommands of h5chunk).
mkdir made
"$PYTHON" - "$SRC/tests/data" made <<'END'
# Files of other programs, truncated, and with a damaged superblock (signature, format version, sizes).
import random, sys
data, directory = sys.argv[1:]
random.seed(1)
for name in "genome", "coverage", "plant_predictions":
    with open(f"{data}/{name}.h5", "rb") as f:
        whole = f.read()
    for i in range(10):
        with open(f"{directory}/{name}_cut{i}.h5", "wb") as f:
            f.write(whole[:random.choice([random.randrange(2000), random.randrange(len(whole))])])
    for at in 3, 8, 13, 14:
        with open(f"{directory}/{name}_superblock{at}.h5", "wb") as f:
            f.write(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1:])
END
find made "$SHARED/data/damaged/cve_hdf5" "$SHARED/data/damaged/hdf5" -type f 2>/dev/null | LC_ALL=C sort >files
# Sanitizers do not instrument libhdf5, which refuses nearly all of these files, so with them each file is opened in one way
# only.
in_turn() { # WAY NAME PROGRAM ARG...
    [ -n "${SAN:-}" ] && [ $((n % 4)) -ne "$1" ] && return
    shift
    refuses "$@"
}
n=0
while read -r file; do
    in_turn 0 "covpredict, ${file##*/}" covpredict -@ 1 -m m.ckpt -o out/x.h5 "$file"
    in_turn 1 "cov2bigwig, ${file##*/}" cov2bigwig -@ 1 -o out/ "$file"
    in_turn 2 "cov2bigwig --experimental, ${file##*/}" cov2bigwig -@ 1 --experimental -o out/ "$file"
    in_turn 3 "h5chunk info, ${file##*/}" h5chunk info "$file"
    n=$((n + 1))
    [ $((n % 8)) -eq 0 ] || continue
    refuses "h5chunk verify, ${file##*/}" h5chunk verify -@ 1 "$file"
    refuses "h5chunk blacklist, ${file##*/}" h5chunk blacklist --names names -o out/x.h5 "$file"
done <files
is "$([ "$n" -ge 42 ] && echo many)" many 'at least 42 files'
rest_needs_shared data/damaged/cve_hdf5 data/damaged/hdf5
done_testing
