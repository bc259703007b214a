#!/bin/sh
# A full disk, simulated by a limit on the size of files: each tool names the requested output, not its
# temporary file, and leaves nothing behind.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"

make_ckpt bi-hybrid m.ckpt || exit 99
awk "$random"'BEGIN { seed(3); print ">a"; letters(90000, "ACGT"); print "" }' >g.fa
fasta2h5 -q -o g.h5 g.fa
covpredict -q -m m.ckpt --float -o p.h5 g.h5
cp g.h5 b.h5
printf '@HD\tVN:1.6\n@SQ\tSN:a\tLN:90000\nr\t0\ta\t100\t60\t4M\t*\t0\t0\tACGT\tIIII\n' >r.sam
echo a >names
awk 'BEGIN { for (i = 0; i < 2000; i++) print "a\t" i "\t" i + 1 "\t" i % 2 }' >stripes.bg
find . -type f | sort >../before

while read -r out line; do
    out=$(printf %s "$out" | tr _ " ")
    # shellcheck disable=SC2016 # for the inner shell
    run_refused 1 "^[a-z0-9]*: error: $out: ([^.]*: )?File too large\$" "$line" bash -c 'ulimit -f 4; exec $0' "$line"
    is "$(find . -type f | sort | diff ../before -)" '' '  and nothing is left'
done <<'END'
o\.h5 fasta2h5 -q -o o.h5 g.fa
\./o\.h5 fasta2h5 -q -o ./o.h5 g.fa
o\.st h5chunk cat -q -o o.st g.h5
o\.h5 h5chunk repack -q --compression none -o o.h5 g.h5
o\.h5 h5chunk subset -q -r a:1-60000 -o o.h5 g.h5
o\.1\.h5 h5chunk split -q --shards 2 -o o g.h5
o\.h5 h5chunk merge -q -o o.h5 g.h5
g\.h5 h5chunk blacklist -q --names names g.h5
o\.h5 covpredict -q -m m.ckpt --float -o o.h5 g.h5
o\.bw cov2bigwig -q --datasets atacseq -o o.bw p.h5
o\.bed covpeaks call -q -c 1 -l 1 -g 0 -o o.bed stripes.bg
o\.svg covprofile region -q -r a:1-9 --plot o.svg p.h5
o\.bg cov2bigwig -q --datasets atacseq -o o.bg p.h5
o\.bg\.gz cov2bigwig -q --datasets atacseq -o o.bg.gz p.h5
temporary_file_in_\. bam2h5 -q -p x -o o.h5 g.h5 r.sam
temporary_file_in_\. bam2h5 -q -p x b.h5 r.sam
END
done_testing
