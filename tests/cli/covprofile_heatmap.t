#!/bin/sh
# covprofile heatmap: scores of covpredict --evaluate and of other tables, against a table made by hand; refusals.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
. "$SRC/tests/lib/cov2bigwig.sh"
refuses() { tool_refuses covprofile "$@"; }

tabs() { tr ' ' '\t'; }
tabs >old.tsv <<'END'
file dataset loss pearson pearson_all chunks
test/moss.h5 atacseq 1.5 0.25 0.3 4
test/moss.h5 h3k4me3 1.5 -0.125 0.3 4
test/moss.h5 total 1.5 0.06 0.3 4
test/weed.h5 atacseq 1.5 NA 0.3 4
test/weed.h5 h3k4me3 1.5 0.5 0.3 4
END
tabs >new.tsv <<'END'
pearson file dataset
1e-3 moss.fa atacseq
0.987654321 fern.fa atacseq
END
run_ok 'two tables' covprofile heatmap --plot x.svg --stats x_mqc.json old.tsv new.tsv
tabs >wanted <<'END'
file old_atacseq new_atacseq old_h3k4me3
moss 0.25 0.001 -0.125
weed NA NA 0.5
fern NA 0.987654321 NA
END
ok '  a row for each file, columns by dataset and table' cmp "$stdout" wanted
# shellcheck disable=SC2317 # called by `ok`
need_texts() { # FILE TEXT...: the picture has these, once each
    "$PYTHON" -c 'import sys, xml.etree.ElementTree as tree
texts = [text.strip() for text in tree.parse(sys.argv[1]).getroot().itertext()]
for text in sys.argv[2:]:
    assert texts.count(text) == 1, text' "$@"
}
ok '  a picture with names and values' need_texts x.svg pearson moss weed fern old_atacseq new_atacseq old_h3k4me3 0.25 0.00 -0.12 0.50 0.99
ok '  --stats and a graph of a report have the map' "$PYTHON" -c '
import csv, json
table = list(csv.reader(open("wanted"), delimiter="\t"))
graph, stats = (json.load(open(name)) for name in ("x.scores_mqc.json", "x_mqc.json"))
for m in graph, stats["heatmap"]:
    assert m["xcats"] == table[0][1:] and m["ycats"] == [row[0] for row in table[1:]], m
    assert m["data"] == [[None if x == "NA" else float(x) for x in row[1:]] for row in table[1:]], m
assert (graph["plot_type"], graph["pconfig"]["xlab"], graph["pconfig"]["ylab"]) == ("heatmap", "Model", "File"), graph["pconfig"]'
run covprofile heatmap -q --datasets atacseq --labels 'the old,the new' --plot y.svg -o y.tsv old.tsv new.tsv
is "$(cat y.tsv)" "$(printf 'file\tthe old\tthe new\nmoss\t0.25\t0.001\nweed\tNA\tNA\nfern\tNA\t0.987654321')" 'one dataset, and labels'
ok '  the title has the dataset' need_texts y.svg 'pearson of atacseq' 'the old' 'the new'
run covprofile heatmap -q --datasets total --value loss old.tsv
is "$(cat "$stdout")" "$(printf 'file\told\nmoss\t1.5')" 'another column; the total'
run_ok 'a single value' covprofile heatmap -q --datasets total --plot one.svg old.tsv
ok '  a picture' need_texts one.svg 0.06 moss old
printf 'file\tf1\r\nmoss\t0.5\r\nweed\t250\r\n' >f1.tsv
mkdir -p again
printf 'file\tf1\nmoss\t0.75\n' >again/f1.tsv
run covprofile heatmap -q --value f1 --plot f1.svg f1.tsv again/f1.tsv
is "$(cat "$stdout")" "$(printf 'file\tf1\tagain/f1.tsv\nmoss\t0.5\t0.75\nweed\t250\tNA')" 'no datasets; files of the same name'
run sh -c 'gzip -c old.tsv | covprofile heatmap -q --datasets atacseq - new.tsv'
is "$(cut -f 1,2 "$stdout" | head -n 2)" "$(printf 'file\tstdin\nmoss\t0.25')" 'standard input'

printf 'file\tdataset\tloss\n' >none.tsv
: >empty.tsv
{ cat new.tsv && echo 'x	moss	h3k4me3'; } >word.tsv
{ cat new.tsv && echo '0.5	moss'; } >short.tsv
{ cat new.tsv && echo '0.5	other/moss.h5	atacseq'; } >twice.tsv
refuses 1 '^covprofile: error: none\.tsv:1: no column pearson; the columns are: file, dataset, loss$' 'no such column' heatmap -o y none.tsv
refuses 1 '^covprofile: error: f1\.tsv:1: no column x; ' '  of --value' heatmap --value x f1.tsv
refuses 1 'empty\.tsv: empty$' 'an empty table' heatmap empty.tsv
run_ok 'an HDF5 file' fasta2h5 -q -o genome.h5 "$SRC/tests/data/genome.fa"
refuses 1 'genome\.h5: not a table of scores, but an HDF5 file$' '  is no table' heatmap -o y genome.h5
refuses 1 'none: no values of loss$' 'a table without rows' heatmap --value loss none.tsv
refuses 1 "word\\.tsv:4: pearson: 'x' is not a number\$" 'a word as a value' heatmap word.tsv
refuses 1 'short\.tsv:4: 2 columns, but the first line has 3$' 'a short line' heatmap short.tsv
refuses 1 'twice\.tsv:4: moss is also on line 2$' 'a file twice' heatmap twice.tsv
refuses 1 '--datasets: no table has the dataset dnase$' 'an unknown dataset' heatmap --datasets atacseq,dnase old.tsv
refuses 2 '--labels: 1 label for 2 tables$' 'too few labels' heatmap --labels a old.tsv new.tsv
refuses 2 'old\.tsv: ' 'a table twice' heatmap old.tsv old.tsv
refuses 1 'nix\.tsv: No such file or directory$' 'no such table' heatmap nix.tsv

# What covpredict writes.
data=$SRC/workflows/nextflow/assets/test
fasta2h5 -q --subsequence-length 2400 -o weed.h5 "$data/weed.fa.gz" && bam2h5 -q -p atacseq weed.h5 "$data/weed_atacseq.sam.gz" || exit 99
covpredict -q -m "$data/tiny.ckpt" --evaluate -o tiny.tsv weed.h5 || exit 99
run_ok 'scores of covpredict --evaluate' covprofile heatmap -q --value pearson_all tiny.tsv
is "$(cat "$stdout")" "$(printf 'file\ttiny_atacseq\nweed\t%s' "$(awk '$2 == "atacseq" { print $5 }' tiny.tsv)")" '  as they are'
done_testing
