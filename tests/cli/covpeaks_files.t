#!/bin/sh
# covpeaks compare and covpeaks stats: against counts of single bases (tests/oracle/peaks_check.py); outputs, statistics, refusals.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
. "$SRC/tests/lib/covpeaks.sh"

# ---------------------------------------------------------------- compare

printf 'chr1\t100\t900\nchr2\t0\t50\nchr2\t40\t1500\n' >drop.bed
for seed in 1 2 3; do
    check beds $seed || exit 99
    run covpeaks compare --chrom-sizes sizes p.bed m.bed
    prints "compare $seed" compare sizes p.bed m.bed
    run covpeaks compare --chrom-sizes sizes --blacklist-file drop.bed p.bed m.bed
    prints '  with regions that do not count' compare sizes p.bed m.bed drop.bed
done
is "$(grep ^chr3 wanted | cut -f 2-5)" '0	0	0	0' '  a sequence without predicted peaks'
run covpeaks compare --chrom-sizes sizes --blacklist-file drop.bed --stats weed.x_mqc.json p.bed m.bed
run covpeaks compare --chrom-sizes sizes --blacklist-file drop.bed --dataset x.y --stats weed.x.y_mqc.json p.bed m.bed
is "$(cat "$stdout")" "$(cat wanted)" '  the table is the same with --stats'
cat >total.py <<'END'
import csv, json
total = list(csv.DictReader(open("wanted"), delimiter="\t"))[-1]
assert total.pop("contig") == "total" and float(total["f1"]) > 0 and float(total["overlapping"]) > 0, total
shown = ["f1", "overlapping", "overlapping_measured", "peaks", "peaks_measured", "precision", "recall"]
for path, row, prefix, title in ("weed.x_mqc.json", "weed.x", "", "F1"), ("weed.x.y_mqc.json", "weed", "x.y_", "x.y: F1"):
    stats = json.load(open(path))
    assert stats["comparison"] == {name: float(text) for name, text in total.items()}, (stats["comparison"], total)
    assert stats["plot_type"] == "generalstats" and list(stats["data"]) == [row], stats
    assert stats["data"][row] == {prefix + name: float(total[name]) for name in shown}, (stats["data"], total)
    header = stats["headers"][prefix + "f1"]
    assert header["title"] == title and not header["hidden"], header
END
ok '  which has the total, as figures of the sample; with --dataset, in columns of this dataset' "$PYTHON" total.py
run covpeaks compare --chrom-sizes sizes --blacklist-file drop.bed -o table.tsv p.bed m.bed
stdout_is '' '-o: nothing is printed'
ok '  the table is in a file' cmp table.tsv wanted
refuses 1 'table\.tsv: already exists; use -f to replace it$' '  which is not replaced' compare --chrom-sizes sizes -o table.tsv p.bed m.bed
refuses 1 'missing\.bed: No such file' '  nor with -f if an input is missing' compare -f --chrom-sizes sizes -o table.tsv p.bed missing.bed
ok '  it is still there' cmp table.tsv wanted
refuses 2 'p\.bed: is both an input and an output$' '  nor an input' compare --chrom-sizes sizes -o p.bed -f p.bed m.bed
refuses 1 'missing\.bed: No such file' 'stats -o' stats -f -o table.tsv --chrom-sizes sizes p.bed missing.bed
ok '  keeps the old table' cmp table.tsv wanted
run covpeaks stats -q -f -o table.tsv --stats - p.bed m.bed
like "$(cat "$stdout")" '^\{' '  --stats can be printed, then'
run covpeaks stats p.bed m.bed
ok '  the table is that of standard output' cmp table.tsv "$stdout"
refuses 2 '--dataset a b: must not contain' 'an invalid name of a dataset' compare --chrom-sizes sizes --dataset 'a b' p.bed m.bed
echo chr2 >drop
run covpeaks compare --chrom-sizes sizes --blacklist-file drop p.bed m.bed
grep -v '^chr2' p.bed >p2.bed
grep -v '^chr2' m.bed >m2.bed
grep -v '^chr2' sizes >sizes2
prints 'without a sequence' compare sizes2 p2.bed m2.bed
awk '{ printf ">%s\n", $1; for (i = 0; i < $2; i++) printf "A"; print "" }' sizes >g.fa
fasta2h5 -q --subsequence-length 500 -o g.h5 g.fa
gzip -c m.bed >m.bed.gz
run sh -c 'covpeaks compare --genome g.h5 - m.bed.gz <p.bed'
prints 'sequences of a genome file, peaks from standard input, compressed peaks' compare sizes p.bed m.bed
printf 'chrX\t0\t5\n' | cat p.bed - >px.bed
run covpeaks compare --chrom-sizes sizes px.bed m.bed
stderr_is 'covpeaks: warning: px.bed: 1 peak on sequences that are not in sizes: chrX' 'an unknown sequence'
is "$(cat "$stdout")" "$(cat wanted)" '  its peaks do not count'

echo 'track name=x' >none.bed
run_ok 'a file without peaks' covpeaks compare --chrom-sizes sizes none.bed m.bed
stderr_is 'covpeaks: warning: none.bed: there are no peaks' '  is a warning'
is "$(tail -n 1 "$stdout" | cut -f 2-6)" '0	0	0	0	0' '  and has a recall of 0'
run covpeaks stats none.bed
is "$(tail -n 1 "$stdout")" 'none.bed	0	NA	NA	0	NA' '  with statistics'
printf 'chrX\t0\t5\n' >x.bed
refuses 1 'x\.bed: none of the sequences with peaks \(chrX\) is in sizes \(chr1, chr2, chr3, chr4\)$' 'other names' \
    compare --chrom-sizes sizes p.bed x.bed
printf 'chr1\t0\t99999\n' >long.bed
refuses 1 "long\.bed:1: the peak ends at 99999, but chr1 has only $(head -n 1 sizes | cut -f 2) bases in sizes\$" 'past the end' \
    compare --chrom-sizes sizes p.bed long.bed
awk '{ print $1 "\t0\t" $2 }' sizes >whole.bed
run_ok 'peaks that end at the last base' covpeaks compare --chrom-sizes sizes p.bed whole.bed
printf '#c\nchr1\t5\t5\n' >empty.bed
refuses 1 'empty\.bed:2: the peak ends at 5, but starts at 5$' 'an empty peak' stats empty.bed
printf 'chr1\t0\t5\nchr1\tx\t5\n' >word.bed
refuses 1 'word\.bed:2: expected contig, start and end$' 'a word for a number' stats word.bed
printf 'chr1\t-5\t500\n' >negative.bed
refuses 1 'negative\.bed:1: expected contig, start and end; the start is negative$' 'a negative start' stats negative.bed
printf 'chrom start end\n' >header.bed
refuses 1 "header\.bed:1: expected contig, start and end; if this is a header, begin it with '#'\$" 'a header' stats header.bed
refuses 1 'missing\.bed: No such file' 'a missing file' stats missing.bed
make_predictions
check track 7 >t.bg
for track in t.bg p.bw p.h5; do
    refuses 1 "$track: a track, not peaks; call its peaks with covpeaks call\$" "$track has no peaks" stats p.bed $track
done
refuses 1 'g\.fa: not a file of peaks, but a FASTA file$' 'a genome' stats g.fa
refuses 1 'atacseq\.bam: not a file of peaks, but a BAM file$' 'reads' compare --chrom-sizes sizes p.bed "$SRC/tests/data/atacseq.bam"
refuses 1 'g\.fa: not an HDF5 file, but a FASTA file; --chrom-sizes reads a list of names and lengths$' 'a genome that is not HDF5' \
    compare --genome g.fa p.bed m.bed
refuses 1 'g\.h5: an HDF5 file; use --genome$' '  nor HDF5 a list' stats --chrom-sizes g.h5 p.bed
run_refused 2 'standard input \(-\) is given 2 times$' 'standard input twice' covpeaks compare --chrom-sizes sizes - - <p.bed
run covpeaks stats - </dev/null
stderr_is 'covpeaks: warning: standard input: there are no peaks' '  or empty'
refuses 2 'x\.tsv\.gz: the output is a table, but \.gz is another kind; use \.tsv$' 'a compressed table' stats -o x.tsv.gz p.bed
for what in 'compare --chrom-sizes sizes p.bed m.bed' 'stats p.bed'; do
    # shellcheck disable=SC2086 # words
    refuses 2 '--stats and the table cannot both go to standard output$' "${what%% *}: JSON in the table" $what --stats -
done
refuses 2 'error: --chrom-sizes: must not be standard input$' 'lengths from standard input' compare --chrom-sizes - p.bed m.bed

# ---------------------------------------------------------------- stats

printf 'chr1\t0\t10\nchr1\t5\t25\nchr2\t100\t133\n' >s.bed
run covpeaks stats s.bed
stdout_is 'file	peaks	mean_length	median_length	bases	share
s.bed	3	21	20	58	NA' 'stats: overlapping bases count once'
h5chunk subset -q -r chr1:1-500 -o part.h5 g.h5
run covpeaks stats --genome part.h5 s.bed
stderr_is "covpeaks: warning: part.h5: partial file: $(awk '{ n += $2 } END { print n - 500 }' sizes) bases are missing, but count in the share" '  a partial file is a warning'
run covpeaks stats --genome g.h5 s.bed
stderr_is '' '  a whole one is none'
printf 'chr1\t0\t8\nchr1\t20\t40\nchr2\t90\t140\n' >sdrop.bed
run covpeaks stats --blacklist-file sdrop.bed s.bed
is "$(tail -n 1 "$stdout")" 's.bed	2	15	15	12	NA' '  regions that do not count, without a genome'
printf 'chr1\t150\nchr2\t200\n' >sizes
run covpeaks stats --chrom-sizes sizes --blacklist-file sdrop.bed --stats s_mqc.json s.bed none.bed s.bed
is "$(sed -n 2p "$stdout")" "s.bed	2	15	15	12	$("$PYTHON" -c 'print(12 / (150 - 28 + 200 - 50))')" '  nor in the share of a genome'
ok '  in --stats and its report' "$PYTHON" -c '
import json
stats = json.load(open("s_mqc.json"))
rows = [line.rstrip("\n").split("\t") for line in open("'"$stdout"'")]
assert len(stats["files"]) == 3, stats
for row, told in zip(rows[1:], stats["files"]):
    assert list(told) == rows[0] and [x if x != "NA" else None for x in row] == [
        x if x is None or isinstance(x, str) else repr(x).removesuffix(".0") for x in told.values()], (row, told)
assert list(stats["data"]) == ["s", "s.bed", "s.none.bed"], stats["data"]
shown = stats["data"]["s.bed"]
assert shown["peaks"] == 2 and shown["mean_length"] == 15 and abs(shown["peak_share"] - 100 * float(rows[1][5])) < 1e-4, shown'
echo chr1 >drop
run covpeaks stats --chrom-sizes sizes --blacklist-file drop s.bed
is "$(tail -n 1 "$stdout")" "s.bed	1	33	33	33	$("$PYTHON" -c 'print(33 / 200)')" '  a sequence that does not count'
echo chr9 >>drop
run covpeaks stats --chrom-sizes sizes --blacklist-file drop s.bed
stderr_is 'covpeaks: warning: drop: 1 of 2 names are not in sizes; the first is chr9' '  and an unknown one'
refuses 1 'x\.narrowPeak: No such file' '  of a missing file' stats --chrom-sizes sizes s.bed x.narrowPeak
run covpeaks stats --chrom-sizes sizes s.bed
is "$(tail -n 1 "$stdout" | cut -f 6)" "$("$PYTHON" -c 'print(58 / 350)')" '  share of the genome'

# ---------------------------------------------------------------- stats --signal

printf 'chr1\t50\t900\nchr1\t100\t300\nchr10\t400\t1400\n' >in.bed
printf 'chr2\t0\t40\tp\n' >in2.bed
run covpeaks stats -q --signal t.bg --stats f_mqc.json in.bed in2.bed none.bed
for file in in in2; do
    check frip t.bg $file.bed >>fractions
done
is "$(cut -f 1,7 "$stdout")" "file	frip
$(sed '1s/^/in.bed	/; 2s/^/in2.bed	/' fractions)
none.bed	0" 'FRiP of a bedGraph'
ok '  in --stats and its report' "$PYTHON" -c '
import json
stats, want = json.load(open("f_mqc.json")), [*map(float, open("fractions")), 0]
assert [x["frip"] for x in stats["files"]] == want, stats["files"]
assert abs(stats["data"]["f.in.bed"]["frip"] - want[0]) < 1e-4, stats["data"]'
awk '{ n[$1] = $3 } END { for (name in n) print name, n[name] }' t.bg >t.sizes
cov2bigwig -q --chrom-sizes t.sizes -o t.bw t.bg || exit 99
printf 'chr1\t70\t500\n' >fdrop.bed
run covpeaks stats -@ 1 --blacklist-file fdrop.bed --signal t.bw in.bed
is "$(tail -n 1 "$stdout" | cut -f 7)" "$(check frip t.bg in.bed fdrop.bed)" '  of a bigWig, without regions that do not count'
run covpeaks stats --signal p.h5 --datasets h3k4me3 s.bed
fraction=$(tail -n 1 "$stdout" | cut -f 7)
run covpeaks stats --signal p.bw s.bed
is "$(tail -n 1 "$stdout" | cut -f 7)" "$fraction" '  predictions have that of their bigWig'
like "$fraction" '^0\.' '  a fraction'
make_input exp e.h5
run covpeaks stats --signal e.h5 --experimental --datasets h3k4me3 s.bed
fraction=$(tail -n 1 "$stdout" | cut -f 7)
run covpeaks stats --signal e.h5 --datasets h3k4me3 s.bed
is "$(tail -n 1 "$stdout" | cut -f 7)" "$fraction" '  measured coverage, with and without --experimental'
like "$fraction" '^0\.' '    a fraction'
refuses 2 '--datasets needs --signal$' '  a dataset without a signal' stats --datasets h3k4me3 s.bed
refuses 1 'p\.h5: 2 datasets \(atacseq, h3k4me3\); choose one with --datasets$' '  several datasets' stats --signal p.h5 s.bed
printf 'chr1\t0\t9\t1\nchr1\t9\t12\t-2.5\n' >negative.bg
refuses 1 'negative\.bg: the lowest value is -2\.5; FRiP needs values of 0 or more$' '  values below 0' stats --signal negative.bg s.bed
refuses 1 'x\.bed: none of the sequences with peaks \(chrX\) is in t\.bw ' '  other names' stats --signal t.bw x.bed
refuses 1 'long\.bed:1: the peak ends at 99999, but chr1 has only [0-9]+ bases in t\.bw$' '  past the end' stats --signal t.bw long.bed
printf 'chr1\t0\t9\t0\n' >zero.bg
run covpeaks stats --signal zero.bg s.bed
is "$(tail -n 1 "$stdout" | cut -f 7)" NA '  of no signal'
printf 'chr1\t0\t10\t3\n' >begin.bg
printf 'chr1\t10\t20\n' >after.bed
run_ok '  of peaks without signal' covpeaks stats --signal begin.bg after.bed
is "$(tail -n 1 "$stdout" | cut -f 7)" 0 '    is 0'
stderr_like 'warning: after\.bed: no base of begin\.bg is in its peaks$' '    with a warning'
tab=$(printf '\t.')
cp s.bed "a${tab%.}b.bed"
run covpeaks stats "a${tab%.}b.bed"
is "$(tail -n 1 "$stdout" | cut -f 1,2)" 'a?b.bed	3' '  a tab in a name starts no column'
done_testing
