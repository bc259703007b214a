#!/bin/sh
# bam2h5 - measured coverage compared with counting read by read, and failures.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
need_python h5py
start_python "$SRC/tests/oracle/coverage_check.py"

ask genome g.fa || exit 99
fasta2h5 -q --subsequence-length 1000 -o g.h5 g.fa
ask random sorted.sam 1 2000 sorted
ask random unsorted.sam 2 2000

# ---- every way of counting, in every kind of file
printf 'a\t0\t40\na\t900\t1100\na\t1050\t2500\nb\t10\t11\nc\t0\t3\n' >drop.bed
while read -r options rules; do
    for sam in sorted unsorted; do
        # shellcheck disable=SC2046,SC2086 # lists of words, with commas for blanks
        run bam2h5 -q -f -p x $(echo "$options" | tr '|' ' ') -o o.h5 g.h5 $sam.sam
        # shellcheck disable=SC2046
        ok "$sam reads, $(echo "$options" | tr '|' ' '): as counted one by one" \
            ask o.h5 x 0 $sam.sam $(echo "$rules" | tr '|' ' ')
    done
done <<'END'
--strand=both strand=both
--strand=own strand=own
--strand=first strand=first
--strand=second strand=second
--count=cut|--strand=own unit=cut|strand=own
--count=cut|--shift|--strand=own unit=cut|strand=own|shift=4,-5
--count=fragment|--strand=own unit=fragment|strand=own
--count=fragment|--shift=-3,7|--strand=first unit=fragment|strand=first|shift=-3,7
--count=fragment|--strand=own|--min-mapq=30 unit=fragment|strand=own|mapq=30
--count=fragment|--require-flags=READ1|--exclude-flags=DUP unit=fragment|require=64|exclude=1024
--shift|--strand=own strand=own|shift=4,-5
--shift=-8,9|--strand=own strand=own|shift=-8,9
--min-mapq=20|--exclude-flags=1024 mapq=20|exclude=1024
--require-flags=17|--strand=own require=17|strand=own
--require-flags=0x11|--strand=own require=17|strand=own
--require-flags=021|--strand=own require=17|strand=own
--require-flags=paired,REVERSE|--strand=own require=17|strand=own
--min-mapq=20|--exclude-flags=DUP mapq=20|exclude=1024
--exclude-flags=0x100,QCFAIL,SUPPLEMENTARY exclude=2816
--min-fragment=20|--max-fragment=60 min=20|max=60
--count=fragment|--max-fragment=90|--shift unit=fragment|max=90|shift=4,-5
--blacklist-file=drop.bed|--strand=own drop=drop.bed|strand=own
END
run_ok 'no read passes the filter' bam2h5 -q -f -p x --min-mapq 255 -o o.h5 g.h5 sorted.sam
stderr_like '^bam2h5: warning: no coverage: all values are 0$' '  with a warning'
run bam2h5 -q -f -p x --min-mapq 20 -o o.h5 g.h5 sorted.sam
stderr_is '' '  and only then'

sam_convert -i bai sorted.sam sorted.bam
sam_convert unsorted.sam unsorted.bam
sam_convert -i csi sorted.sam indexed.bam
sam_convert sorted.sam plain.cram
for file in sorted.bam unsorted.bam indexed.bam plain.cram; do
    case $file in unsorted*) sam=unsorted.sam ;; *) sam=sorted.sam ;; esac
    for threads in 1 3; do
        run bam2h5 -q -f -@ $threads -p x --strand own -o $threads.h5 g.h5 $file
        ok "$file with $threads threads" ask $threads.h5 x 0 $sam strand=own
    done
    ok "$file: the same file for any number of threads" cmp 1.h5 3.h5
done
rm -f 1.h5 3.h5

# ---- pairs next to a repeat, of which one mate passes: each counts once, whichever mate it is
"$PYTHON" - >repeat.sam <<'END'
def pairs(start, mapqs):
    for k in range(10):
        for at, flag, mapq, sign in ((start, 99, mapqs[0], 1), (start + 151, 147, mapqs[1], -1)):
            mate = 2 * start + 151 - at
            yield at + 10 * k, f"{start}.{k}\t{flag}\ta\t{at + 10 * k}\t{mapq}\t50M\t=\t{mate + 10 * k}\t{sign * 201}\t*\t*"
print("@HD\tVN:1.6\tSO:coordinate\n@SQ\tSN:a\tLN:5000")
for at, line in sorted([*pairs(1000, (60, 0)), *pairs(1200, (0, 60)), *pairs(3000, (60, 60))]):
    print(line)
END
awk '/^@/ || $5 > 0' repeat.sam >filtered.sam
awk '/^@/ { sub("coordinate", "unsorted"); print; next } { line[NR] = $0 } END { for (i = NR; i in line; i--) print line[i] }' repeat.sam >backwards.sam
for sam in repeat filtered backwards; do
    run bam2h5 -f -p x --count fragment --min-mapq 10 --stats s.json -o o.h5 g.h5 $sam.sam
    stderr_like "^bam2h5: $sam.sam: .* 30 counted, .*counted_with_mate 10" "$sam.sam: mates of counted pairs are not counted again"
    cov2bigwig -q --experimental -o - o.h5 | awk '$1 == "a" { for (i = $2; i < $3; i++) s[(i >= 999 && i < 1150) + 2 * (i >= 1350 && i < 1501) + 3 * (i >= 2000)] += $4 }
        END { print s[1], s[2], s[3] }' >sums
    is "$(cat sums)" '1060 950 2010' '  as many bases on both sides of the repeat as pairs have there'
done
rm -f o.h5 s.json

# ---- unusual BAM: reads across blocks; CIGARs with more operations than the field can hold
"$PYTHON" - >long.sam <<'END'
print("@HD\tVN:1.6\tSO:coordinate\n@SQ\tSN:a\tLN:5000\n@SQ\tSN:b\tLN:700")
for n, cigar in enumerate(("3M", "3M2N" * 64, "2M1D" * 32 + "1M", "1M" + "1I1P" * 33000 + "5M2N4=", "0S7M", "9M")):
    print(f"r{n}\t{16 * (n % 2)}\ta\t{40 * n + 1}\t9\t{cigar}\t*\t0\t0\t*\t*")
END
sam_convert long.sam long.bam
PYTHONPATH=$SRC/tests/oracle
export PYTHONPATH
"$PYTHON" -c 'import bgzf, gzip
bgzf.write("blocks.bam", gzip.open("sorted.bam").read(), 777)'
for threads in 1 3; do
    run bam2h5 -q -f -@ $threads -p x --strand own -o o.h5 g.h5 long.bam
    ok "CIGARs of up to 66006 operations, $threads threads" ask o.h5 x 0 long.sam strand=own
    run bam2h5 -q -f -@ $threads -p x --strand own -o o.h5 g.h5 blocks.bam
    ok "reads across blocks, $threads threads" ask o.h5 x 0 sorted.sam strand=own
done

# ---- CRAM with its reference
cat >small.sam <<'END'
@HD	VN:1.6	SO:coordinate
@SQ	SN:a	LN:5000
r1	0	a	11	60	10M	*	0	0	ACGTACGTAC	*
END
sam_convert -r g.fa small.sam small.cram
run bam2h5 -q -f -p x --reference g.fa -o o.h5 g.h5 small.cram
ok 'CRAM with a reference' ask o.h5 x 0 small.sam

# ---- in place, replicates, replacing
cp g.h5 in_place.h5
run_ok 'the genome file is changed in place' bam2h5 -p x in_place.h5 sorted.bam unsorted.bam --stats s.json
ok 'the first column' ask in_place.h5 x 0 sorted.sam
ok 'the second column' ask in_place.h5 x 1 unsorted.sam
stderr_like '^bam2h5: sorted.bam: 2001 reads, [0-9]+ counted, [0-9]+ skipped \(unmapped 1, flags [0-9]+, no_bases [0-9]+\)$' \
    'reads are reported by reason'
ok 'reads and the mean coverage of each contig are in --stats' "$PYTHON" -c '
import json, h5py
s = json.load(open("s.json"))
f = h5py.File("in_place.h5")
assert [x["reads"] for x in s["files"]] == [2001, 2001]
skipped = ("unmapped", "flags", "mapping_quality", "fragment_length", "blacklisted", "counted_with_mate", "discordant_pair", "supplementary", "outside_contig", "no_bases", "not_in_genome")
assert all(x["counted"] + sum(x[k] for k in skipped) == 2001 for x in s["files"])
assert [c["name"] for c in s["contigs"]] == ["a", "b", "c"]
x = f["evaluation/x_coverage"][:]
ids = f["data/seqids"][:]
for c in s["contigs"]:
    for k in 0, 1:
        rows = x[ids == c["name"].encode(), :, k]
        assert abs(rows[rows >= 0].mean() - c["mean_coverage"][k]) < 1e-9
assert x.dtype.itemsize * 8 == s["bits"] == 16
assert list(f["evaluation/x_meta/bam_files"][:]) == [b"sorted.bam", b"unsorted.bam"]
assert f["evaluation/x_coverage"].chunks == (1, 1000, 1) and f["evaluation/x_coverage"].compression == "lzf"
'
run_refused 1 'in_place.h5: already has coverage of x \(2 columns\); use --append or --replace' \
    'coverage is not replaced without --replace' bam2h5 -q -p x in_place.h5 sorted.bam
cp in_place.h5 before.h5
cp sorted.bam copy.bam && ln -s copy.bam link.bam
run bam2h5 -q -p x --append in_place.h5 link.bam
refused 1 'link.bam: the same counts as sorted.bam, which is already in in_place.h5: the mean would count the same data twice$' \
    'reads that the dataset has already'
ok '  and the file is unchanged' cmp in_place.h5 before.h5
run_refused 1 'link.bam: the same file as copy.bam$' 'one file by two names' bam2h5 -q -p x -o o.h5 g.h5 copy.bam link.bam
run bam2h5 -q -f -p x -o o.h5 g.h5 unsorted.bam sorted.bam copy.bam
refused 1 'copy.bam: the same counts as sorted.bam: the mean would count the same data twice$' 'a copy'
sed '2,$ { /^@/! d; }' sorted.sam >no_reads.sam
run_ok 'files without reads' bam2h5 -q -f -p x -o o.h5 in_place.h5 --append no_reads.sam
bam2h5 -q -f -p x -o p.h5 o.h5 --append no_reads.sam 2>err.txt
is $? 0 '  may be equal'
rm -f o.h5 p.h5 err.txt before.h5 copy.bam link.bam no_reads.sam
run bam2h5 -q -p x --append --count cut in_place.h5 sorted.bam
stderr_like '^bam2h5: warning: sorted.bam: counted with count=cut strand=both [a-z_=0-9 ]*, but column 1 of x \(sorted.bam\) with count=read strand=both [a-z_=0-9 ]*; training and tracks use the mean$' \
    'other settings than those of the dataset cause a warning'
ok 'appended: the first column is unchanged' ask in_place.h5 x 0 sorted.sam
ok 'appended: the third column' ask in_place.h5 x 2 sorted.sam unit=cut
is "$("$PYTHON" -c 'import h5py
print(h5py.File("in_place.h5")["evaluation/x_coverage"].attrs["settings"])')" \
    "$(for how in 'read sorted' 'read unsorted' 'cut sorted'; do
        echo "count=${how% *} strand=both shift=none min_mapq=0 require_flags=0 exclude_flags=772 file=${how#* }.bam"
    done)" 'appended: the settings of all columns'
run bam2h5 -q -p y --append in_place.h5 unsorted.bam
stderr_like 'warning: in_place.h5: no coverage of y yet' 'another dataset next to it'
run bam2h5 -q -p x --replace in_place.h5 unsorted.bam
ok 'replaced' ask in_place.h5 x 0 unsorted.sam
ok 'the other dataset is unchanged' ask in_place.h5 y 0 unsorted.sam
run_ok 'h5chunk verify passes' h5chunk verify in_place.h5

# ---- names that say whether reads are shifted
while read -r prefix shift text; do
    # shellcheck disable=SC2086 # empty or an option
    run bam2h5 -q -f -p $prefix ${shift#none} -o o.h5 g.h5 sorted.bam
    is "$(grep -- --shift "$stderr")" "${text:+bam2h5: warning: $prefix: $text}" "$prefix, --shift: $shift"
done <<'END'
leaf_ATACseq none counted without --shift, which moves reads of ATAC-seq to the Tn5 cut; use it unless they are shifted already
atacseq --shift
h3k4me3 --shift counted with --shift, which is for ATAC-seq only
chip-H2A.Z --shift counted with --shift, which is for ATAC-seq only
h3k4me3 none
high3 --shift
END

# ---- flags
for flags in UNMAP,X 'UNMAP,' ,DUP 0x 0x904x 12abc -1 65536 DU 'PAIRED DUP'; do
    run bam2h5 -q -f -p x --exclude-flags="$flags" -o o.h5 g.h5 sorted.sam
    refused 2 "bam2h5: error: --exclude-flags: '.*' is not a flag; use a number up to 65535, in decimal or as 0x904, or names" \
        "--exclude-flags=$flags"
done

# --exclude-flags replaces the flags of the preset.
for case in '1024|secondary and QC-failed reads count; to skip them, too: --exclude-flags 1796' \
    'DUP,QCFAIL|secondary reads count; to skip them, too: --exclude-flags 1796' '1796|'; do
    run bam2h5 -f -p x --exclude-flags "${case%%|*}" -o o.h5 g.h5 sorted.sam
    is "$(grep -o 'preset, so .*' "$stderr" | sed 's/^preset, so //')" "${case#*|}" "--exclude-flags ${case%%|*}: what it drops"
done

# ---- wider types
"$PYTHON" - >deep.sam <<'END'
print("@HD\tVN:1.6\tSO:coordinate\n@SQ\tSN:a\tLN:5000")
for i in range(40000):
    print(f"r{i}\t0\ta\t2001\t9\t5M\t*\t0\t0\t*\t*")
END
run bam2h5 -q -f -p x --dtype int16 -o o.h5 g.h5 deep.sam
refused 1 'g.h5: a:2001-3000: index 0: 40000 does not fit in 16 bits' 'a depth that does not fit'
run bam2h5 -q -p y --append in_place.h5 deep.sam
ok 'wider, the old column is unchanged' ask in_place.h5 y 0 unsorted.sam
ok 'wider, the new column' ask in_place.h5 y 1 deep.sam
ok 'int32 now' "$PYTHON" -c 'import h5py; assert h5py.File("in_place.h5")["evaluation/y_coverage"].dtype == "i4"'
run bam2h5 -q -f -p y -o o.h5 g.h5 unsorted.bam deep.sam
ok 'the widest of several files decides' ask o.h5 y 0 unsorted.sam
ok 'and its own values are right' ask o.h5 y 1 deep.sam

# ---- contigs
sed 's/SN:b/SN:chrB/; s/\tb\t/\tchrB\t/' sorted.sam >renamed.sam
run_ok 'contigs that one side lacks are skipped' bam2h5 -f -p x -o o.h5 g.h5 renamed.sam
stderr_like 'warning: renamed.sam: skipping 1 of 3 contigs that are not in g.h5: chrB$' 'with a warning'
stderr_like 'warning: renamed.sam: 1 of the 3 sequences of g.h5 are missing and get 0: b$' 'on both sides'
is "$(grep -c 'mapped reads' "$stderr")" 0 '  and no other while most reads count'
grep -v '	chrB	' renamed.sam >without.sam
ok 'the rest is counted' ask o.h5 x 0 without.sam
sed 's/SN:a/SN:chrA/; s/\ta\t/\tchrA\t/' sorted.sam >renamed.sam
cp o.h5 kept.h5
run bam2h5 -q -f -p x -o o.h5 g.h5 renamed.sam
refused 1 'renamed.sam: reads of another genome: ([0-9]+) of 2000 mapped reads \([0-9.]+ %\) are on contigs that are not in g.h5 \(chrA: \1\), whose other contigs are missing here; --rename maps names$' \
    'most reads on contigs that the genome lacks, and contigs of the genome are missing'
ok '  and no output' cmp o.h5 kept.h5
awk '/^>/ { on = $0 != ">a" } on' g.fa | fasta2h5 -q --subsequence-length 1000 --species g -o selection.h5 -
run_ok 'a genome file of some contigs' bam2h5 -q -f -p x -o o.h5 selection.h5 sorted.sam
stderr_like 'warning: sorted.sam: ([0-9]+) of 2000 mapped reads \([0-9.]+ %\) are on contigs that are not in selection.h5 and do not count: a: \1$' \
    '  if most reads are on the others, there is a warning'
h5chunk subset -q -f -o selection.h5 -r b g.h5
run bam2h5 -q -f -p x -o o.h5 selection.h5 sorted.sam
stderr_is '' '  a subset knows the contigs that it omits'
ok '  and has the coverage of its own' ask o.h5 x 0 sorted.sam
rm kept.h5 selection.h5
printf 'chrA a\n' >names
run bam2h5 -q -f -p x --rename names -o o.h5 g.h5 renamed.sam
ok 'renamed contigs' ask o.h5 x 0 renamed.sam rename=chrA:a
sed 's/LN:700/LN:701/' sorted.sam >longer.sam
run bam2h5 -q -f -p x -o o.h5 g.h5 longer.sam
refused 1 'longer.sam: contig b has 701 bases, but 700 in g.h5' 'a contig of a different length'
printf '@SQ\tSN:z\tLN:9\n' >other.sam
run bam2h5 -q -f -p x -o o.h5 g.h5 other.sam
refused 1 'other.sam: none of its contigs \(z\) is in g.h5 \(a, b, c\); --rename maps names' 'no contig in common'

# ---- damage
rm -f o.h5
size=$(wc -c <sorted.bam)
head -c $((size - 28)) sorted.bam >cut.bam
run bam2h5 -q -p x -o o.h5 g.h5 cut.bam
refused 1 'cut.bam: truncated: the end-of-file marker is missing' 'a BAM truncated at a block'
head -c $((size / 2)) sorted.bam >half.bam
run_refused 1 'half.bam: ' 'a truncated BAM' bam2h5 -q -p x -o o.h5 g.h5 half.bam
{ head -c $((size / 2)) sorted.bam && printf 'xxxx' && tail -c +$((size / 2 + 5)) sorted.bam; } >flipped.bam
run bam2h5 -q -p x -o o.h5 g.h5 flipped.bam
refused 1 'flipped.bam: damaged or truncated after read [0-9]+: (a|the [a-z]+ of a) block ' 'a corrupt BAM'
mkfifo pipe.bam
for how in -q -v; do
    cat flipped.bam >pipe.bam &
    run bam2h5 $how --progress none -p x -o o.h5 g.h5 pipe.bam
    wait $!
    refused 1 'pipe.bam: damaged or truncated after read [0-9]+: ' "  that is a pipe, with $how"
    is "$(grep -c '^\[E::' "$stderr" | sed 's/[1-9].*/some/')" "$([ $how = -q ] && echo 0 || echo some)" \
        "  and htslib's own words only at -v"
done
rm pipe.bam
awk -F '\t' -v OFS='\t' '!/^@/ && ++n == 50 { $6 = "3Z" } 1' sorted.sam >cigar.sam
run bam2h5 -q -p x -o o.h5 g.h5 cigar.sam
refused 1 'cigar.sam: damaged or truncated after read 49: the next line is not a read' 'a wrong line of SAM'
mkfifo pipe.sam
cat cigar.sam >pipe.sam &
run bam2h5 -q -p x -o o.h5 g.h5 pipe.sam
wait $!
refused 1 'pipe.sam: damaged or truncated after read [0-9]+: the next line is not a read' '  from a pipe, which is not read again'
rm pipe.sam
# Reads of 8 bases in one BAM block; the second has a CIGAR for a different length.
"$PYTHON" - <<'END'
import bgzf, struct
def bam(name, flags):
    data = b"BAM\1" + struct.pack("<3i2si", 0, 1, 2, b"a\0", 5000)
    for n, flag in enumerate(flags):
        read = struct.pack("<2i4BHHI3i", 0, n, 3, 60, 0, 0, 1, flag, 8, -1, -1, 0) + b"r%d\0" % n
        read += struct.pack("<I", (8 - n % 2) << 4) + bytes(4 + 8)
        data += struct.pack("<I", len(read)) + read
    bgzf.write(name, data)
bam("seven.bam", (0, 0, 0))
bam("unmapped.bam", (0, 4, 0))
END
run bam2h5 -q -p x -o o.h5 g.h5 seven.bam
refused 1 'seven.bam: damaged or truncated after read 1: the next record is not a read' 'a CIGAR that does not fit the bases'
run_ok 'nor for unmapped reads' bam2h5 -q -p x -o o.h5 g.h5 unmapped.bam
rm -f o.h5
{ cat sorted.sam && printf 'late\t0\ta\t1\t9\t5M\t*\t0\t0\t*\t*\n'; } >late.sam
run_refused 1 'late.sam: not sorted: the header says sorted by coordinate, but read late at a:1 is out of order' \
    'a file that is not sorted as declared' bam2h5 -q -p x -o o.h5 g.h5 late.sam
printf '@SQ\tSN:a\tLN:5000\nout\t0\ta\t4999\t9\t5M\t*\t0\t0\t*\t*\n' >out.sam
printf 'in\t0\ta\t4991\t9\t10M\t*\t0\t0\t*\t*\n' >in.sam && cat in.sam >>out.sam
printf '@SQ\tSN:a\tLN:5000\n' | cat - in.sam >inside.sam
run_ok 'a read past the end of its contig is skipped' bam2h5 -p x -o o.h5 g.h5 out.sam
stderr_like '^bam2h5: warning: out.sam: 1 read reaches past the end of its contig and does not count: out at a:4999$' '  with a warning'
stderr_like 'out.sam: 2 reads, 1 counted, 1 skipped \(outside_contig 1\)$' '  and a count'
ok '  and the others count' ask o.h5 x 0 inside.sam
rm -f o.h5
run_refused 1 'none.bam: No such file' 'a missing file' bam2h5 -q -p x -o o.h5 g.h5 none.bam
run bam2h5 -p atacseq sorted.bam g.h5
refused 1 'sorted.bam: not a genome file \(the first argument\), but a BAM file$' 'the operands in the wrong order'
is "$(grep -c warning "$stderr")" 0 '  and no warning that does not matter'
mkdir directory && : >empty
run_refused 1 'directory: is a directory, not a file$' 'a directory as genome file' bam2h5 -q -p x -o o.h5 directory sorted.bam
run_refused 1 'directory: is a directory, not a file$' '  and as reads' bam2h5 -q -p x -o o.h5 g.h5 directory
run_refused 1 'empty: empty file$' 'an empty genome file' bam2h5 -q -p x -o o.h5 empty sorted.bam
run_refused 1 'empty: empty file$' '  and empty reads' bam2h5 -q -p x -o o.h5 g.h5 empty
rmdir directory && rm empty
cp g.h5 safe.h5 && chmod 444 safe.h5
run bam2h5 -q -p x safe.h5 sorted.bam
refused 1 'safe.h5: (write-protected; use -f|cannot write)' 'a genome file that nobody may write to'
ok '  and it is unchanged' cmp g.h5 safe.h5
ok 'and leaves no output' test ! -e o.h5
touch -d '2001-01-01' sorted.bam.bai
run bam2h5 -q -p x -o o.h5 g.h5 sorted.bam
stderr_like 'warning: sorted.bam.bai is older than sorted.bam' 'an index older than its file'
rm -f o.h5

# ---- the genome file is replaced completely or not at all
cp g.h5 before.h5
run bam2h5 -q -p x g.h5 flipped.bam
ok 'a failure does not change the genome file' cmp g.h5 before.h5
chmod a-w g.h5
run_unprivileged bam2h5 -q -p x g.h5 sorted.bam
refused 1 'g\.h5: cannot write \(use -o to write another file\): Permission denied$' 'a genome file that may not be written to'
run_ok '  does not prevent a new file' run_unprivileged bam2h5 -q -p x -o o.h5 g.h5 sorted.bam
rm -f o.h5
chmod u+w g.h5
for moment in 0.01 0.03 0.06 0.1 0.2; do
    bam2h5 -q -p x g.h5 sorted.bam unsorted.bam 2>/dev/null &
    sleep $moment
    kill -9 $! 2>/dev/null
    wait $! 2>/dev/null
    h5chunk verify g.h5 || break
    cp before.h5 g.h5
done
is "$moment" 0.2 'so does kill -9'
bam2h5 -q -p x g.h5 sorted.bam
is "$(find . -name '.g.*')" '' '  and the next run removes its temporary file'
cp before.h5 g.h5

# ---- usage
while read -r code regex options; do
    # shellcheck disable=SC2086
    run_refused "$code" "$regex" "bam2h5 $options" bam2h5 $options
done <<'END'
2 --shift=4:.expected.two.numbers -p x --shift=4 g.h5 sorted.bam
2 --shift -p x --shift=4,b g.h5 sorted.bam
2 needs.*as.in.--shift=4,-5$ -p x --shift 4,-5 g.h5 sorted.bam
2 --shift.4:.a.value.needs -p x --shift 4 g.h5 sorted.bam
2 --shift.4:.a.value.needs -p x g.h5 sorted.bam --shift 4
2 must.not.end -p a_spliced g.h5 sorted.bam
2 prefix g.h5 sorted.bam
END
done_testing
