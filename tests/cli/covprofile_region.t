#!/bin/sh
# covprofile region: the table against means computed here, the picture with genes and peaks, kinds of inputs, refusals.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
. "$SRC/tests/lib/covprofile.sh"
need_program gnuplot

ask make pred p.h5 || exit 99
ask make exp e.h5 || exit 99
region() { run covprofile region -f "$@"; }
mkdir fake
# shellcheck disable=SC2016 # for the fake
printf '#!/bin/sh\ntee "%s/script" | "%s" "$@"\n' "$PWD" "$(command -v gnuplot)" >fake/gnuplot
chmod +x fake/gnuplot
draws() { PATH=$PWD/fake:$PATH run covprofile region -q -f --plot x.svg "$@"; }
data() { # NAME: a block of the script, without the point that is always there
    sed -n "/^\\\$$1 << EOD/,/^EOD/p" script | sed '1d; $d' | sed 1,2d
}

# ---------------------------------------------------------------- the table

printf '%s\t%s\t%s\t%s\n' c1 0 10 2 c1 10 30 4 c1 40 50 -1 c2 0 9 7 >t.bg
printf '%s\t%s\t%s\t%s\n' c1 0 60 3 >u.bg
printf 'c1 60\nc2 9\n' >sizes
run_ok 'two tracks without lengths' region -r c1:9-42 t.bg u.bg
is "$(head -n 4 "$stdout")" "$(printf '%s\n' 'contig	start	end	t	u' 'c1	8	9	2	3' 'c1	9	10	2	3' 'c1	10	11	4	3')" \
    '  have a row for each base'
is "$(sed -n '24,25p' "$stdout")" "$(printf '%s\n' 'c1	30	31	NA	3' 'c1	31	32	NA	3')" '  also where there is no value'
is "$(sed -n '$p' "$stdout")" 'c1	41	42	-1	3' '  up to the last'
run_ok 'a whole sequence' region -r c1 --chrom-sizes sizes --names a,b -o x.tsv t.bg u.bg
is "$(head -n 1 x.tsv)" 'contig	start	end	a	b' '  with names'
is "$(sed -n '42p;$p' x.tsv)" "$(printf '%s\n' 'c1	40	41	-1	3' 'c1	59	60	NA	3')" '  and its length'
awk 'BEGIN { for (i = 0; i < 100000; i++) printf "c\t%d\t%d\t%d\n", i * 3, i * 3 + 3, i % 7 }' >wide.bg
printf 'c\t0\t5\t1\n' >near.bg
run_ok 'a region wider than the picture' region -r c:1001- -o x.tsv wide.bg near.bg
# shellcheck disable=SC2016 # for awk
ok '  has the means of bins' awk -F '\t' '
    NR == 1 { next }
    {
        sum = 0
        for (i = $2; i < $3; i++) sum += int(i / 3) % 7
        far = $4 - sum / ($3 - $2)
        if (far > 1e-6 || far < -1e-6 || $2 != end + (NR == 2) * 1000 || $5 != "NA") exit 1
        end = $3
    }
    END { exit !(end == 300000 && NR > 481 && NR <= 961) }' x.tsv
stderr_like 'near.bg: no base of the region has a value' '  and a warning about an empty track'
region -r chr1 --datasets h3k4me3 --stats s.json -o x.tsv p.h5 e.h5
is "$(head -n 1 x.tsv)" 'contig	start	end	p	e' 'predictions and a genome file'
is "$(sed -n 's/^ *"track": //p' s.json | tr -d '\n')" '"p","e",' '  in the statistics'
run sh -c 'covprofile region -q -r c1 - <t.bg | tail -n 1'
is "$(cat "$stdout")" 'c1	49	50	-1' 'standard input'

# ---------------------------------------------------------------- the picture

printf 'chr1\tm\t%s\t%d\t%d\t.\t%s\t.\tID=%s\n' gene 101 500 + "it's" exon 101 200 + e1 exon 301 500 + e2 exon 401 500 - e3 \
    mRNA 101 500 + m gene 321 380 + inner exon 331 350 + e4 gene 3001 3500 - far gene 3601 3990 . none exon 3601 3650 . e5 |
    sort -k 4,4n >genes.gff3
printf 'chr1\t%d\t%d\n' 50 150 990 1001 2000 2100 >peaks.bed
printf 'chr2\t1\t2\n' >elsewhere.bed
draws -r chr1:1-1000 --datasets atacseq --genes genes.gff3 --peaks peaks.bed --names pred,exp p.h5 e.h5
status_is 0 'genes and peaks'
ok '  as XML' "$PYTHON" -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' x.svg
for what in predicted measured pred exp genes.gff3 peaks "it's" inner; do
    like "$(cat x.svg)" ">$what<" "  with $what"
done
is "$(data boxes0 | cut -d ' ' -f 3,4)" "$(printf '%s\n' '100 200' '300 500' '330 350')" '  exons as boxes'
is "$(data boxes0 | awk '$5 > -1' | cut -d ' ' -f 3)" "$(printf '%s\n' 100 300)" '  those of a gene in a row, those of another below'
is "$(data boxes1 | cut -d ' ' -f 3,4)" "$(printf '%s\n' '50 150' '990 1000')" '  peaks up to the end of the region'
is "$(grep '^set yrange' script | head -n 2 | sort -u | wc -l | tr -d ' ')" 1 '  both tracks on one scale'
draws -r chr1:3001-4000 --datasets atacseq --own-scales --genes genes.gff3 --feature gene p.h5 e.h5
is "$(data boxes0 | cut -d ' ' -f 3,4)" "$(printf '%s\n' '3000 3500' '3600 3650')" 'a gene without exons is a box'
is "$(data lines0 | awk '$1 <= 3500 && NF' | head -n 2 | cut -d ' ' -f 1 | tr '\n' ' ')" '3000 3500 ' '  on its line'
ok '  and its arrow is at the left' test "$(data lines0 | awk 'NF && $1 < 3000' | wc -l)" -eq 3
printf 'chr1\tm\t%s\t%d\t%d\t.\t+\t.\t%s\n' gene 1 400 ID=A mRNA 1 400 'ID=A1;Parent=A' gene 110 200 ID=B mRNA 110 200 'ID=B1;Parent=B' \
    exon 1 50 Parent=A1 exon 120 150 Parent=A1 exon 160 200 Parent=B1 >nested.gff3
draws -r chr1:1-500 --datasets atacseq --genes nested.gff3 p.h5
is "$(data boxes0 | cut -d ' ' -f 2-4)" "$(printf '%s\n' '-0.94 0 50' '-0.94 119 150' '-1.94 159 200')" 'an exon of a gene around another stays in its own'
sed 's/ID=\(.\);*.*/gene_id "\1"/; s/ID=\(.\)\(.\);.*/gene_id "\1"; transcript_id "\1\2"/; s/Parent=\(.\)\(.\)/gene_id "\1"; transcript_id "\1\2"/' \
    nested.gff3 >nested.gtf
draws -r chr1:1-500 --datasets atacseq --genes nested.gtf p.h5
is "$(data boxes0 | cut -d ' ' -f 2-4)" "$(printf '%s\n' '-0.94 0 50' '-0.94 119 150' '-1.94 159 200')" '  also in a GTF'
draws -r c:1-9 --own-scales wide.bg near.bg
is "$(grep '^set yrange' script | sort -u | wc -l | tr -d ' ')" 2 'own scales'
draws -r chr1:600-700 --datasets atacseq --genes genes.gff3 --peaks peaks.bed,peaks.bed p.h5
status_is 0 'no gene and no peak in the region'
run_ok 'no peak on the sequence' draws -r chr1 --datasets atacseq --peaks elsewhere.bed p.h5
stderr_like 'elsewhere.bed: no peaks on chr1; its sequences are: chr2$' '  causes a warning'
draws -r chr1 --datasets atacseq --genes peaks.bed p.h5
is "$(data boxes0 | wc -l | tr -d ' ')" 3 'genes of a BED file'
awk 'BEGIN { for (i = 0; i < 14; i++) print "chr1", 10 + i, 900, "g" i, 0, "+" }' >many.bed
draws -r chr1 --datasets atacseq --genes many.bed p.h5
stderr_like 'many.bed: 2 of the region.s features do not fit' 'more genes than rows'
is "$(data boxes0 | wc -l | tr -d ' ')" 12 '  of which twelve are drawn'
run_ok 'a single base' draws -r chr1:5-5 --datasets atacseq --genes many.bed p.h5
printf 'chrom\t0\t100\t1\nchrom\t100\t150\t3.5\nchrom\t160\t200\t-2\nb&<b\t0\t4000000\t7\n' >x.bg
draws -r chrom:1-200 x.bg
is "$(sed -n '/^\$d0/,/^EOD/p' script)" \
    "$(printf '%s\n' "\$d0 << EOD" '0 0' '200 0' '' '0 1' '100 1' '100 3.5' '150 3.5' '' '160 -2' '200 -2' EOD)" 'a curve: values as steps, and a gap'
draws -r chrom:301-400 x.bg
like "$(cat x.svg)" '>chrom:301-400<' 'a region after all intervals'
run_ok 'only a gap' draws -r chrom:151-160 x.bg
printf 'chrom 5000\nb&<b 5000000\n' >x.sizes
draws -r chrom:1-18 --chrom-sizes x.sizes x.bg
is "$(grep -m 1 '^set xtics' script | tr -cd ,)" ,,,,,,,, 'a tick at each second base of 18'
draws -r chrom:4901-6000 --chrom-sizes x.sizes x.bg
like "$(cat x.svg)" '>chrom:4,901-5,000<' 'a region is cut where the sequence ends'
draws -r chrom --chrom-sizes x.sizes x.bg
is "$(data d0 | tr '\n' ',')" ',0 1,96 1,96 1.833333,102 1.833333,102 3.5,150 3.5,,156 -2,204 -2,,' 'points of 6 bases are their means'
draws -r 'b&<b:1-5000000' --chrom-sizes x.sizes x.bg
like "$(cat x.svg)" '>position on b&amp;&lt;b \(Mb\)<' 'a name with XML characters, in megabases'
run sh -c 'covprofile region -q -f -r chrom --plot x.svg --chrom-sizes x.sizes - <x.bg'
like "$(cat x.svg)" '>5,000 bases; a point of a curve is the mean of 6 bases<' 'a pipe, whose lengths are announced at the end'
printf "a'\$(id)\"\\\\n_\\342\\360\\237\\230\\200\\t0\t50\t1\n" >odd.bg
draws -r "$(cut -f 1 odd.bg)" odd.bg
ok 'a name with quotes and invalid UTF-8' "$PYTHON" -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' x.svg

# ---------------------------------------------------------------- refusals

refuses 1 'p.h5: region none: unknown contig none.*; the contigs are: ' 'an unknown sequence' region -r none p.h5
refuses 1 'u.bg: region c2:1-9: unknown contig c2; the contigs are: c1$' 'one that the second input lacks' region -r c2 t.bg u.bg
refuses 1 'begins past the end' 'a region past the end' region -r chr1:9M-10M p.h5
refuses 1 'x.bg: region chrom:5001-5002: begins past the end of the contig, which has 5000 bases$' 'a region past the end of a track' \
    region -r chrom:5001-5002 --chrom-sizes x.sizes x.bg
refuses 1 'x.bg: region chrom:5001: begins past the end' 'a base past the last interval' region -r chrom:5001 x.bg
refuses 2 'region chr1:0-4: positions start at 1' 'a range from 0' region -r chr1:0-4 p.h5
refuses 1 'unknown contig chr1:1-x \(expected NAME' 'a malformed range' region -r chr1:1-x p.h5
echo chr10 >drop
refuses 1 'region chr10:1-1: its contig is listed in drop' 'a sequence on the blacklist' region -r chr10:1-1 --blacklist-file drop p.h5
ask make pred many.h5 names=chr1 max_length=50 length=50 "datasets=$(seq -s , 201)" || exit 99
refuses 1 'too many tracks; the limit is 200$' 'too many tracks' region -r chr1 many.h5
refuses 1 'x.svg: already exists; use -f' 'an existing picture' region -r chr1 --plot x.svg p.h5
run cov2bigwig --plot y.png --plot-region chr1 p.h5
refused 2 '^cov2bigwig: error: unknown option .--plot.; use covprofile region' 'cov2bigwig --plot'
refuses 2 'region.*is missing|--region' 'no region' region p.h5
refuses 1 'genes.gff3: no features on chr10; its sequences are: chr1$' 'an annotation without the sequence' region -r chr10 --plot y.png \
    --genes genes.gff3 p.h5
printf 'chr1 0 1 1\nchr1 0\n' >damaged.bg
refuses 1 'genes.gff3: no features on chr10; its sequences are: chr1$' '  before a track is read' region -r chr10:1-50 --plot y.png \
    --genes genes.gff3 damaged.bg
refuses 1 'genes.gff3: no features of type CDS$' 'no features of the type' region -r chr1 --plot y.png --genes genes.gff3 --feature CDS p.h5
echo 'chr1	90	999999' >past.bed
refuses 1 'past.bed:1: the feature ends at 999999, but chr1 has only 4000 bases in p.h5$' 'a peak past the end' region -r chr1 --plot y.png --peaks past.bed p.h5
refuses 1 'genes.gff3:1: GFF3 or GTF instead of BED$' 'genes as peaks' region -r chr1 --plot y.png --peaks genes.gff3 p.h5
: >empty.bed
refuses 1 'empty.bed: no features$' 'no peaks' region -r chr1 --plot y.png --peaks empty.bed p.h5
printf 'c1 70\nc2 9\n' >sizes2
cov2bigwig -f -q -o t.bw --chrom-sizes sizes t.bg && cov2bigwig -f -q -o t2.bw --chrom-sizes sizes2 t.bg || exit 99
refuses 1 't2.bw: c1 has 70 bases, but 60 in t.bw$' 'another length' region -r c1 t.bw t2.bw
refuses 1 '--labels: 1 label for 2 tracks: p_atacseq, p_h3k4me3$' 'too few names' region -r chr1 --names a p.h5
refuses 2 '--genes needs --plot$' 'genes without a picture' region -r chr1 --genes genes.gff3 p.h5
refuses 2 '--peaks needs --plot$' 'peaks without a picture' region -r chr1 --peaks peaks.bed p.h5
refuses 2 '--feature needs --genes$' 'a type without genes' region -r chr1 --feature mRNA p.h5
refuses 1 'BED file, which has no types' 'a type of a BED file' region -r chr1 --plot y.png --genes many.bed --feature gene p.h5

printf 'c1\t%d\t%d\n' 10 20 20 40 >few.bed
PATH=$PWD/fake:$PATH run covprofile genes -q -f -b 10 -a 10 --genes few.bed --plot x.svg -o x.tsv t.bg u.bg
is "$(grep '^set origin\|^set size' script | paste -sd ' ')" \
    'set origin 0,0.522727 set size 1,0.477273 set origin 0.000000,0 set size 0.500000,0.522727 set origin 0.500000,0 set size 0.500000,0.522727' \
    'genes: the means above, and below them a map for each track'

# ---------------------------------------------------------------- failures of gnuplot

fails() { # SCRIPT REGEX NAME
    printf '#!/bin/sh\n%s\n' "$1" >fake/gnuplot
    rm -f y.*
    PATH=$PWD/fake:$PATH run covprofile region -r c1:1-20 -o y.tsv --plot y.png t.bg
    refused 1 "$2" "$3"
    is "$(find . -name 'y*' -o -name '.y*')" '' "$3: leaves nothing"
}
fails 'echo "nonsense" >&2; echo "  line 3: unknown or ambiguous terminal name" >&2; exit 1' \
    'gnuplot failed: line 3: unknown or ambiguous terminal name$' 'gnuplot fails'
# shellcheck disable=SC2016 # for the fake
fails 'kill -9 $$' 'gnuplot: killed by signal 9 \(Killed\)$' 'gnuplot is killed'
fails 'exit 0' 'y.png: incomplete picture from .*gnuplot$' 'gnuplot draws nothing'
fails "$(command -v gnuplot) \"\$@\" | head -c 3000" 'incomplete picture from .*gnuplot$' 'gnuplot stops in the middle'
echo '#!/nonexistent' >fake/gnuplot
PATH=$PWD/fake:$PATH run covprofile region -r c1:1-20 --plot y.png t.bg
refused 1 'gnuplot: cannot be run$' 'a gnuplot that cannot be run'
# shellcheck disable=SC2016 # for the inner shell
run sh -c 'PATH=/nonexistent exec "$BIN/covprofile" region -r c1:1-20 --plot y.png t.bg'
refused 1 'gnuplot not found; .* package gnuplot-nox$' 'no gnuplot'
done_testing
