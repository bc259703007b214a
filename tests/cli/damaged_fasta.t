#!/bin/sh
# fasta2h5 on FASTA files that nobody here wrote, many of them malformed, and on files that are no FASTA
# at all: each is converted, or refused with one line; what was converted is right.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
need_shared data/damaged data/fasta
need_python h5py numpy

n=0
: >../converted
convert() { # FILE [OPTION]...
    file=$1
    shift
    n=$((n + 1))
    run fasta2h5 -o "$n.h5" --species s "$@" "$file" </dev/null
    case $status in
    0) ok "converted: ${file#"$SHARED"/}" test -s "$n.h5" ;;
    *) refused 1 ': .' "refused: ${file#"$SHARED"/}: $(sed -n 's/.*: //p' "$stderr")" ;;
    esac
    is "$(find . -name "*$n.h5*" -o -name '.*' ! -name .)" "$([ "$status" -ne 0 ] || echo "./$n.h5")" \
        '  and leaves nothing else behind'
}

find "$SHARED/data/damaged" -type f | LC_ALL=C sort >../files
while read -r file; do
    convert "$file" --subsequence-length 1000
    # Python compares the small ones.
    if [ "$status" -eq 0 ] && [ "$(wc -c <"$file")" -lt 200000 ]; then
        printf '%s\t%s\t1000\ts\n' "$file" "$n.h5" >>../converted
    else
        rm -f "$n.h5"
    fi
done <../files
is "$([ "$(wc -l <../converted)" -gt 20 ] && echo many)" many 'many are converted'
ok '  and what was made of them is right' "$PYTHON" "$SRC/tests/lib/genome_check.py" list <../converted
# Protein, letters and all, can be forced.
while read -r file; do
    convert "$file" --subsequence-length 1000 --on-bad-base n
    rm -f "$n.h5"
done <<END
$(grep FormatSpecimens ../files)
END
for file in "$SHARED"/data/fasta/*; do
    # Under sanitizers one genome of 12 million bases is enough.
    [ -n "${SAN:-}" ] && [ "$(wc -c <"$file")" -gt 3500000 ] && continue
    convert "$file" --compression none --subsequence-length 5k
    rm -f "$n.h5"
done
done_testing
