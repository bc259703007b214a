#!/bin/sh
# fasta2h5: every form of FASTA, invalid input, outputs that cannot be written, signals.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
. "$SRC/tests/lib/signals.sh"
need_python h5py numpy
start_python "$SRC/tests/oracle/genome_check.py"

check() { # FASTA FILE LENGTH SPECIES NAME
    ok "$5" ask fasta "$1" "$2" "$3" "$4"
}
refuses() { tool_refuses 'fasta2h5 -o out.h5' "$@"; }

# ---------------------------------------------------------------- forms of FASTA

# Sequences of odd lengths, shorter and longer than a chunk, with every letter.
awk "$random"'BEGIN {
    seed(7)
    split("1 99 100 101 1000 12345", n, " ")
    for (s = 1; s <= 6; s++)
        record("s" s "|x:/" s " some words", n[s], "ACGTacgtNnRYSWKMBDHVUury")
}' | fold -w 60 >g.fa
run_ok 'a FASTA file' fasta2h5 --subsequence-length 100 -o g.h5 g.fa
stderr_is '' '  without any message'
stdout_is '' '  and nothing on standard output'
check g.fa g.h5 100 g '  every value is correct'
gzip -k g.fa
run_ok 'gzip' fasta2h5 --subsequence-length 100 -o gz.h5 g.fa.gz
check g.fa gz.h5 100 g '  every value is correct'
{ gzip -c g.fa | head -c 100000; printf '>more\nACGT\n' | gzip; } >two.gz
cp g.fa two && printf '>more\nACGT\n' >>two
run fasta2h5 --subsequence-length 100 -o two.h5 two.gz
check two two.h5 100 two 'gzip of several members'
if command -v bgzip >/dev/null; then
    bgzip -c g.fa >misnamed.fasta
    for threads in 1 3; do
        run fasta2h5 -@ $threads --subsequence-length 100 --species g -f -o bgz.h5 misnamed.fasta
        check g.fa bgz.h5 100 g "bgzip under a wrong name, $threads threads"
    done
fi
run_ok 'standard input' fasta2h5 --subsequence-length 100 -o stdin.h5 - <g.fa
check g.fa stdin.h5 100 stdin '  every value is correct'
# shellcheck disable=SC2016 # for the inner shell
run sh -c 'cat g.fa.gz | fasta2h5 --subsequence-length 100 --species x -o pipe.h5 -'
check g.fa pipe.h5 100 x 'a pipe of gzip'
tr -d '\n' <g.fa | sed 's/>s\([0-9]\)[^ ]* some words/\n>s\1|x:\/\1\n/g' | head -c -0 >oneline.fa
run fasta2h5 --subsequence-length 100 -o oneline.h5 oneline.fa
check g.fa oneline.h5 100 oneline 'one line per sequence, a blank line first, no newline at the end'
sed '/^>/!s/./&\n/g' g.fa >narrow.fa
run fasta2h5 --subsequence-length 100 -o narrow.h5 narrow.fa
check g.fa narrow.h5 100 narrow 'one letter per line, and blank lines'
tr acgtnryu ACGTNRYU <g.fa | sed '/^>/s/.*/\L&/' >upper.fa
run fasta2h5 --subsequence-length 100 -o upper.h5 upper.fa
check g.fa upper.h5 100 upper 'upper case gives the same'
run fasta2h5 -o long.h5 g.fa
check g.fa long.h5 21384 g 'the default length of a chunk'
for length in 1 99 12345; do
    run fasta2h5 --subsequence-length $length -f -o l.h5 g.fa
    check g.fa l.h5 $length g "chunks of $length"
done
for compression in none fast libdeflate libdeflate:12; do
    run fasta2h5 --compression $compression --subsequence-length 100 -f -o c.h5 g.fa
    check g.fa c.h5 100 g "compression $compression"
done
# Like real genomes: few letters other than ACGT, runs of N, repeats. One chunk has a letter for three bases.
awk "$random"'BEGIN {
    seed(8)
    text = ""
    while (length(text) < 100000) {
        for (i = 0; i < 500; i++)
            text = text letter("ACGT")
        text = text substr(text, 1 + int(random() * length(text)), 300) "ATATATATATATATATATATAT"
        if (random() < 0.2)
            text = text sprintf("%" int(random() * 900) "s", "")
        if (random() < 0.2)
            text = text letter("RYSWKM")
    }
    gsub(" ", "N", text)
    printf ">a\n%s\n>b\n%s\n>c\n%s\n", text, substr(text, 1, 700) "V" substr(text, 700, 400), substr(text, 300, 5)
}' >plain.fa
for compression in gzip fast; do
    for length in 1 999 21384; do
        run fasta2h5 --compression $compression --subsequence-length $length -f -o $compression.h5 plain.fa
        status_is 0 "compression $compression, few letters other than ACGT, chunks of $length"
        check plain.fa $compression.h5 $length plain '  every value is correct'
    done
done
rm plain.fa
run_ok '--layout packed' fasta2h5 --layout packed --subsequence-length 101 --stats stats.json -o packed.h5 g.fa
ok '  statistics' "$PYTHON" -c 'import json; s = json.load(open("stats.json")); assert (s["bases"], s["chunks"]) == (13646, 274), s'
run h5chunk repack --layout onehot --compression none -o unpacked.h5 packed.h5
check g.fa unpacked.h5 101 g '  repacked, every value is correct'
SOURCE_DATE_EPOCH=1000000000
export SOURCE_DATE_EPOCH
run fasta2h5 -@ 1 --subsequence-length 100 -o epoch1.h5 g.fa
run fasta2h5 -@ 4 --subsequence-length 100 -o epoch4.h5 g.fa
ok 'the same bytes on 1 and 4 threads' cmp epoch1.h5 epoch4.h5
run fasta2h5 -@ 3 --subsequence-length 100 --species g -f -o epoch4.h5 - <g.fa
ok 'and from a pipe, except the name of the input' ask file epoch1.h5 epoch4.h5
run_ok 'the chunk stream' fasta2h5 -f -@ 1 --subsequence-length 100 --stats stats.json -o - g.fa
stderr_is '' '  without any message'
cp "$stdout" 1.stream
ok '  statistics' "$PYTHON" -c 'import json; s = json.load(open("stats.json")); assert (s["bases"], s["chunks"]) == (13646, 278), s'
run h5chunk save -o saved.h5 1.stream
check g.fa saved.h5 100 g '  every value is correct'
run fasta2h5 -@ 4 --subsequence-length 100 -o - g.fa
ok '  has the same bytes on 1 and 4 threads' cmp 1.stream "$stdout"
is "$(head -c 2 1.stream | od -An -tx1)" ' 1f 8b' '  in BGZF'
printf '>a\nACGT\nAX\n' >x.fa
run_refused 1 '^fasta2h5: error: x\.fa:3:2: ' '  of a FASTA with an error at the end' fasta2h5 -o - x.fa
rm 1.stream x.fa stats.json
unset SOURCE_DATE_EPOCH
is "$("$PYTHON" -c 'import h5py; print(h5py.File("epoch1.h5").attrs["timestamp"][:19])')" '2001-09-09 01:46:40' \
    'the timestamp is SOURCE_DATE_EPOCH'
rm -f ./*.h5 ./two* oneline.fa narrow.fa upper.fa misnamed.fasta g.fa.gz

# ---------------------------------------------------------------- names

long=$(printf 'n%.0s' $(seq 60))
printf '>%s\nACGT\n>short\nAC\n' "$long" >long.fa
run_ok 'a name of 60 bytes' fasta2h5 --subsequence-length 10 -o long.h5 long.fa
stderr_like '^fasta2h5: warning: .*50' '  is reported'
check long.fa long.h5 10 long '  and stored completely'
printf 'short\tother\nabsent x\n' >names.tsv
run fasta2h5 --rename names.tsv --subsequence-length 10 -o renamed.h5 long.fa
stderr_like '^fasta2h5: warning: names\.tsv: 1 of 2 names are not in long\.fa$' 'counts names that are not in the FASTA'
sed 's/short/other/' long.fa >other.fa
check other.fa renamed.h5 10 long '--rename'
printf 'short\t%s\n' "$long" >names.tsv
refuses 1 "^fasta2h5: error: long\\.fa: duplicate sequence name '$long' after renaming \\(lines 1 and 3\\)\$" \
    'two names that become equal' --rename names.tsv long.fa
printf 'short\n' >names.tsv
refuses 1 '^fasta2h5: error: names\.tsv:1: expected two columns$' 'a file of names with one column' --rename names.tsv long.fa
refuses 1 '^fasta2h5: error: absent\.tsv: No such file or directory$' 'a missing file of names' \
    --rename absent.tsv long.fa
rm -f long.* other.fa renamed.h5

# ---------------------------------------------------------------- length limits and invalid letters

run fasta2h5 --min-length 100 --max-length 1k --subsequence-length 100 -o limits.h5 g.fa
stderr_like '^fasta2h5: warning: g\.fa: 3 of 6 sequences left out by length: 2 too short, 1 too long$' \
    'counts excluded sequences'
awk '/^>/ {use = /s[345]/} use' g.fa >middle.fa
check middle.fa limits.h5 100 g '--min-length and --max-length'
refuses 1 '^fasta2h5: error: g\.fa: no sequence has a length within the limits$' 'limits that exclude every sequence' --min-length 20k g.fa
printf '>a\nACXT\n-*\n' >bad.fa
refuses 1 "^fasta2h5: error: bad\\.fa:2:3: invalid base 'X'; --on-bad-base n reads it as N\$" 'an invalid letter' bad.fa
run_ok '--on-bad-base n' fasta2h5 --on-bad-base n --subsequence-length 10 -o n.h5 bad.fa
stderr_like '^fasta2h5: warning: bad\.fa: read 3 invalid letters as N, the first at line 2, column 3$' \
    '  counts them'
printf '>a\nACNTNN\n' >n.fa
check n.fa n.h5 10 bad '  and reads them as N'
rm -f ./*.h5 n.fa middle.fa names.tsv

# ---------------------------------------------------------------- invalid input

printf '' >empty.fa
refuses 1 '^fasta2h5: error: empty\.fa: empty file$' 'an empty file' empty.fa
refuses 1 '^fasta2h5: error: standard input: empty file; did the program before the pipe fail\?$' 'empty standard input' - </dev/null
gzip -c g.fa >x.gz
size=$(wc -c <x.gz)
head -c 1000 x.gz >cut.gz
refuses 1 '^fasta2h5: error: cut\.gz: truncated: it ends inside the gzip data$' 'gzip cut in the middle' cut.gz
head -c $((size - 8)) x.gz >cut.gz
printf '\1\2\3\4\5\6\7\10' >>cut.gz
refuses 1 '^fasta2h5: error: cut\.gz: damaged gzip data \(incorrect data check\)$' 'gzip with a wrong checksum' cut.gz
if command -v bgzip >/dev/null; then
    bgzip -c g.fa >x.bgz
    head -c 2000 x.bgz >cut.bgz
    # shellcheck disable=SC2016 # for the inner shell
    run sh -c 'cat cut.bgz | fasta2h5 -o out.h5 -'
    refused 1 '^fasta2h5: error: standard input: truncated' 'bgzip cut in the middle, from a pipe'
fi
printf 'BZh91AY' >x.fa
refuses 1 '^fasta2h5: error: x\.fa: compressed by bzip2; only gzip and bgzip are read$' 'another compression' x.fa
mkdir directory
refuses 1 '^fasta2h5: error: directory: is a directory, not a file$' 'a directory as FASTA' directory
rm -rf x.* cut.* directory empty.fa

# ---------------------------------------------------------------- invalid usage

while IFS='|' read -r args regex; do
    # shellcheck disable=SC2086 # a list of words
    refuses 2 "^fasta2h5: error: $regex" "refused: $args" $args
done <<'END'
--subsequence-length 0 g.fa|--subsequence-length: 0 is out of range
--subsequence-length 1G g.fa|--subsequence-length: 1G is out of range
--min-length -5 g.fa|--min-length: -5 is out of range
--rename - g.fa|--rename: must not be standard input$
--species= g.fa|--species: the value is empty
END
for option in --layout=packed --compression=gzip; do
    run fasta2h5 $option -o - g.fa
    refused 2 "^fasta2h5: error: ${option%=*} applies to files, not to a chunk stream\$" "refused: $option with -o -"
    stdout_is '' '  before anything is written'
done
run "$PYTHON" -c 'import pty, os, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))' \
    fasta2h5 -o - g.fa
status_is 2 'refused: output to a terminal'
stdout_like 'fasta2h5: error: standard output is a terminal' '  with a reason'
leaves g.fa bad.fa 'invalid usage writes no file'

# ---------------------------------------------------------------- outputs that cannot be written

printf 'precious\n' >there.h5
run_refused 1 'invalid base' 'with -f, but invalid input' fasta2h5 -f -o there.h5 bad.fa
is "$(cat there.h5)" precious '  it still exists'
run fasta2h5 -f --subsequence-length 100 -o there.h5 g.fa
check g.fa there.h5 100 g '-f replaces it'
rm there.h5
run_ok 'an output without a suffix of HDF5' fasta2h5 -q -o weed.genome g.fa
rm weed.genome
run_refused 2 '^fasta2h5: error: ' 'the input as output' fasta2h5 -o g.fa g.fa
leaves g.fa bad.fa 'no other files are left'

# A full disk: while writing the temporary file of waiting chunks, and the genome file.
awk "$random"'BEGIN { seed(1); print ">r"; for (i = 0; i < 60000; i++) { letters(70, "ACGT"); print "" } }' >r.fa
mkdir room
# shellcheck disable=SC2016 # for the inner shell
on_small_disk() { # ARG...
    run unshare -m sh -c 'mount -t tmpfs -o size=1m tmpfs room && fasta2h5 "$@"; s=$?; ls -A room; exit $s' - "$@"
}
if [ "$(id -u)" -eq 0 ] && unshare -m mount -t tmpfs -o size=1m tmpfs room 2>/dev/null; then
    { cat r.fa && sed 1d r.fa; } >rr.fa
    for options in '-o room/out.h5' '--compression none -o room/out.h5 --tmpdir .' \
        '--compression none -o out.h5 --tmpdir room' '-o out.h5 --tmpdir room --max-length 10M'; do
        # shellcheck disable=SC2086 # a list of words
        on_small_disk $options rr.fa
        refused 1 '^fasta2h5: error: .*room.*No space left on device$' "a full disk: $options"
        stdout_is '' '  and leaves no file there'
    done
    rm rr.fa
fi
run sh -c 'ulimit -f 1024; exec fasta2h5 -o room/out.h5 r.fa'
refused 1 '^fasta2h5: error: .*room.*File too large$' 'a limit of file sizes acts like a full disk'
is "$(ls -A room)" '' '  and leaves no file there'
rmdir room

# ---------------------------------------------------------------- signals

for signal in INT:130 TERM:143; do
    ends_while_reading $signal fasta2h5
    start fasta2h5 --compression libdeflate:12 --subsequence-length 10k -@ 1 -o late.h5 r.fa
    await found . -name '.*late*' -size +8k # most rows are not written yet
    like "$(find . -name '.*late*')" late '  a temporary file exists while it writes'
    ends_by "$signal" 'while writing'
    is "$(tail -n 1 "$stderr")" "fasta2h5: stopped by SIG${signal%:*}; nothing was written" '  with a last line, after progress if it takes long'
    leaves g.fa bad.fa r.fa fifo '  and leaves no file'
done
done_testing
