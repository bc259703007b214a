#!/bin/sh
# covprofile genes, table, correlate: tables and matrices against bins computed base by base (tests/oracle/profile_check.py); formats of annotations,
# kinds of inputs, pictures, statistics, refusals.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
. "$SRC/tests/lib/covprofile.sh"

correlate() { run covprofile correlate -q -f "$@"; }
genes() { run covprofile genes -q -f "$@"; }
refuses_genes() { tool_refuses 'covprofile genes' "$@"; } # STATUS REGEX NAME [ARG]...

# ---------------------------------------------------------------- windows

for seed in 1 2; do
    ask random $seed || exit 99
    for anchor in tss tes centre scale; do
        genes --genes f.bed --anchor $anchor --matrix m.mat.gz --chrom-sizes sizes -o t.tsv t.bg u.bg
        ok "$anchor, made $seed: the table" ask table t.tsv anchor=$anchor
        ok '  and the matrix' ask matrix m.mat.gz anchor=$anchor
        body=
        [ $anchor = scale ] && body='--body 210'
        # shellcheck disable=SC2086 # two words
        genes --genes f.bed --anchor $anchor -b 140 -a 70 $body --bin 7 --median --chrom-sizes sizes -o t.tsv t.bg u.bg
        ok '  medians, unequal sides' ask table t.tsv anchor=$anchor before=140 after=70 bin=7 body=210 reduce=median
    done
    genes --genes f.bed --preset predmoter --chrom-sizes sizes -o t.tsv t.bg u.bg
    ok '  --preset predmoter' ask table t.tsv preset=predmoter bin=1
    run covprofile table -q -f --genes f.bed --chrom-sizes sizes -o sums.tsv t.bg u.bg
    ok '  covprofile table' ask sums sums.tsv
done
genes --genes f.bed --preset predmoter -b 20 -a 30 --median --matrix m.mat.gz --chrom-sizes sizes -o - t.bg
is "$(sed -n '2p;$p' "$stdout" | cut -f 1)" "$(printf '%s\n' -20 30)" '  includes the last position'
genes --genes f.bed -b 0 -a 100 --bin 100 --chrom-sizes sizes t.bg
is "$(cut -f 1 "$stdout")" "$(printf '%s\n' position 0)" 'a single bin, to standard output'

# ---------------------------------------------------------------- annotations

genes --genes f.bed --matrix bed.mat.gz --chrom-sizes sizes -o bed.tsv t.bg
gzip -k f.gff3
while read -r file options; do
    # shellcheck disable=SC2086 # words
    genes --genes $file $options --matrix m.mat.gz --chrom-sizes sizes -o t.tsv t.bg
    ok "$file $options: the same table" cmp t.tsv bed.tsv
    is "$(gzip -dc m.mat.gz)" "$(gzip -dc bed.mat.gz)" '  and the same matrix'
done <<END
f.gff3
f.gff3.gz
f.gtf
f.gtf --feature gene
END
genes --genes f.gff3 --feature mRNA --chrom-sizes sizes -o t.tsv t.bg
ok 'features of another type' cmp t.tsv bed.tsv
genes --genes f.gtf --feature transcript --chrom-sizes sizes -o t.tsv t.bg
ok '  of a GTF' cmp t.tsv bed.tsv
printf 'chr1\t100\t200\nchr1\t50\t60\n' >three.bed
genes --genes three.bed -b 10 -a 10 --matrix m.mat.gz -o t.tsv t.bg
ok 'a BED of three columns' ask matrix m.mat.gz genes=three.bed before=10 after=10 tracks=t.bg

# ---------------------------------------------------------------- several annotations

awk 'NR % 2' f.bed >half.bed
genes --genes half.bed --median --chrom-sizes sizes --stats half.json -o half.tsv u.bg
genes --genes f.bed --median --chrom-sizes sizes --stats f.json -o t.tsv t.bg
cut -f 2 half.tsv | paste t.tsv - >both.tsv
run_ok 'an annotation for each input' genes --genes f.bed,half.bed --median --chrom-sizes sizes --stats s.json -o t.tsv t.bg u.bg
ok '  each track has its own' cmp t.tsv both.tsv
ok '  --stats, too' "$PYTHON" -c '
import json
both, *ones = (json.load(open(name + ".json")) for name in ("s", "f", "half"))
assert both["profiles"] == ones[0]["profiles"] + ones[1]["profiles"]
assert both["features"] == ones[0]["features"] + ones[1]["features"] > ones[0]["features"]'
genes --genes f.bed --chrom-sizes sizes -o one.tsv t.bg u.bg
ln -s f.bed link.bed
run_ok '  the same for both' genes --genes f.bed,link.bed --chrom-sizes sizes --stats s.json -o t.tsv t.bg u.bg
ok '    is the same as one' cmp t.tsv one.tsv
ok '    and counts once' "$PYTHON" -c '
import json
assert len({json.load(open(name))["features"] for name in ("s.json", "f.json")}) == 1'
refuses_genes 2 '--genes: 2 files for 3 inputs$' 'too few annotations' --genes f.bed,half.bed t.bg u.bg t.bw
refuses_genes 2 '--genes: 2 files for 1 input$' '  too many' --genes f.bed,half.bed t.bg
refuses_genes 2 '--matrix needs one --genes for all inputs$' '  for a matrix' --genes f.bed,half.bed --matrix x.gz t.bg u.bg
printf 'other\t5\t9\n' >other.bed
refuses_genes 1 'other\.bed: none of its sequences \(other\) is in u\.bg ' '  an annotation of other sequences' \
    --genes f.bed,other.bed --chrom-sizes sizes t.bg u.bg

# ---------------------------------------------------------------- inputs

for track in t u; do
    cov2bigwig -q --chrom-sizes sizes -o $track.bw $track.bg || exit 99
done
genes --genes f.bed --chrom-sizes sizes --matrix m.mat.gz -o t.tsv t.bg u.bw
ok 'bedGraph and bigWig' ask matrix m.mat.gz
genes --genes f.bed -@ 1 -o one.tsv t.bw u.bw
ok '  one thread' cmp one.tsv t.tsv
genes --genes f.bed --chrom-sizes sizes -o in.tsv - <t.bg
is "$(head -n 1 in.tsv)" 'position	stdin' 'standard input'
ok '  has the same values' test "$(tail -n +2 in.tsv)" = "$(tail -n +2 t.tsv | cut -f 1,2)"
mkdir other && cp t.bw other
genes --genes f.bed -o t.tsv t.bw other/t.bw
is "$(head -n 1 t.tsv)" 'position	t	other/t.bw' 'two files of the same name'
is "$(cut -f 2 t.tsv | tail -n +2)" "$(cut -f 3 t.tsv | tail -n +2)" '  have the same values'

make_input pred p.h5 datasets=atacseq,h3k4me3
make_input exp e.h5
printf 'chr1\t1500\t2500\ta\t0\t+\nchr2\t10\t900\tb\t0\t-\nchr10\t0\t1\tc\t0\t+\n' >h5.bed
cov2bigwig -q --datasets h3k4me3 -o h.bw p.h5 || exit 99
genes --genes h5.bed -b 200 -a 200 -o t.tsv p.h5 h.bw
is "$(head -n 1 t.tsv)" 'position	p_atacseq	p_h3k4me3	h' 'all datasets of a predictions file'
is "$(cut -f 3 t.tsv | tail -n +2)" "$(cut -f 4 t.tsv | tail -n +2)" '  equal their bigWig'
genes --genes h5.bed -b 200 -a 200 --datasets h3k4me3 -o one.tsv p.h5 e.h5
is "$(head -n 1 one.tsv)" 'position	p	e' 'one dataset of predictions and of measured coverage'
is "$(cut -f 2 one.tsv | tail -n +2)" "$(cut -f 3 t.tsv | tail -n +2)" '  has the same values'
genes --genes h5.bed -b 200 -a 200 --experimental --datasets h3k4me3 -o e.tsv e.h5
is "$(cut -f 2 e.tsv | tail -n +2)" "$(cut -f 3 one.tsv | tail -n +2)" '  --experimental'
run sh -c 'h5chunk cat p.h5 | covprofile genes -q --genes h5.bed -b 200 -a 200 --datasets h3k4me3 -o - -'
is "$(cut -f 2 "$stdout" | tail -n +2)" "$(cut -f 2 one.tsv | tail -n +2)" '  from a stream'
run_ok 'smoothing' genes --genes h5.bed -b 200 -a 200 --datasets h3k4me3 --window-size 51 -o smooth.tsv p.h5
ok '  changes the values' sh -c '! cmp -s smooth.tsv one.tsv'
printf 'chr1\tx1\nchr2\tx2\nchr10\tx10\n' >names
sed 's/^chr/x/' h5.bed >x.bed
genes --genes x.bed -b 200 -a 200 --datasets h3k4me3 --rename names -o t.tsv p.h5 e.h5
ok '--rename' cmp t.tsv one.tsv

printf 'elsewhere\t5\t9\nlost\t5\t9\n' | cat h5.bed - >more.bed
run covprofile genes -f --genes more.bed -b 200 -a 200 --datasets h3k4me3 --matrix m.mat.gz -o t.tsv p.h5 e.h5
ok 'features on unknown sequences are left out' cmp t.tsv one.tsv
stderr_like '^covprofile: warning: more\.bed: 2 features on sequences that are not in p\.h5: elsewhere, lost$' '  with a warning'
is "$(gzip -dc m.mat.gz | tail -n 1 | cut -f 1,7-9)" 'lost	nan	nan	nan' '  and nan in the matrix'

# ---------------------------------------------------------------- pictures and statistics

if command -v gnuplot >/dev/null; then
    run_ok 'a picture' genes --genes f.bed --median --plot p.png --chrom-sizes sizes -o t.tsv t.bg u.bg
    ok '  is a PNG' sh -c 'head -c 4 p.png | grep -q PNG'
    for anchor in tss scale; do
        genes --genes f.bed --anchor $anchor --plot p.svg -o t.tsv t.bw
        ok "  or an SVG: $anchor" grep -q '</svg>' p.svg
    done
    genes --genes f.bed,half.bed,half.bed -b 1000 -a 1000 --plot p.svg --chrom-sizes sizes t.bg u.bg t.bw
    ok '  of two annotations, with tics that fit' "$PYTHON" -c '
import xml.etree.ElementTree as tree
texts = [text.strip() for text in tree.parse("p.svg").getroot().itertext()]
assert sum(text.endswith(" features of 2 annotations") for text in texts) == 1
assert (texts.count("-1000"), texts.count("1000"), texts.count("t")) == (4, 4, 2), texts'
    run_ok '  of a single bin' genes --genes h5.bed -b 0 -a 10 --plot p.svg --datasets h3k4me3 p.h5
    like "$(cat p.svg)" '>3 features of h5<' '  whose title has the number of features'
    like "$(cat p.svg)" '>mean and 95 % confidence interval<' '  and whose axis names the band'
    head -n 1 h5.bed >one.bed
    run_ok '  and of a single feature' genes --genes one.bed -b 0 -a 20 --plot p.svg --datasets h3k4me3 p.h5
else
    pass 'pictures # SKIP no gnuplot'
fi
run_ok '--stats' covprofile genes --genes f.bed --stats s.covprofile_mqc.json -o s.tsv t.bw u.bw
stderr_like '^covprofile: t: [0-9]+ features, largest value [0-9.]+ at -?[0-9]+$' '  also on standard error'
stderr_like '^covprofile: t: TSS enrichment [0-9.]+$' '  with the TSS enrichment'
ok '  has the largest values' "$PYTHON" -c '
import json
s = json.load(open("s.covprofile_mqc.json"))
table = [line.split("\t") for line in open("s.tsv")]
for k, track in enumerate(s["profiles"], 1):
    top = max(table[1:], key=lambda row: float(row[k]))
    assert track["track"] == table[0][k].strip(), track
    assert [track["position"], track["largest"]] == [int(top[0]), float(top[k])], track
    means = [float(row[k]) for row in table[101:501]]
    enrichment = max(means) / (sum(means[:10] + means[-10:]) / 20)
    assert int(table[101][0]) == -2000 and abs(track["tss_enrichment"] / enrichment - 1) < 1e-12, track
assert s["features"] == sum(line[0] == "c" for line in open("f.bed"))
assert s["data"]["s.t"]["largest"] == s["profiles"][0]["largest"], s["data"]
assert abs(s["data"]["s.t"]["tss_enrichment"] - s["profiles"][0]["tss_enrichment"]) < 1e-4, s["data"]'
for options in '-b 1990' '-a 1990' '--bin-size 5' '--anchor tes'; do
    # shellcheck disable=SC2086 # words
    run covprofile genes --genes f.bed $options --stats s.json -o x.tsv -f t.bw
    ok "  no TSS enrichment with $options" grep -q '"tss_enrichment": null' s.json
done
genes --genes f.bed --median --stats s.json -o x.tsv t.bw
is "$(grep -c '"tss_enrichment": [0-9]' s.json)" 1 '  but with --median'
run_ok '--tsse' covprofile genes -q -f --genes f.bed --tsse -b 2000 -a 2000 -o x.tsv t.bw
stderr_is '' '  without a warning'
awk -F '\t' -v OFS='\t' '{ $4 = 0; print }' t.bg >zero.bg
run_ok '  of a track of zeros' covprofile genes -q -f --genes f.bed --tsse --chrom-sizes sizes -o x.tsv zero.bg
stderr_like '^covprofile: warning: zero: no TSS enrichment: ' '    causes a warning'
while IFS='|' read -r options message; do
    # shellcheck disable=SC2086 # words
    refuses_genes 2 "--tsse $message$" "--tsse $options" --genes f.bed --tsse $options -o x.tsv t.bw
done <<'END'
-b 1990|needs --before 2000 or more
-a 1990|needs --after 2000 or more
--bin-size 5|needs --bin-size 10
--anchor tes|needs --anchor tss
--preset predmoter|and --preset predmoter cannot be used together
END

# ---------------------------------------------------------------- table

run covprofile table -q -f --genes f.gff3.gz -@ 1 -o x.tsv t.bw u.bw
ok 'table: GFF3 and bigWig, with one thread' cmp x.tsv sums.tsv
printf 'chr1\t0\t30000\nchr1\t29990\t30000\n' >whole.bed
run covprofile table -q -f --genes whole.bed --chrom-sizes sizes -o x.tsv t.bg
is "$(tail -n +2 x.tsv | cut -f 1-5,10)" "$(printf 'chr1\t0\t30000\t.\t.\t30000\nchr1\t29990\t30000\t.\t.\t10')" '  a whole sequence, without names'
printf 'chr1\t3\t7\tx\t0\t+\t3\t7\t0\t2\t1,1\t0,3\n' >blocks.bed
printf 'chr1\t0\t9\t0.1\n' >tenth.bg
run covprofile table --genes blocks.bed tenth.bg
is "$(tail -n 1 "$stdout" | cut -f 6-10)" "$(printf '0.10000000149011612\t0.10000000149011612\t0.10000000149011612\t0.4000000059604645\t4')" \
    '  all bases of a BED12 line, with the same digits in all columns'
run covprofile table -f --genes more.bed --stats s.json p.h5 h.bw
stderr_like '^covprofile: warning: more\.bed: 2 features on sequences that are not in p\.h5: elsewhere, lost$' '  unknown sequences are a warning'
is "$(grep -c 'not in p' "$stderr")" 1 '    given once, not for each dataset'
is "$(tail -n 1 "$stdout")" 'lost	5	9	.	.	NA	NA	NA	0	0	NA	NA	NA	0	0	NA	NA	NA	0	0' '  and have no values'
is "$(head -n 4 "$stdout" | cut -f 11-15 | sed s/p_h3k4me3/h/g)" "$(head -n 4 "$stdout" | cut -f 16-20)" '  predictions equal their bigWig'
ok '  --stats' "$PYTHON" -c '
import json, sys
s, rows = json.load(open("s.json")), [line.split("\t") for line in open(sys.argv[1])][1:4]
assert s["features"] == 5 and [(x["track"], x["features"]) for x in s["table"]] == [("p_atacseq", 3), ("p_h3k4me3", 3), ("h", 3)], s
assert abs(s["table"][2]["mean"] - sum(float(row[15]) for row in rows) / 3) < 1e-9, s' "$stdout"
printf 'c|3\t0\t1\tx\t0\t+\nd\t5\t9\n' >d.bed
printf 'c|3\t1\t9\t3\nc|3\t30\t32\t-4\n' >gap.bg
refuses 1 'gap\.bg: no base in a feature of d\.bed has a value$' '  no values at all' table --genes d.bed -o x2.tsv gap.bg
printf 'c|3\t5\t31\n' >gap.bed
printf 'c|3\t40\n' >gap.sizes
run covprofile table -q --chrom-sizes gap.sizes --genes gap.bed gap.bg
stderr_like '^covprofile: warning: gap\.bg: missing values at 75 % of its bases' '  a warning about missing values'
run covprofile table -q --fill-gaps --chrom-sizes gap.sizes --genes gap.bed gap.bg
is "$(tail -n 1 "$stdout" | cut -f 7-)" '-4	3	8	26' '  --fill-gaps'
rm -f x.tsv

# ---------------------------------------------------------------- deepTools reads matrices as ASCII

cp t.bg café.bg
printf 'chr1\t100\t200\tgène\t.\t+\n' >named.bed
run covprofile genes -q -f --genes named.bed -b 10 -a 10 --matrix ascii.mat.gz -o x.tsv café.bg
gzip -dc ascii.mat.gz >ascii.mat
like "$(cat ascii.mat)" '"sample_labels": ?\["caf\\u00e9"\]' 'the name of a track outside ASCII is escaped in the matrix'
is "$(tail -n 1 ascii.mat | cut -f 1-6)" "$(printf 'chr1\t100\t200\tg%%C3%%A8ne\t.\t+')" '  and so is that of a feature'
rm -f x.tsv

# ---------------------------------------------------------------- annotations of other programs

# The unit test of annotations has all kinds; here, that the strand counts, and the warning.
awk 'BEGIN { for (i = 0; i < 500; i++) printf "chr1\t%d\t%d\t%d\n", i, i + 1, i }' >ramp.bg
printf 'chr1\t100\t200\t-\nchr1\t300\t400\t+\n' >strand4.bed
run covprofile genes --genes strand4.bed -b 0 -a 1 --bin 1 -o - ramp.bg
is "$(tail -n 1 "$stdout")" '0	249.5' 'the strand in column 4: the last base of a gene on the minus strand'
stderr_like '^covprofile: warning: strand4\.bed: takes the strand from column 4, since column 6 has none$' '  with a warning'
run covprofile genes --genes f.bed --chrom-sizes sizes -o - t.bg
unlike "$(cat "$stderr")" 'takes the strand' '  unlike one in column 6'

# ---------------------------------------------------------------- features without values

printf 'chr1\t100\t109\nchr1\t200\t300\nchr1\t400\t409\n' >short.bed
run covprofile genes --genes short.bed --anchor scale --body 100 --bin 10 -b 0 -a 0 -o x.tsv t.bw
stderr_like '^covprofile: warning: short\.bed: 2 of 3 features are shorter than a bin \(10 bases\) and have no values; use a smaller --bin-size$' \
    'features that are too short to be scaled are counted'
stderr_like 't: 1 feature, ' '  and do not count in the profile'
run covprofile genes -f --genes short.bed --anchor centre -b 10 -a 10 -o x.tsv t.bw
unlike "$(cat "$stderr")" shorter '  other anchors use all of them'
printf 'chr1\tx\tregion\t1\t30000\t.\t+\t.\tID=c;Is_circular=true\nchr1\tx\tgene\t29900\t30100\t.\t-\t.\tID=over\nchr1\tx\tgene\t100\t200\t.\t+\t.\tID=in\n' >circular.gff3
run covprofile genes -f --genes circular.gff3 -b 10 -a 10 -o x.tsv t.bw
status_is 0 'a gene over the origin of a circular sequence is left out'
stderr_like '^covprofile: warning: circular\.gff3: omits 1 feature over the origin of circular sequences: over$' '  with a warning'
rm -f x.tsv

# ---------------------------------------------------------------- refusals

refuses_genes 2 '--genes is missing$' 'no annotation' t.bw
refuses_genes 2 '--body needs --anchor scale$' '--body without scale' --genes f.bed --body 10 t.bw
refuses_genes 2 '--body 1000 must be a multiple of --bin-size 7$' '  nor in the scaled feature' --genes f.bed -b 14 -a 14 --bin 7 --anchor scale t.bw
refuses_genes 2 '--bin-size and --preset predmoter cannot be used together$' 'the preset with other bins' --genes f.bed --preset predmoter --bin 1 t.bw
refuses_genes 1 '--experimental is for predictions and genome files; there is none$' '--experimental for tracks' --genes f.bed --experimental t.bw u.bw
refuses_genes 1 '--chrom-sizes is for bedGraph; there is none$' '--chrom-sizes for bigWig' --genes f.bed --chrom-sizes sizes t.bw u.bw
refuses_genes 2 'standard input \(-\) is given 2 times$' 'standard input twice' --genes f.bed - -
refuses_genes 1 '^covprofile: error: f\.gff3: no features of type exon; it has: gene, mRNA$' 'no such features' --genes f.gff3 --feature exon t.bw
printf 'chr1\t29000\t30000\nchr1\t29000\t30001\n' >long.bed
refuses_genes 1 'long\.bed:2: the feature ends at 30001, but chr1 has only 30000 bases in t\.bw$' 'a feature that is too long' \
    --genes long.bed -o x.tsv --matrix x.mat.gz t.bw
refuses_genes 1 'x\.bed: none of its sequences \(x1, x2, x10\) is in t\.bw \(chr1, chr10, chr2, c\|3, unused\); --rename maps names$' 'other names' \
    --genes x.bed -o x.tsv t.bw
printf 'chr1\t0\t100000000\n' >huge.bed
refuses_genes 1 'huge\.bed:1: the feature has 100000000 bases; the limit for a whole feature is 33554432$' 'a feature that is too long to be scaled' \
    --genes huge.bed --anchor scale t.bg
printf 'chr1\t5\n' >bad.bed
refuses_genes 1 'bad\.bed:1: neither GFF3, GTF nor BED$' 'wrong columns' --genes bad.bed -o x.tsv t.bw
: >empty.bg
refuses_genes 1 'empty\.bg: the file is empty$' 'an empty track' --genes f.bed -o x.tsv t.bw empty.bg
printf '# nothing\ntrack type=bedGraph\n' >head.bg
refuses_genes 1 'head\.bg: no intervals$' '  or one with a head only' --genes f.bed -o x.tsv t.bw head.bg
printf '>chr1\nACGTACGTAC\n' >bare.fa
fasta2h5 -q -o bare.h5 bare.fa || exit 99
fasta2h5 -q --layout packed -o packed.h5 bare.fa || exit 99
refuses_genes 1 'packed\.h5: a genome file without measured coverage' 'a genome file of packed bases' --genes h5.bed -o x.tsv packed.h5
refuses_genes 1 'bare\.h5: a genome file without measured coverage' '  or a genome file without coverage' --genes h5.bed -o x.tsv bare.h5
printf 'other\t50\n' >other_sizes
refuses_genes 1 't\.bg:1: contig chr1 is not in other_sizes, which has: other$' 'lengths of other sequences' \
    --genes f.bed --chrom-sizes other_sizes -o x.tsv t.bg
refuses_genes 1 't\.bw: no base near a feature of f\.bed has a value$' 'a region without features' --genes f.bed -r unused -o x.tsv t.bw
refuses_genes 1 'missing\.bw: No such file' 'a missing track' --genes f.bed -o x.tsv t.bw missing.bw
refuses_genes 1 'missing\.gff: No such file' 'a missing annotation' --genes missing.gff -o x.tsv t.bw

# ---------------------------------------------------------------- correlate

awk -F'\t' -v OFS='\t' '{ print $1, $2, $3, 20 - $4 + $3 % 7 }' t.bg >v.bg
for method in pearson spearman; do
    correlate --bins 100 --method $method --chrom-sizes sizes -o c.tsv t.bg u.bg v.bg
    ok "bins, $method" ask correlations c.tsv bins=100 method=$method tracks=t.bg,u.bg,v.bg
    correlate --genes f.bed --method $method --chrom-sizes sizes -o c.tsv t.bg u.bg v.bg
    ok "features, $method" ask correlations c.tsv method=$method tracks=t.bg,u.bg,v.bg
done
while read -r anchor options; do
    # shellcheck disable=SC2086 # words
    correlate --genes f.bed --anchor $anchor ${options%%:*} --chrom-sizes sizes -o w.tsv t.bg u.bg v.bg
    # shellcheck disable=SC2086 # words
    ok "windows: --anchor $anchor ${options%%:*}" ask correlations w.tsv tracks=t.bg,u.bg,v.bg anchor=$anchor ${options#*:}
done <<'END'
tss :before=3000 after=3000
tes -b 0 -a 70:after=70
centre -b 133 -a 0:before=133
whole -b 20 -a 50:before=20 after=50
END
correlate --genes f.bed --mode bases --chrom-sizes sizes -o w.tsv t.bg u.bg v.bg
ok 'base by base' ask correlations w.tsv tracks=t.bg,u.bg,v.bg mode=bases
correlate --genes f.bed --mode bases --anchor tss -b 20 -a 30 --chrom-sizes sizes --stats s.json -o w.tsv t.bg u.bg v.bg
ok '  short windows, of which many have equal values' ask correlations w.tsv tracks=t.bg,u.bg,v.bg mode=bases before=20 after=30
ok '  --stats' grep -q '"mode": "bases"' s.json
printf 'n1\t0\t50\t500\nn1\t50\t100\t600\n' | tee one.bg >both.bg
printf 'n2\t0\t50\t500\nn2\t50\t100\t600\n' >>both.bg
printf 'n1\t100\nn2\t100\n' >n.sizes
for track in one both; do cov2bigwig -q --chrom-sizes n.sizes -o $track.bw $track.bg || exit 99; done
printf 'n1\t40\t60\nn2\t40\t60\nn3\t40\t60\n' >n.bed
echo n2 >n2
while read -r wanted options; do
    # shellcheck disable=SC2086 # words
    run covprofile correlate -f --genes n.bed --mode bases --anchor centre -b 10 -a 10 $options one.bw both.bw
    is "$(sed -n 2p "$stdout")" "one	$wanted	$wanted" "  a sequence without values in one track: $options"
done <<'END'
0.5
1 -r n1
1 --blacklist-file n2
END
stderr_like '^covprofile: 1 feature on sequences of all tracks$' '    leaves its features out'
# 60 genes without correlation, and two of rDNA, of which one overlaps the other.
awk "$random"'BEGIN {
    seed(3)
    for (i = 0; i < 60; i++) {
        print "n\t" i * 100 "\t" i * 100 + 100 >"rdna.bed"
        print "n\t" i * 100 "\t" i * 100 + 100 "\t" 1 + int(random() * 9) >"x.bg"
        print "n\t" i * 100 "\t" i * 100 + 100 "\t" 1 + int(random() * 9) >"y.bg"
    }
    print "n\t6000\t6200\nn\t6050\t6150" >"rdna.bed"
    print "n\t6000\t6200\t900" >"x.bg"
    print "n\t6000\t6200\t700" >"y.bg"
    print "n\t6200" >"n.sizes"
}' || exit 99
correlate --genes rdna.bed --chrom-sizes n.sizes -o x.tsv x.bg y.bg
stderr_like '^covprofile: warning: x and y: extreme coverage decides Pearson.s r: (1\.000|0\.99[0-9]) per feature, but -?0\.[01][0-9]+ without n:6001-6200; --blacklist-file omits such regions$' \
    'rDNA that decides the correlation of features'
for options in '--method spearman' '--blacklist-file rdna.mask'; do
    printf 'n\t6000\t6200\n' >rdna.mask
    # shellcheck disable=SC2086 # words
    correlate --genes rdna.bed $options --chrom-sizes n.sizes -o x.tsv x.bg y.bg
    unlike "$(cat "$stderr")" 'extreme' "  $options: no warning"
done
correlate --genes f.gff3 --feature mRNA --method spearman --chrom-sizes sizes -o gff.tsv t.bg u.bg v.bg
ok '  of a GFF3' cmp gff.tsv c.tsv
correlate --bins 100 -o c.tsv t.bw u.bw
ok 'of bigWig' ask correlations c.tsv bins=100
correlate --bins 100 -o c.tsv --chrom-sizes sizes u.bg t.bw
ok '  in the other order' ask correlations c.tsv bins=100 tracks=u.bg,t.bg
correlate --bins 20 --datasets h3k4me3 --stats s.json p.h5 h.bw e.h5
is "$(sed -n '2,3s/.*\t1\t1\t.*/same/p' "$stdout")" "$(printf 'same\nsame')" 'predictions and their bigWig'
ok '  --stats' "$PYTHON" -c '
import json, sys
s = json.load(open("s.json"))
table = [line.split("\t") for line in open(sys.argv[1])]
assert [(x["a"], x["b"]) for x in s["correlations"]] == [("p", "h"), ("p", "e"), ("h", "e")], s
assert abs(s["correlations"][1]["r"] - float(table[1][3])) < 1e-9 and s["correlations"][0]["r"] == 1 and s["method"] == "pearson" and s["bins"] > 100, s' "$stdout"
# Replicates: the columns of a dataset, in the direction of the genome.
cat >replicates.py <<'END'
import sys, h5py, numpy
path, table, names = sys.argv[1:]
with h5py.File(path) as f:
    plus = [(beg, end, i) for i, (beg, end) in enumerate(f["data/start_ends"][:].tolist()) if beg < end]
    x = numpy.concatenate([f["evaluation/h3k4me3_coverage"][i, :end - beg] for beg, end, i in plus]).astype(float)
rows = [line.rstrip("\n").split("\t") for line in open(table)]
assert rows[0] == ["track", *names.split(",")] and [row[0] for row in rows[1:]] == rows[0][1:], rows[0]
numpy.testing.assert_allclose(numpy.array([row[1:] for row in rows[1:]], float), numpy.corrcoef(x.T), atol=1e-12)
END
for source in e.h5 -; do
    run sh -c "h5chunk cat e.h5 | covprofile correlate -q -f --experimental --replicates --datasets h3k4me3 --bins 1 --strand + -o r.tsv $source"
    stem=e
    [ $source = - ] && stem=stdin
    ok "replicates: $source" "$PYTHON" replicates.py e.h5 r.tsv ${stem}_h3k4me3_1,${stem}_h3k4me3_2,${stem}_h3k4me3_3
done
name_files() { # FILE...: of the columns
    "$PYTHON" -c 'import sys, h5py, numpy
with h5py.File("named.h5", "a") as f:
    f.pop("evaluation/h3k4me3_meta", None)
    f["evaluation/h3k4me3_meta/bam_files"] = numpy.array(sys.argv[1:], "S50")' "$@"
}
cp e.h5 named.h5
name_files a/one.bam two.sorted.bam b/three.cram
correlate --replicates --bins 100 --stats s.json named.h5 h.bw
is "$(head -n 1 "$stdout")" 'track	named_atacseq	named_h3k4me3_one	named_h3k4me3_two.sorted	named_h3k4me3_three	h' '  are named after their files'
run sh -c 'h5chunk cat named.h5 | covprofile correlate -q --experimental --replicates --bins 100 -'
is "$(head -n 1 "$stdout")" 'track	stdin_atacseq	stdin_h3k4me3_one	stdin_h3k4me3_two.sorted	stdin_h3k4me3_three' '  also from a stream'
name_files a/one.bam two.bam b/one.bam
run covprofile coverage -q --replicates --datasets h3k4me3 named.h5
is "$(cut -f 1 "$stdout" | paste -sd ' ')" 'track named_h3k4me3_1 named_h3k4me3_2 named_h3k4me3_3' '  or numbered, if these are equal'
name_files one.bam two.bam
rm -f x.tsv
refuses 1 'named\.h5: evaluation/h3k4me3_meta/bam_files: not the names of 3 columns$' '  not if their number is wrong' correlate --replicates named.h5
printf 'c\t0\t100\t5\n' >flat.bg
printf 'c\t0\t50\t5\nc\t50\t100\t6\n' >steps.bg
correlate --bins 10 flat.bg steps.bg
is "$(tail -n 2 "$stdout")" "$(printf 'flat\tNA\tNA\nsteps\tNA\t1')" 'a track with equal values'
if command -v gnuplot >/dev/null; then
    for file in c.png c.svg; do
        run_ok "a picture: $file" correlate --bins 100 --chrom-sizes sizes --plot $file -o c.tsv t.bg u.bg v.bg
        ok '  was written' test -s $file
    done
    # Two pairs with r = 1, one of them 1 - the other, and a track without r.
    for i in 0 1 2 3 4; do
        a=$((i * i)) beg=$((i * 10)) end=$((i * 10 + 10))
        for track in "a1 $a" "b1 $((90 - a))" 'flat 5' "a2 $((2 * a + 1))" "b2 $((99 - 3 * a))"; do
            printf 'c\t%d\t%d\t%s\n' $beg $end "${track#* }" >>"q_${track% *}.bg"
        done
    done
    correlate --bins 10 --plot q.svg q_a1.bg q_b1.bg q_flat.bg q_a2.bg q_b2.bg
    is "$(head -n 1 "$stdout")" 'track	q_a1	q_b1	q_flat	q_a2	q_b2' 'the table has the order of the inputs'
    is "$(grep -o 'q_[a-z0-9]*' q.svg | paste -sd ' ')" \
        "$(printf '%s ' q_b1 q_b2 q_flat q_a1 q_a2 q_b1 q_b2 q_flat q_a1)q_a2" '  and the picture that of clusters'
    is "$(grep -c 'NA<\|>NA' q.svg) $(grep -o 'r = [-0-9.]*' q.svg | paste -sd ' ')" '9 r = -1 r = -0.5 r = 0 r = 0.5' \
        '  NA and the heights of the tree'
fi
refuses 2 '--feature needs --genes$' 'features without genes' correlate --feature gene t.bw u.bw
refuses 2 '--anchor needs --genes$' 'an anchor without genes' correlate --anchor tss t.bw u.bw
refuses 2 '--mode needs --genes$' 'base by base without genes' correlate --mode bases t.bw u.bw
refuses 2 '--mode bases needs --method pearson$' '  or ranks' correlate --genes f.bed --mode bases --method spearman t.bw u.bw
refuses 2 '--mode bases needs windows of one length, not --anchor whole$' '  or whole features' \
    correlate --genes f.bed --mode bases --anchor whole t.bw u.bw
refuses 2 '--before and --after are both 0$' '  or a single base' correlate --genes f.bed --mode bases -b 0 -a 0 t.bw u.bw
printf 'n1\t0\t50\nn2\t0\t50\n' >n.bed
for n in n1 n2; do printf '%s\t0\t100\t1\n' $n >$n.bg; done
refuses 1 'n\.bed: no feature is on a sequence of all tracks$' '  or tracks without a common sequence' \
    correlate --genes n.bed --mode bases n1.bg n2.bg
refuses 2 '--before and --after are both 0$' 'windows of no bases' correlate --genes f.bed --anchor tss -b 0 -a 0 t.bw u.bw
refuses 1 'steps\.bg: none of its sequences \(c\) is in t\.bw \(chr1, chr10, chr2, c\|3, unused\); --rename maps names$' 'tracks of other sequences' \
    correlate -o x.tsv t.bw steps.bg
sed 's/500$/600/' sizes >other_sizes
cov2bigwig -q --chrom-sizes other_sizes -o w.bw t.bg || exit 99
refuses 1 'w\.bw: chr2 has 600 bases, but 500 in t\.bw$' 'tracks of other assemblies' correlate -o x.tsv t.bw w.bw
refuses 1 'flat, steps: 1 bin has a value in all tracks; correlations need two$' 'too few bins' correlate flat.bg steps.bg
done_testing
