#!/bin/sh
# bam2h5 - reads and fragments of BED files, compared with counting line by line; blacklists; failures.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
need_python h5py
start_python "$SRC/tests/oracle/coverage_check.py"

ask genome g.fa || exit 99
fasta2h5 -q --subsequence-length 1000 -o g.h5 g.fa
ask bed three.bed 1 900 3
ask bed five.bed 2 900 5
ask bed six.bed 3 900 6
printf 'a\t0\t40\na\t900\t1100\na\t1050\t2500\nb\t10\t11\n' >drop.bed

while read -r files options rules; do
    for file in $(echo "$files" | tr , ' '); do
        # shellcheck disable=SC2046 # a list of words
        run bam2h5 -q -f -p x $(echo "$options" | tr '|' ' ') -o o.h5 g.h5 "$file.bed"
        # shellcheck disable=SC2046
        ok "$file columns, $options: as counted one by one" ask o.h5 x 0 "$file.bed" $(echo "$rules" | tr '|' ' ')
    done
done <<'END'
three,five,six --count=read unit=read
three,five,six --count=cut unit=cut
three,five,six --count=fragment unit=fragment
five,six --count=cut|--shift unit=cut|shift=4,-5
five,six --count=read|--shift=-7,9 shift=-7,9
six --strand=own strand=own
six --strand=first|--count=fragment strand=first|unit=fragment
six --strand=second|--count=cut|--shift strand=second|unit=cut|shift=4,-5
five,six --min-fragment=50|--max-fragment=120 min=50|max=120
five,six --blacklist-file=drop.bed|--count=cut drop=drop.bed|unit=cut
END

# ---- as 10x writes it: many comments, sorted, compressed
{ for i in $(seq 99); do echo "# primary_contig=chr$i"; done && sort -k1,1 -k2,2n five.bed; } | gzip >fragments.tsv.gz
run bam2h5 -f -p atacseq --max-fragment 100 --blacklist-file drop.bed --stats s.json -o o.h5 g.h5 fragments.tsv.gz
stderr_like 'fragments\.tsv\.gz: 900 fragments, .* \(fragment_length [0-9]+, no_bases [0-9]+, blacklisted [0-9]+\)$' \
    'fragments are reported by reason'
is "$(grep -c warning "$stderr")" 0 '  without a warning about --shift'
ok '  and have the same values' ask o.h5 atacseq 0 five.bed max=100 drop=drop.bed
ok 'settings and counted_reads' "$PYTHON" -c '
import h5py, json
f = json.load(open("s.json"))["files"][0]
a = h5py.File("o.h5")["evaluation/atacseq_coverage"].attrs
wanted = "count=read strand=both shift=none min_fragment=0 max_fragment=100 blacklist=drop.bed file=fragments.tsv.gz"
assert a["settings"] == wanted, a["settings"]
masked = [(c, int(b), int(e)) for c, b, e in (l.split() for l in open("drop.bed"))]
masked += [("a", 900, 2500)]
rows = [(c, int(b), int(e)) for c, b, e, *_ in (l.split() for l in open("five.bed"))]
rows = [r for r in rows if 0 < r[2] - r[1] <= 100]
hidden = sum(any(c == d and x <= b and e <= y for d, x, y in masked) for c, b, e in rows)
assert f["fragments"] == 900 and "reads" not in f
assert f["blacklisted"] == hidden > 0 and f["counted"] == len(rows) - hidden == int(a["counted_reads"])'
printf 'a\t%d\t%d\n' 900 950 1050 2500 2600 2650 >edge.bed
run bam2h5 -q -f -p x --blacklist-file drop.bed --stats s.json -o o.h5 g.h5 edge.bed
is "$(grep -o '"blacklisted": [0-9]*' s.json)" '"blacklisted": 2' 'reads from the first or to the last base of a blacklisted region'
run bam2h5 -q -f -p atacseq --shift -o o.h5 g.h5 five.bed
stderr_like 'warning: five\.bed: --shift moves the ends of fragments, which .* have moved to the Tn5 cut already$' \
    'fragments that are shifted twice'
run bam2h5 -q -f -p atacseq -o o.h5 g.h5 six.bed
stderr_like 'warning: atacseq: counted without --shift' '  and reads that are not'

# ---- names, and a blacklist of ids, also for tracks
sed 's/^c/other/; s/^a/chr_a/' six.bed >named.bed
printf 'chr_a\ta\n' >rename
printf 'a\nnone\n' >ids
run_ok 'BED with other names' bam2h5 -q -f -p x --rename rename -o o.h5 g.h5 named.bed
stderr_like 'warning: named\.bed: skipping 1 of 3 contigs that are not in g\.h5: other$' '  some of which are unknown'
grep -v '^c' six.bed >ab.bed
ok '  and their values' ask o.h5 x 0 ab.bed
run bam2h5 -q -f -p x --blacklist-file ids -o o.h5 g.h5 six.bed
stderr_like 'warning: ids: 1 of 2 names are not in g\.h5; the first is none$' 'a blacklist of ids'
grep -v '^a' six.bed >bc.bed
ok '  and the values elsewhere' ask o.h5 x 0 bc.bed
printf 'a\t0\t990\t2\na\t995\t3000\t3\n' >t.bg
run bam2h5 -q -f -p x --blacklist-file drop.bed -o o.h5 g.h5 t.bg
ok 'a blacklist for a track' ask o.h5 x 0 t.bg drop=drop.bed
sed 's/^./z&/' six.bed >alien.bed
run_refused 1 'alien\.bed: none of its contigs \(z[abc], .*\) is in g\.h5 ' 'BED of another genome' \
    bam2h5 -q -f -p x -o o.h5 g.h5 alien.bed

# ---- lines without bases, and no lines
printf 'a\t10\t10\na\t5000\t5000\n' >none.bed
for unit in read cut; do
    run bam2h5 -f -p x --count $unit -o o.h5 g.h5 none.bed
    stderr_like 'none\.bed: 2 fragments, 0 counted, 2 skipped \(no_bases 2\)$' "lines without bases, --count $unit"
done
printf 'a\t1\t9\tx\t1\t+\nb\t0\t9\tx\t1\t-\n' >two.bed
printf 'b\t0\t9\n' >one.bed
run bam2h5 -f -p x -o o.h5 g.h5 two.bed one.bed
stderr_like 'two\.bed: 2 reads, 2 counted' 'lines with a strand are reads'
stderr_like 'one\.bed: 1 fragment, 1 counted' '  and others fragments'
printf '# nothing\n' >head.bed
run_refused 1 '/dev/stdin: not BAM, CRAM or SAM; other kinds cannot be read from a pipe$' 'BED from a pipe' \
    sh -c 'cat five.bed | bam2h5 -q -f -p x -o o.h5 g.h5 /dev/stdin'
printf 'a\t1\t6\tx y\t1\t+\n' >blank.bed
run_ok 'a blank in a name' bam2h5 -q -f -p x -o o.h5 g.h5 blank.bed
rm o.h5
printf 'a\t1\t6\tx y\t1\tplus\n' >blank.bed
run_refused 1 'blank\.bed: neither reads .* nor a track ' '  and a word as a strand' \
    bam2h5 -q -f -p x -o o.h5 g.h5 blank.bed
run_refused 1 'head\.bed: no lines of data$' 'a header only' bam2h5 -q -f -p x -o o.h5 g.h5 head.bed

# ---- wrong lines
rm -f o.h5
while IFS='|' read -r lines options message; do
    printf "a\t1\t9\tx\t1%b\n" "$lines" >w.bed
    # shellcheck disable=SC2086 # a list of words
    run_refused 1 "^bam2h5: error: $message" "$lines $options" bam2h5 -q -f -p x $options -o o.h5 g.h5 w.bed
done <<'END'
\na\t1\t9\tx||w\.bed:2: fewer or more columns than the first line$
\n\na\t1\tnine\tx\t1||w\.bed:3: expected contig, start and end$
\na\t-1\t9\tx\t1||w\.bed:2: expected contig, start and end; the start is negative$
\na\t9\t8\tx\t1||w\.bed:2: ends before it starts$
\na\t4990\t5001\tx\t1||w\.bed:2: ends at 5001, but a has 5000 bases in g\.h5$
\tx||w\.bed: neither reads
\t+\na\t1\t9\tx\t1\t0||w\.bed:2: the strand \(column 6\) is not \+, - or \.$
\na\t1\t9\t\t1\t+||w\.bed:2: the strand is in column 5 instead of 6$
\na\t1\t9\tx\t1|--strand own|w\.bed:1: a fragment without a strand, which counts only with --strand both$
\n|--min-mapq 3|--min-mapq applies to BAM, CRAM and SAM, but w\.bed is another kind$
\n|--exclude-flags 4|--exclude-flags applies to BAM, CRAM and SAM, but w\.bed is another kind$
END
ok 'and leave no output' test ! -e o.h5
done_testing
