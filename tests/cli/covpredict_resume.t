#!/bin/sh
# covpredict --resume: a killed run resumes and gives the same bytes; other runs, damage, full disks.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"

# Enough sequences for many batches.
awk "$random"'BEGIN { seed(7); for (s = 1; s <= 40; s++) record("c" s, 40 * s) }' >g.fa
fasta2h5 --subsequence-length 96 -o g.h5 g.fa || exit 99
make_ckpt cnn m.ckpt || exit 99
make_ckpt cnn other.ckpt 2 || exit 99
covpredict -q --batch-size 2 -m m.ckpt --stats whole.json -o whole.h5 g.h5 || exit 99
covpredict -q -f --subsequence-length 96 -m m.ckpt -o fasta.h5 g.fa || exit 99

# Checks that statistics describe the output: stats.py WHOLE RESUMED RUNS (0: nothing was left to do).
cat >stats.py <<'E'
import json, sys
whole, s, n_runs = (*(json.load(open(name)) for name in sys.argv[1:3]), int(sys.argv[3]))
for key in ("bases", "chunks"):
    assert s[key] == whole[key] and 0 < s[key + "_resumed"] <= s[key], (key, s)
    rate = (s[key] - s[key + "_resumed"]) / s["wall_seconds"]
    assert abs(s[key + "_per_second"] - rate) <= 1e-6 * rate, (key, s)
assert ("all_runs" in s) == (n_runs > 0) and (s["chunks_resumed"] < s["chunks"]) == (n_runs > 0), s
if n_runs:
    runs = s["all_runs"]
    assert runs["n"] == n_runs and s["wall_seconds"] < runs["wall_seconds"] and s["cpu_seconds"] < runs["cpu_seconds"], s
assert "bases_resumed" not in whole and "all_runs" not in whole, whole
E

# stopped OPTION...: leaves a journal with some pairs, like a run on a full disk.
stopped() {
    rm -f x.h5.resume
    run sh -c 'ulimit -f 20; shift $1; exec covpredict "$@"' sh 1 -@ 1 --batch-size 2 --resume -o x.h5 "$@"
}

# ---------------------------------------------------------------- uninterrupted runs

run_ok 'without a journal' covpredict --resume -m m.ckpt -o x.h5 g.h5
ok '  the same bytes as without --resume' cmp x.h5 whole.h5
leaves g.fa g.h5 m.ckpt other.ckpt whole.h5 whole.json stats.py fasta.h5 x.h5 '  and no journal'
run_ok 'a complete output' covpredict --resume --stats s.json -m m.ckpt -o x.h5 g.h5
stderr_like '^covpredict: nothing to do: x\.h5 is complete$' '  has nothing to do'
ok '  its statistics describe it' "$PYTHON" stats.py whole.json s.json 0
run covpredict --resume -f -m m.ckpt -o x.h5 g.h5
stderr_like '^covpredict: nothing to do: x\.h5 is complete$' '  also with -f'
for change in --float '--shard 1/2' '-r c1' '--overlap 8' '-m other.ckpt'; do
    model='-m m.ckpt'
    [ "$change" = '-m other.ckpt' ] && model=
    # shellcheck disable=SC2086 # lists of words
    run covpredict --resume $model $change -o x.h5 g.h5
    stderr_like '^covpredict: error: x\.h5: already exists, and .*; use -f to replace it$' "does not match a run with $change"
    [ "$status" -eq 1 ] || fail "  status $status"
done
run covpredict --resume -f -m m.ckpt --overlap 8 -o x.h5 g.h5
stderr_like '^covpredict: warning|^covpredict: .*threads?;' '  -f predicts it'
run covpredict --resume -m m.ckpt -o x.h5 g.h5
refused 1 '^covpredict: error: x\.h5: already exists, and it was predicted with a different --overlap; use -f to replace it$' 'output with --overlap, run without'
covpredict -q -f --resume -m m.ckpt -r c9:1-20,c9:21-30 -o x.h5 g.h5 || fail 'regions'
run covpredict --resume -m m.ckpt -r c9:1-30 -o x.h5 g.h5
stderr_like '^covpredict: nothing to do: x\.h5 is complete$' 'the same regions, given differently'
run covpredict --resume -m m.ckpt -r c9:1-31 -o x.h5 g.h5
refused 1 '^covpredict: error: x\.h5: already exists, and it has different regions' 'other regions of the same chunk'
covpredict -q -f --resume -m m.ckpt -o x.h5 g.h5 || fail 'the full run again'
rm s.json

# ---------------------------------------------------------------- the same bases are the same input

sleep 0.1
cp g.h5 measured.h5
printf 'c1\t0\t40\t3\nc2\t10\t50\t2\n' >t.bg
bam2h5 -q -p atacseq measured.h5 t.bg || fail 'bam2h5'
run covpredict --resume -m m.ckpt -o x.h5 measured.h5
stderr_like '^covpredict: nothing to do: x\.h5 is complete$' 'a genome file with new coverage'
status_is 0 '  is the same input'
for change in '-r c9:1-30' '--shard 2/3' '--overlap 8'; do
    # shellcheck disable=SC2086 # lists of words
    covpredict -q -f $change -m m.ckpt -o part.h5 g.h5 || fail "$change"
    # shellcheck disable=SC2086
    run covpredict --resume $change -m m.ckpt -o part.h5 measured.h5
    stderr_like '^covpredict: nothing to do: part\.h5 is complete$' "  also with $change"
done
rm part.h5
# Another genome of the same names and lengths, and older: one base differs.
awk '/^>/ { n = $1 } n == ">c7" && !/^>/ { $0 = substr($0, 1, 200) (substr($0, 201, 1) == "A" ? "C" : "A") substr($0, 202) }
    { print }' g.fa >other.fa
mkdir other
fasta2h5 -q --species g --subsequence-length 96 -o other/g.h5 other.fa || exit 99
touch -d '2001-01-01' other/g.h5
run covpredict --resume -q -m m.ckpt -o x.h5 other/g.h5
refused 1 '^covpredict: error: x\.h5: already exists, and it was predicted from different bases: row [0-9]+ \(c7:193-280, \+ strand\); use -f to replace it$' \
    'one base differs'
run covpredict --resume -q --subsequence-length 96 --species g -m m.ckpt -o x.h5 other.fa
refused 1 '^covpredict: error: x\.h5: already exists, and it was predicted from different bases' '  also in a FASTA'
ok '  and the output is unchanged' cmp x.h5 whole.h5
cp m.ckpt other/m.ckpt
cp other.ckpt m.ckpt
run_refused 1 '^covpredict: error: x\.h5: already exists, and it was predicted with a different model; use -f to replace it$' \
    'another model of the same name' covpredict --resume -q -m m.ckpt -o x.h5 g.h5
mv other/m.ckpt m.ckpt
run covpredict --resume -q --cpu scalar --precision bf16 -m m.ckpt -o x.h5 g.h5
refused 1 '^covpredict: error: x\.h5: already exists, and it was predicted with a different --precision; use -f to replace it$' \
    'another precision'
run covpredict --resume -q --full -m m.ckpt -o x.h5 g.h5
refused 1 '^covpredict: error: x\.h5: already exists, and it was predicted with different options' '--full'
cp m.ckpt other/name.ckpt
run covpredict --resume -m other/name.ckpt -o x.h5 g.h5
stderr_like '^covpredict: nothing to do: x\.h5 is complete$' 'the same model by another name'
run covpredict --resume -q --full -m other/name.ckpt -o x.h5 g.h5
refused 1 '^covpredict: error: x\.h5: already exists, and it was predicted with different options' '  but not with --full'
touch g.h5 m.ckpt
run covpredict --resume -m m.ckpt -o x.h5 g.h5
stderr_like '^covpredict: nothing to do: x\.h5 is complete$' 'the time of files does not matter'
if "$PYTHON" -c 'import h5py' 2>/dev/null; then
    "$PYTHON" -c '
import h5py
f = h5py.File("x.h5", "r+")
del f["data/bases_fingerprint"], f.attrs["model_sha256"]'
    sleep 0.1
    touch g.h5
    run_refused 1 '^covpredict: error: x\.h5: already exists, but g\.h5 is newer; use -f to replace it$' \
        'an output that does not record its bases, and a newer input' covpredict --resume -q -m m.ckpt -o x.h5 g.h5
fi
rm x.h5
run covpredict --resume -q -f -m m.ckpt -o x.h5 g.h5
ok '  predicted again, with the same result' cmp x.h5 whole.h5
rm -r x.h5 t.bg other

# ---------------------------------------------------------------- full disks, and other runs

stopped -m m.ckpt g.h5
status_is 1 'a full disk'
stderr_like '^covpredict: error: x\.h5\.resume: cannot be written: File too large$' '  is reported'
stderr_like '^covpredict: finished chunks are kept in x\.h5\.resume; run the same command to resume$' '  and the journal is mentioned'
leaves g.fa g.h5 m.ckpt other.ckpt other.fa measured.h5 whole.h5 whole.json stats.py fasta.h5 x.h5.resume '  leaves only the journal'
cp x.h5.resume kept
for stats in x.json x.covpredict_mqc.json; do
    cp kept x.h5.resume
    run covpredict --resume -v -m m.ckpt --stats $stats -o x.h5 g.h5
    stderr_like '^covpredict: all 2 runs: wall [0-9.]+ s, CPU [0-9.]+ s$' "a resumed run with --stats $stats"
    ok '  whose statistics describe the output' "$PYTHON" stats.py whole.json $stats 2
    rm x.h5
done
ok '  in a report, with the time of all runs' "$PYTHON" -c '
import json
s = json.load(open("x.covpredict_mqc.json"))
row = s["data"]["x"]
assert row["bases"] == s["bases"] and row["chunks"] == s["chunks"], row
for key in ("wall_seconds", "cpu_seconds"):
    assert abs(row[key] - s["all_runs"][key]) < 1e-9, row
assert abs(row["bases_per_second"] * s["all_runs"]["wall_seconds"] - s["bases"]) < 1, row'
rm x.json x.covpredict_mqc.json
cp kept x.h5.resume
run covpredict -m m.ckpt --shard 1/9 -o x.h5 g.h5
stderr_like '^covpredict: x\.h5\.resume is left over from an interrupted run; --resume continues it$' 'a run without --resume mentions the journal'
rm x.h5
while IFS='|' read -r args regex; do
    # shellcheck disable=SC2086 # a list of words
    run covpredict -q --resume -o x.h5 $args
    refused 1 "^covpredict: error: x\.h5\.resume: journal of a run with different $regex; use the same to resume, or -f to start over$" "refused: $args"
    cmp -s kept x.h5.resume || fail '  the journal is unchanged'
done <<'END'
-m other.ckpt g.h5|--model: m\.ckpt \([0-9]+ bytes, fingerprint [0-9a-f]{16}\), now other\.ckpt \([0-9]+ bytes, fingerprint [0-9a-f]{16}\)
-m m.ckpt --float g.h5|type of values: int32, now float32
-m m.ckpt --overlap 8 g.h5|--overlap: 0, now 8
-m m.ckpt --full g.h5|--full: no, now yes
-m m.ckpt --shard 2/3 g.h5|--shard: none, now 2/3
-m m.ckpt -r c1,c2:1-5 g.h5|--regions: none, now c1,c2:1-5
-m m.ckpt --min-length 50 g.h5|chunks or --species: [0-9]+, fingerprint .*
-m m.ckpt --cpu scalar --precision bf16 g.h5|--precision: exact, now bf16
-m m.ckpt --subsequence-length 96 --species g other.fa|input: .*
END
rm other.fa
resumes() { # NAME ARG...
    name=$1
    shift
    rm -f x.h5
    cp kept x.h5.resume
    run_ok "$name" covpredict --resume -o x.h5 "$@"
    stderr_like '^covpredict: x\.h5\.resume: [1-9][0-9]* of 360 pairs of chunks are done$' '  resumes'
}
cp m.ckpt copy.ckpt
resumes 'a copy of the model' -m copy.ckpt g.h5
resumes 'a genome file with new coverage' -m m.ckpt measured.h5
ok '  with the same bytes' cmp x.h5 whole.h5
resumes 'a FASTA of the same bases' --subsequence-length 96 -m m.ckpt g.fa
ok '  with the same bytes' cmp x.h5 whole.h5
resumes 'options that do not affect values' -@ 2 --batch-size 5 --loading ram -m m.ckpt g.h5
ok '  with the same bytes' cmp x.h5 whole.h5
rm measured.h5 copy.ckpt
leaves g.fa g.h5 m.ckpt other.ckpt whole.h5 whole.json stats.py fasta.h5 kept x.h5 '  and the journal is removed'

# Killed after the output got its final name, and before it replaced another output.
cp kept x.h5.resume
touch x.h5
run covpredict --resume -m m.ckpt -o x.h5 g.h5
stderr_like '^covpredict: nothing to do' 'an output newer than its journal'
leaves g.fa g.h5 m.ckpt other.ckpt whole.h5 whole.json stats.py fasta.h5 kept x.h5 '  the journal is removed'
sleep 0.1
cp kept x.h5.resume
run covpredict -q --resume -m m.ckpt -o x.h5 g.h5
refused 1 '^covpredict: error: x\.h5: already exists, and it is older than the journal' 'an older output stays'
run_ok '  -f replaces it' covpredict -q -f --resume -m m.ckpt -o x.h5 g.h5

# ---------------------------------------------------------------- damage

size=$(wc -c <kept)
for cut in 0 5 31 200 $((size / 2)) $((size - 1)); do
    rm -f x.h5
    head -c $cut kept >x.h5.resume
    run covpredict -q --resume -m m.ckpt -o x.h5 g.h5
    ok "a journal of $cut bytes" cmp x.h5 whole.h5
done
rm x.h5
cp kept x.h5.resume
printf 'xyz' | dd of=x.h5.resume bs=1 seek=$((size / 2)) conv=notrunc 2>/dev/null
run covpredict -q --resume -m m.ckpt -o x.h5 g.h5
stderr_like '^covpredict: warning: x\.h5\.resume: torn or damaged after [0-9]+ complete pieces; dropped [0-9]+ bytes$' 'a damaged journal'
ok '  resumes after the last good piece' cmp x.h5 whole.h5
# Pieces with the right checksum, but not with the stored chunks of a pair.
cat >forge.py <<'E'
import struct, sys, zlib
journal = bytearray(open("kept", "rb").read())
at = 32 + struct.unpack_from("<I", journal, 20)[0]
at += 72 + sum(x * k for x, k in zip(struct.unpack_from("<4Q", journal, at + 16), (1, 1, 8, 8)))  # the second piece
n, m, ends, more = {"none": (0, 0, [], []), "empty": (0, 0, [0], [0]), "one": (9, 0, [9], []),
                    "crossing": (9, 0, [9, 5], []), "short": (9, 9, [5], [5])}[sys.argv[1]]
piece = struct.pack("<5Q", struct.unpack_from("<Q", journal, at + 8)[0], n, m, len(ends), len(more)) + bytes(24)
body = b"".join(struct.pack("<Q", end) for end in ends + more) + bytes(n + m)
crc = zlib.crc32(body, zlib.crc32(piece))
open("x.h5.resume", "wb").write(journal[:at + 4] + struct.pack("<I", crc) + piece + body)
E
for what in none empty one crossing short; do
    rm -f x.h5
    "$PYTHON" forge.py $what || exit 99
    run covpredict -q --resume -m m.ckpt -o x.h5 g.h5
    stderr_like '^covpredict: warning: x\.h5\.resume: torn or damaged after 1 complete pieces; dropped [0-9]+ bytes$' "a journal with forged chunks: $what"
    ok '  resumes before them' cmp x.h5 whole.h5
done
rm forge.py
leaves g.fa g.h5 m.ckpt other.ckpt whole.h5 whole.json stats.py fasta.h5 kept x.h5 '  and leaves no temporary file'
rm x.h5
cp kept x.h5.resume
printf 'xyz' | dd of=x.h5.resume bs=1 seek=40 conv=notrunc 2>/dev/null
run covpredict -q --resume -m m.ckpt -o x.h5 g.h5
refused 1 '^covpredict: error: x\.h5\.resume: damaged head; use -f to start over$' 'a damaged head'
run covpredict -q -f --resume -m m.ckpt -o x.h5 g.h5
ok '  -f starts over' cmp x.h5 whole.h5
rm x.h5
head -c 3000 /dev/zero >x.h5.resume
run covpredict -q --resume -m m.ckpt -o x.h5 g.h5
ok 'a journal that lost its bytes in a crash: starts over' cmp x.h5 whole.h5
rm x.h5
echo 'a file of mine' >x.h5.resume
run covpredict -q -f --resume -m m.ckpt -o x.h5 g.h5
refused 1 '^covpredict: error: x\.h5\.resume: exists, but is not a journal' 'a file of another kind'
is "$(cat x.h5.resume)" 'a file of mine' '  is unchanged'
rm x.h5.resume

# ---------------------------------------------------------------- invalid use

fasta2h5 -q --subsequence-length 96 -o - g.fa >g.stream || exit 99
while IFS='|' read -r code args regex; do
    # shellcheck disable=SC2086 # a list of words
    run_refused "$code" "^covpredict: error: $regex" "refused: $args" covpredict -m m.ckpt --resume $args
done <<'END'
2|-o x.h5 -|--resume: standard input is not a file that can be read again$
1|-o x.h5 /dev/null|--resume: /dev/null is not a file that can be read again$
1|-o x.h5 g.stream|g\.stream is a chunk stream, which cannot be resumed \(--resume\)$
END
run covpredict -q --resume -m m.ckpt -o absent/x.h5 g.h5
status_is 1 'a missing directory'
run covpredict -q --resume -m m.ckpt -o . g.h5
status_is 1 'a directory as output'
rm g.stream

# ---------------------------------------------------------------- shards

for i in 1 2; do
    covpredict -q -m m.ckpt --shard $i/2 --stats $i.json -o $i.h5 g.h5
done
stopped -m m.ckpt --shard 2/2 g.h5
mv x.h5.resume 2.h5.resume
rm 2.h5
covpredict -q --resume -m m.ckpt --shard 2/2 --stats resumed.json -o 2.h5 g.h5
ok 'a resumed shard' "$PYTHON" stats.py 2.json resumed.json 2
run_ok '  can be merged' h5chunk merge -q --shard-stats 1.json,resumed.json --stats merged.json -o x.h5 1.h5 2.h5
covpredict -q --resume -m m.ckpt --shard 1/2 --stats again.json -o 1.h5 g.h5
run h5chunk merge -q -f --shard-stats again.json,resumed.json --stats later_mqc.json -o x.h5 1.h5 2.h5
status_is 0 '  also when another one was complete'
ok '  with the time of all runs, as far as known' "$PYTHON" -c '
import json
one, two, merged, later = (json.load(open(name)) for name in ("1.json", "resumed.json", "merged.json", "later_mqc.json"))
for key in ("wall_seconds", "cpu_seconds"):
    assert abs(merged["shards"][key] - one[key] - two["all_runs"][key]) < 1e-6, merged
    assert key not in later["shards"] and key not in later["data"]["later"], later
assert later["shards"]["bases"] == merged["shards"]["bases"] == one["bases"] + two["bases"], later
assert "bases_per_second" not in later["data"]["later"], later'
rm 1.h5 2.h5 x.h5 1.json 2.json resumed.json again.json merged.json later_mqc.json

# ---------------------------------------------------------------- killed

for shards in 1 3; do
    ok "$((n = ${COV_KILLS:-3})) kills, $shards shards" "$PYTHON" "$SRC/tests/fuzz/resume_kills.py" kills$shards "$n" $shards \
        "${COV_TEST_SEED:-1}" g.fa m.ckpt --subsequence-length 96 -@ 1 --batch-size 2
    rm -r kills$shards
done

# By a signal, long before the end.
awk "$random"'BEGIN { seed(8); print ">c"; letters(3000000, "ACGT") }' >long.fa
covpredict --resume --full --cpu scalar -@ 1 --batch-size 2 --subsequence-length 96 -m m.ckpt -o long.h5 long.fa 2>signal.txt &
await test -s long.h5.resume
kill $!
wait $!
is $? 143 'ended by SIGTERM'
is "$(tail -n 1 signal.txt)" 'covpredict: stopped by SIGTERM; finished chunks are kept in long.h5.resume; run the same command to resume' \
    '  reports how to resume'
ok '  from the journal' test -s long.h5.resume
ok '  and leaves no predictions' test ! -e long.h5
rm long.h5.resume signal.txt
covpredict --full --cpu scalar -@ 1 --batch-size 2 --subsequence-length 96 -m m.ckpt -o long.h5 long.fa 2>signal.txt &
await test -s signal.txt
kill $!
wait $!
is $? 143 'ended by SIGTERM without --resume'
is "$(tail -n 1 signal.txt)" 'covpredict: stopped by SIGTERM; nothing was written; with --resume, finished chunks are kept' \
    '  mentions --resume'
rm -f long.fa signal.txt
leaves g.fa g.h5 m.ckpt other.ckpt whole.h5 whole.json stats.py fasta.h5 kept 'no other files are left'
done_testing
