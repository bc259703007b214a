#!/bin/sh
# damaged_tracks - reads damaged bigWig and bedGraph files, and damaged files of other kinds: no crash, no hang,
# no wrong track. COV_DAMAGED=N sets the number of files.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
need_python h5py

"$PYTHON" - >g.fa <<'END'
import random
random.seed(5)
for name, n in [("a", 3000), ("b", 700)] + [(f"c{i:04d}", 10 + i % 60) for i in range(700)]:
    print(">" + name)
    print("".join(random.choice("ACGT") for _ in range(n)))
END
fasta2h5 -q --subsequence-length 500 -o g.h5 g.fa
ok "$((n = ${COV_DAMAGED:-16})) damaged files" "$PYTHON" "$SRC/tests/fuzz/track_damage.py" work "$n" "${COV_TEST_SEED:-1}" g.h5

# Damaged or unusual files of all kinds; few of them are tracks. (HDF5: damaged_hdf5.t.)
mkdir out
if [ -d "$SHARED/data/damaged" ]; then
    find "$SHARED/data/damaged" -type f ! -name '*.h5' | LC_ALL=C sort >files
    bad=
    while read -r file; do
        run timeout 200 cov2bigwig -q -@ 1 -o out/x.bg "$file"
        case $status in
        0) rm -f out/x.bg ;;
        1) [ "$(grep -c 'error: ' "$stderr")" -eq 1 ] && [ -z "$(ls -A out)" ] || bad="$bad ${file##*/}" ;;
        *) bad="$bad ${file##*/}($status)" ;;
        esac
    done <files
    is "$bad" '' "$(wc -l <files) other files are refused or taken, and nothing else"
else
    echo '# SKIP other files: none in SHARED'
fi
done_testing
