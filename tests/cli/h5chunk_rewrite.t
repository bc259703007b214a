#!/bin/sh
# h5chunk repack, subset, split, merge, cat, save: values are kept in every storage; errors leave no files.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
need_python h5py numpy
start_python "$SRC/tests/oracle/h5_equal.py"

refuses() { tool_refuses h5chunk "$@"; }

# Few long sequences, one with 3,100 N, and many short ones with more rows than an HDF5 chunk of the columns has
# (4096); each with coverage and with predictions.
awk "$random"'BEGIN {
    seed(3)
    for (s = 1; s <= 4; s++) {
        printf ">long%d\n", s
        length_of = s == 4 ? 8000 : 9000 + 1234 * s
        for (i = 1; i <= length_of; i++)
            printf "%s%s", ((s == 2 && i > 3000 && i <= 6100) ? "N" : random() < 0.01 ? "R" : letter("ACGT")), \
                ((i % 80 == 0 || i == length_of) ? "\n" : "")
    }
}' >long.fa
# Fewer sequences with sanitizers, which are slow.
awk -v n_seqs="${SAN:+150}" "$random"'BEGIN {
    seed(4)
    n_seqs = n_seqs ? n_seqs : 1400
    for (s = 1; s <= n_seqs; s++)
        record("s" s % 7 ":" s "-" s + 1, 1 + int(random() * 120))
}' >many.fa
fasta2h5 -q --subsequence-length 1000 -o long.h5 long.fa
fasta2h5 -q --subsequence-length 50 -o many.h5 many.fa
for g in long many; do
    "$PYTHON" "$SRC/tests/oracle/h5_cover.py" $g.h5 ${g}_c.h5 ${g}_p.h5 || exit 99
done

# ---------------------------------------------------------------- repack

for codec in gzip fast libdeflate:9 lzf lz4 zstd:5 blosc none; do
    # Every layout is written and read with every codec.
    run_ok "$codec, onehot" h5chunk repack --compression $codec --layout onehot -f -o a.h5 long_c.h5
    stderr_is '' '  prints nothing'
    run_ok '  to packed' h5chunk repack --compression $codec --layout packed -f -o b.h5 a.h5
    run_ok '  to onehot, none' h5chunk repack --compression none --layout onehot -f -o a.h5 b.h5
    ok '  keeps the values' ask long_c.h5 a.h5
    run_ok "predictions: $codec" h5chunk repack --compression $codec -f -o a.h5 long_p.h5
    run_ok '  to gzip' h5chunk repack --compression gzip -f -o b.h5 a.h5
    ok '  keeps the values' ask long_p.h5 b.h5
done
for file in many_c many_p; do
    run_ok "$file" h5chunk repack --compression zstd -o a.h5 -f $file.h5
    run_ok '  repacked without options' h5chunk repack -o b.h5 -f a.h5
    run_ok '  and back' h5chunk repack -f --compression none -o a.h5 b.h5
    ok '  keeps the values' ask $file.h5 a.h5
done
for rows in 2 7 100 1000; do
    run_ok "HDF5 chunks of $rows rows" h5chunk repack --chunk-rows $rows --layout packed -f -o a.h5 long_c.h5
    run_ok '  and of one row' h5chunk repack -f --layout onehot -o b.h5 a.h5
    ok '  keep the values' ask long_c.h5 b.h5
    run_ok "HDF5 chunks of $rows rows, many sequences" h5chunk repack --chunk-rows $rows -f -o a.h5 many_c.h5
    ok '  keep the values' ask many_c.h5 a.h5
done
for threads in 1 3; do
    SOURCE_DATE_EPOCH=1 run h5chunk repack -@ $threads -o t$threads.h5 many_c.h5
done
ok 'the same bytes for any number of threads' cmp t1.h5 t3.h5
rm t1.h5 t3.h5

for type in int32/gzip int64/lz4 float32/zstd int32/blosc; do
    for file in long_c long_p; do
        run_ok "$file as $type" h5chunk repack --dtype ${type%/*} --compression ${type#*/} -f -o b.h5 $file.h5
        run_ok '  to gzip' h5chunk repack --compression gzip -f -o a.h5 b.h5
        ok '  keeps the values' ask --dtype ${type%/*} $file.h5 a.h5
        run_ok '  and back' h5chunk repack --dtype int64 -f -o b.h5 a.h5
        ok '  keeps the values' ask $file.h5 b.h5
    done
done
refuses 1 'long_c\.h5: row [0-9]+ \(long4:1-1000, - strand\): evaluation/atacseq_coverage: position 1 .* 40000 does not fit int16' \
    'a value that does not fit' repack --dtype int16 -o out.h5 long_c.h5
refuses 1 'prediction/predictions: position 1 of the chunk: 40000 does not fit int16' 'a prediction that does not fit' \
    repack --dtype int16 -o out.h5 long_p.h5
refuses 2 'chunk-rows' 'zero rows' repack --chunk-rows 0 -o out.h5 long.h5
refuses 2 'standard output' 'HDF5 to standard output' repack -o - long.h5
refuses 2 'standard input' 'HDF5 from standard input' repack -o out.h5 -
refuses 2 'is both an input and an output' 'the input as output' repack -f -o long.h5 long.h5
ln long.h5 link.h5
refuses 2 'is both an input and an output' 'the input as output, by another name' repack -f -o link.h5 long.h5
rm link.h5
echo kept >out_kept
run_refused 1 'already exists; use -f' 'an existing output' h5chunk repack -o out_kept long.h5
is "$(cat out_kept)" kept '  is kept'
rm out_kept

# ---------------------------------------------------------------- subset

subset_is() { # NAME FILE EXPRESSION [ARG]...
    name=$1 file=$2
    ask rows "$file" "$3" rows || fail "$name: selecting the rows"
    shift 3
    run_ok "$name" h5chunk subset -f -o a.h5 "$@" "$file"
    ok '  has the expected rows' ask "$file" a.h5 rows
}
for file in long_c.h5 long_p.h5; do
    subset_is "$file: a sequence" "$file" 's == "long2"' -r long2
    subset_is "$file: a region" "$file" 's == "long3" and beg < 3000 and end > 1999' -r long3:2000-3000
    subset_is "$file: regions" "$file" '(s == "long3" and beg < 1) or s == "long1"' -r long3:1-1,long1 -r long3:1-1
    subset_is "$file: commas" "$file" '(s == "long3" and beg < 3000 and end > 1999) or s == "long1"' -r long3:2,000-3,000,long1
    subset_is "$file: a length" "$file" 's != "long4"' --min-length 8001
done
printf 'long1\t999\t1000\nelsewhere\t0\t1\n' >a.bed
subset_is 'BED' long_c.h5 's == "long1" and beg == 0' -R a.bed
stderr_like '[-]-regions-file a\.bed: 1 name matches no contig: elsewhere; the contigs are: long1, ' '  unknown names are counted'
printf 'long4\nlong1\n' >names
subset_is 'names' long_p.h5 's in ("long1", "long4")' --names names
subset_is 'names and regions combine' long_p.h5 's in ("long1", "long4") or (s == "long2" and end == 1000)' --names names \
    -r long2:1000-1000
subset_is 'excluded names' long_p.h5 's not in ("long1", "long4")' --exclude-names names
printf '# a comment\nlong4\nlong1 # another\nnone\nneither\n' >commented
subset_is 'comments in a list' long_p.h5 's not in ("long1", "long4")' --exclude-names commented
stderr_like '[-]-exclude-names commented: 2 names match no contig, the first is none$' '  are ignored; unknown names are reported'
subset_is 'a region with excluded names' long_c.h5 's == "long2" and end == 1000' --exclude-names names -r long2:1-5,long4
subset_is 'chunks of N are dropped' long_c.h5 's != "long2" or end <= 3000 or beg >= 6000' --drop-n
subset_is 'chunks of N are dropped, packed' long_c.h5 's != "long2" or end <= 3000 or beg >= 6000' --drop-n
subset_is 'names with colons' many_c.h5 's == "s0:7-8" or (s == "s1:1-2" and beg == 0)' -r s0:7-8,s1:1-2:1-1
subset_is 'a length, many' many_p.h5 'True' --min-length 1
ok 'a complete file is not partial' ask whole a.h5
run_ok 'a partial file' h5chunk subset -f -o a.h5 -r long2:1-10 long_c.h5
ok '  is marked, and lists all sequences' "$PYTHON" -c 'import h5py
f = h5py.File("a.h5", "r")
assert int(f.attrs["partial"]) == 1
assert [x.decode() for x in f["data/seq_names"][:]] == ["long1", "long2", "long3", "long4"]
assert f["data/seq_lengths"][:].tolist() == [10234, 11468, 12702, 8000]'
run_ok '  of a partial file' h5chunk subset -f -o b.h5 -r long2:5-6 a.h5
ok '  equals that file' ask a.h5 b.h5
refuses 1 'no chunks left' 'nothing selected' subset --min-length 1M -o out.h5 long_c.h5
refuses 1 'no chunks left' 'everything excluded' subset --names names --exclude-names names -o out.h5 long_c.h5
refuses 1 'names:1: expected contig, start and end' 'not a BED file' subset -R names -o out.h5 long_c.h5
refuses 2 '--names: must not be standard input$' 'a list from standard input' subset --names - -o out.h5 long_c.h5
refuses 1 'nowhere' 'a missing list' subset --names nowhere -o out.h5 long_c.h5

# ---------------------------------------------------------------- split, merge

# merge keeps only some of the parts open, in any order of theirs, whatever the number of threads.
export SOURCE_DATE_EPOCH=1
run_ok 'merge of 40 parts: split' h5chunk split --shards 40 -o tiny many_c.h5
run_ok 'merge of 40 parts: without limits' h5chunk merge -o all.h5 tiny.*.h5
for threads in 1 9; do
    run sh -c 'ulimit -n 32; exec "$@"' - h5chunk merge -@ $threads -o few.h5 tiny.?.h5 tiny.??.h5
    status_is 0 "merge of 40 parts: 32 descriptors, $threads threads"
    run_ok "merge of 40 parts: the same bytes, $threads threads" cmp all.h5 few.h5
    rm -f few.h5
done
ok 'merge of 40 parts: the values of the whole file' ask many_c.h5 all.h5
rm -f tiny.*.h5
unset SOURCE_DATE_EPOCH

for file in long_c long_p many_c many_p; do
    for n in 1 7; do
        [ $n = 1 ] && [ $file != long_c ] && continue
        rm -f part.*
        run_ok "$file: $n shards" h5chunk split -f --shards $n -o part $file.h5
        parts=
        for k in 1 2 3 4 5 6 7; do
            [ -e part.$k.h5 ] && parts="part.$k.h5 $parts"
        done
        # shellcheck disable=SC2086 # a list of names
        run_ok '  merged in reverse order' h5chunk merge -f -o a.h5 $parts
        ok '  equal the original' ask $file.h5 a.h5
        ok '  and is not partial' ask whole a.h5
    done
done
run_ok 'packed shards' h5chunk repack -f --layout packed --compression zstd -o b.h5 long_c.h5
export SOURCE_DATE_EPOCH=1700000000 # streams contain the file's time
run_ok '  are split' h5chunk split -f --shards 3 -o packed b.h5
run_ok '  and merged in a different order' h5chunk merge -f -o a.h5 packed.3.h5 packed.1.h5 packed.2.h5
run_ok '  and back' h5chunk repack -f --layout onehot --compression gzip -o b.h5 a.h5
ok '  equal the original' ask long_c.h5 b.h5
run_ok 'a shard of a shard' h5chunk split -f --shards 2 -o half packed.1.h5
run_ok '  merges' h5chunk merge -f -o a.h5 packed.3.h5 half.2.h5 packed.2.h5 half.1.h5
run_ok '  merges alone with --allow-holes' h5chunk merge -f --allow-holes -o a.h5 half.2.h5 half.1.h5
run h5chunk info packed.1.h5
stdout_like '^  attribute  shard: 1/3$' '  info shows which shard a file is'
h5chunk repack -q -o copy.h5 packed.1.h5
run h5chunk info copy.h5
stdout_like '^  attribute  shard: 1/3$' '  repack keeps it'
h5chunk subset -q --min-length 1k -r long1:1-1500 -o copy.h5 -f packed.1.h5
ok '  subset does not' "$PYTHON" -c '
import h5py
assert "shard" not in h5py.File("copy.h5").attrs and "shard" not in h5py.File("a.h5").attrs
with h5py.File("packed.1.h5", "r+") as f:
    del f.attrs["shard"]'
h5chunk cat packed.1.h5 >shard.cov
h5chunk cat a.h5 >again.cov
ok '  equals the shard' cmp shard.cov again.cov
unset SOURCE_DATE_EPOCH
rm shard.cov again.cov copy.h5
run_ok '  and is partial' h5chunk info a.h5
stdout_like 'partial' '  as info reports'
rm -f half.* packed.*

run_ok 'shards for merge errors' h5chunk split -f --shards 7 -o part long_c.h5
refuses 1 'error: part 1 of 7 is missing: sequence long1, \+ strand: chunks of 1-[0-9]+ are missing$' 'without the first shard' \
    merge -o out.h5 part.2.h5 part.3.h5 part.4.h5 part.5.h5 part.6.h5 part.7.h5
refuses 1 'error: part 4 of 7 is missing: sequence long[0-9], \+ strand: chunks of [0-9]+-[0-9]+ are missing$' 'without one shard' \
    merge -o out.h5 part.1.h5 part.2.h5 part.3.h5 part.5.h5 part.6.h5 part.7.h5
refuses 1 'error: part 7 of 7 is missing: sequence long[0-9], . strand: chunks of [0-9]+-8000 are missing$' 'without the last shard' \
    merge -o out.h5 part.1.h5 part.2.h5 part.3.h5 part.4.h5 part.5.h5 part.6.h5
refuses 1 'error: parts 1, 3, 6, 7 of 7 are missing: ' 'without several shards' merge -o out.h5 part.4.h5 part.2.h5 part.5.h5
cp part.4.h5 again.h5
refuses 1 'error: part 4 of 7 is given twice: part\.4\.h5 and again\.h5$' 'a shard twice' \
    merge -o out.h5 part.1.h5 part.2.h5 part.3.h5 part.4.h5 again.h5 part.5.h5 part.6.h5 part.7.h5
rm again.h5
# Files that do not say which part they are.
"$PYTHON" - <<'END'
import h5py
for i in range(1, 8):
    with h5py.File(f"part.{i}.h5", "r+") as f:
        assert f.attrs["shard"] == f"{i}/7"
        del f.attrs["shard"]
END
refuses 1 'sequence long[0-9], \+ strand: chunks of [0-9]+-[0-9]+ are missing; give the file that has them, or use --allow-holes if the parts are of a subset$' 'old files without one shard' \
    merge -o out.h5 part.1.h5 part.2.h5 part.3.h5 part.5.h5 part.6.h5 part.7.h5
refuses 1 'sequence long[0-9], . strand: chunks of [0-9]+-8000 are missing;' '  without the last shard' \
    merge -o out.h5 part.1.h5 part.2.h5 part.3.h5 part.4.h5 part.5.h5 part.6.h5
cp part.4.h5 again.h5
refuses 1 'chunks overlap at position [0-9]+: row [0-9]+ of part.4.h5 and row [0-9]+ of again.h5' '  with a shard twice' \
    merge -o out.h5 part.1.h5 part.2.h5 part.3.h5 part.4.h5 again.h5 part.5.h5 part.6.h5 part.7.h5
rm again.h5
refuses 1 'overlap at position 1: row 0 of ' 'a shard and the complete file' merge -o out.h5 long_c.h5 part.1.h5
refuses 1 'long_c.h5 and many_c.h5 are not parts of one file: chunks of 1000 and 50' 'a different genome' \
    merge -o out.h5 long_c.h5 many_c.h5
fasta2h5 -q --species other --subsequence-length 1000 -o species.h5 long.fa
refuses 1 'sequence 1 is of species long and other' 'another species' merge -o out.h5 long.h5 species.h5
sed 's/long3/long5/' long.fa >renamed.fa
fasta2h5 -q --species long --subsequence-length 1000 -o renamed.h5 renamed.fa
refuses 1 'sequence 3 is long3 and long5' 'a different name' merge -o out.h5 long.h5 renamed.h5
rm species.h5 renamed.fa renamed.h5
h5chunk split --shards 2 -o pred long_p.h5 && h5chunk split --shards 2 -o bare long.h5
refuses 1 'is missing in one of them' 'with and without coverage' merge -o out.h5 bare.1.h5 part.2.h5
"$PYTHON" -c 'import h5py, numpy
for i in 1, 2:
    with h5py.File(f"bare.{i}.h5", "r+") as f:
        f.create_dataset("evaluation/x_coverage", data=numpy.zeros((len(f["data/X"]), 1000, i), "i2"), chunks=(1, 1000, i))'
refuses 1 'evaluation/x_coverage has different shapes' 'different numbers of columns' merge -o out.h5 bare.1.h5 bare.2.h5
h5chunk repack --dtype int32 -o narrow.h5 pred.2.h5
refuses 1 'pred.1.h5 and narrow.h5 are not parts of one file: prediction/predictions has different types' 'different types' \
    merge -o out.h5 pred.1.h5 narrow.h5
"$PYTHON" -c 'import h5py
h5py.File("pred.2.h5", "r+").attrs["covtools_version"] = b"0.0.9"'
run_ok 'merge of parts of two versions' h5chunk merge -f -o a.h5 pred.1.h5 pred.2.h5
stderr_like 'warning: pred.1.h5 and pred.2.h5 were written by covtools .* and 0.0.9: predictions of two versions may differ' \
    '  warns'
"$PYTHON" -c 'import h5py
with h5py.File("pred.2.h5", "r+") as f:
    f["prediction/model_name"][0] = b"another.ckpt"'
refuses 1 'prediction/model_name differs' 'different models' merge -o out.h5 pred.1.h5 pred.2.h5
rm pred.* bare.* narrow.h5 part.*

refuses 2 'needs one of --shards' 'no kind of split' split -o out long_c.h5
refuses 2 'needs only one of' 'two kinds of split' split --shards 2 --val-fraction 0.1 --seed 1 -o out long_c.h5
refuses 2 'needs --val-fraction' 'a seed for shards' split --shards 2 --seed 1 -o out long_c.h5
refuses 2 'needs --val-fraction' '--by with names' split --val-names names --by chunk -o out/ long_c.h5
refuses 2 'not a directory' 'a file instead of a directory' split --val-fraction 0.1 --seed 1 -o out long_c.h5
refuses 2 'val-fraction' 'all for validation' split --val-fraction 1 --seed 1 -o out/ long_c.h5
echo kept >part.2.h5
run_refused 1 'part.2.h5: already exists; use -f' 'an existing shard' h5chunk split --shards 3 -o part long_c.h5
is "$(cat part.2.h5; ls part.*)" "kept
part.2.h5" '  is kept, and no other is written'
rm part.2.h5

awk 'BEGIN { print ">only"; for (i = 0; i < 9000; i++) printf "ACGT" }' | fasta2h5 -q --species x -o single.h5 -
refuses 1 'single\.h5: too few sequences for a validation set \(1\): it takes whole sequences, so at least 2 are needed; --by chunk draws pairs of chunks$' \
    'a single sequence' split --val-fraction 0.2 --seed 1 -o out/ single.h5
rm single.h5
for by in sequence chunk; do
    for file in long_c many_p; do
        run_ok "$file: by $by" h5chunk split -q --val-fraction 0.25 --seed 5 --by $by -o d1/ $file.h5
        if [ $by = sequence ]; then
            ok '  has all rows once, and does not split sequences' ask halves $file.h5 d1 sequences
        else
            ok '  has all rows once, and does not split pairs' ask halves $file.h5 d1
        fi
        ok '  keeps the values for training' ask $file.h5 d1/train/$file.h5 train.rows
        ok '  keeps the values for validation' ask $file.h5 d1/val/$file.h5 val.rows
        run_ok '  again' h5chunk split -q --val-fraction 0.25 --seed 5 --by $by -o d2/ $file.h5
        ok '  gives the same split' ask d1/val/$file.h5 d2/val/$file.h5
        run_ok '  a different seed' h5chunk split -q -f --val-fraction 0.25 --seed 6 --by $by -o d2/ $file.h5
        # With few sequences both seeds may draw the same ones.
        if [ $file = many_p ] && ask d1/val/$file.h5 d2/val/$file.h5 2>/dev/null; then
            fail '  gives a different split'
        else
            pass '  gives a different split'
        fi
        rm -r d1 d2
    done
done
echo long3 >names
run_ok 'by names' h5chunk split -q --val-names names -o d1/ long_c.h5
ask rows long_c.h5 's == "long3"' rows || fail '  selecting the rows'
ok '  puts these in val' ask long_c.h5 d1/val/long_c.h5 rows
rm -r d1
echo long2 >excluded
mkdir rest
h5chunk subset -q --exclude-names excluded -o rest/long_c.h5 long_c.h5
for how in '--val-names names' '--val-fraction 0.4 --seed 2' '--val-fraction 0.4 --seed 2 --by chunk'; do
    # shellcheck disable=SC2086 # a list of words
    run_ok "without a sequence: $how" h5chunk split -q $how --exclude-names excluded -o d1/ long_c.h5
    # shellcheck disable=SC2086 # a list of words
    h5chunk split -q $how -o d2/ rest/long_c.h5
    ok '  training data are those of the other sequences' ask d1/train/long_c.h5 d2/train/long_c.h5
    ok '  validation data, too' ask d1/val/long_c.h5 d2/val/long_c.h5
    rm -r d1 d2
done
refuses 2 '--exclude-names needs --val-fraction or --val-names$' 'shards without a sequence' split --shards 2 \
    --exclude-names excluded -o out long_c.h5
seq -f long%g 4 >all
refuses 1 'long_c\.h5: no chunks left by --exclude-names$' 'all sequences excluded' split --val-names names --exclude-names all -o out/ long_c.h5
refuses 1 'no chunks left for training' 'all for validation' split --val-names all -o out/ long_c.h5
refuses 1 'no chunks left for validation' 'none for validation' split --val-names rows -o out/ long_c.h5

# ---------------------------------------------------------------- cat, save

for file in long_c long_p many_c many_p; do
    h5chunk cat $file.h5 >stream
    run_ok "$file, streamed" h5chunk save -f -o a.h5 - <stream
    ok '  gives the same file' ask $file.h5 a.h5
    run_ok '  with other storage' h5chunk save -f --compression lzf --dtype int32 -o b.h5 - <stream
    ok '  keeps the values' ask --dtype int32 $file.h5 b.h5
    run_ok '  to a file' h5chunk cat -f -o stream.bgz $file.h5
    run_ok '  and from one' h5chunk save -f -o a.h5 stream.bgz
    ok '  gives the same file' ask $file.h5 a.h5
done
h5chunk cat long_c.h5 >stream
run_ok 'a stream saved packed' h5chunk save -f --layout packed -o a.h5 - <stream
ok '  gives the same file' ask long_c.h5 a.h5
run_ok 'a subset' h5chunk subset -f -o a.h5 -r long2:1-10,long4:7000-8000 long_c.h5
h5chunk cat a.h5 >stream.part
run_ok '  streamed' h5chunk save -f -o b.h5 - <stream.part
ok '  gives the same file' ask a.h5 b.h5
"$PYTHON" - <<'END'
import h5py
with h5py.File("long_c.h5", "r") as f, h5py.File("mixed.h5", "w") as g:
    n = f["data/X"].shape[0]
    order = sorted(range(n), key=lambda i: i * 7919 % n)
    def visit(name, item):
        if isinstance(item, h5py.Dataset):
            x = item[:]
            g.create_dataset(name, data=x[order] if x.shape[0] == n else x, fillvalue=item.fillvalue if x.dtype.kind != "S" else None)
            for k, v in item.attrs.items():
                g[name].attrs[k] = v
    f.visititems(visit)
    for k, v in f.attrs.items():
        g.attrs[k] = v
END
h5chunk cat mixed.h5 >stream.mixed
run_ok 'unordered rows, streamed' h5chunk save -f -o a.h5 - <stream.mixed
ok '  become ordered' "$PYTHON" -c 'import h5py
a, b = h5py.File("a.h5", "r"), h5py.File("long_c.h5", "r")
key = lambda f: sorted(zip(f["data/seqids"][:].tolist(), map(tuple, f["data/start_ends"][:].tolist())))
assert key(a) == key(b)'
run_ok '  and merged' h5chunk merge -f -o a.h5 mixed.h5
h5chunk cat a.h5 >stream.merged
run_ok '  streamed again' h5chunk save -f -o b.h5 - <stream.merged
ok '  gives the same file' ask a.h5 b.h5

n=$(wc -c <stream)
for cut in 0 1 20 100 1000 $((n / 2)) $((n - 29)) $((n - 28)) $((n - 1)); do
    head -c "$cut" stream >stream.cut
    refuses 1 'standard input' "a stream truncated at $cut of $n" save -o out.h5 - <stream.cut
done
h5chunk cat long.h5 >stream.bare
refuses 1 'neither coverage nor predictions' 'a type for a stream of bases' save --dtype int32 -o out.h5 stream.bare
refuses 1 'standard input: long4:1-1000, - strand: evaluation/.*40000 does not fit int16' \
    'a value of a stream that does not fit' save --dtype int16 -o out.h5 - <stream
refuses 1 'long_c.h5' 'a file instead of a stream' save -o out.h5 long_c.h5
refuses 1 'stream' 'a stream instead of a file' repack -o out.h5 stream
refuses 2 'standard output' '--stats and the stream to standard output' cat --stats - long.h5
h5chunk cat long_c.h5 | head -c 10 >/dev/null
run_refused 1 'No space left' 'a stream to a full disk' sh -c 'h5chunk cat many_c.h5 >/dev/full'

# ---------------------------------------------------------------- damaged input

head -c 3000 long_c.h5 >cut.h5
for how in 'subset -r long1 -o out.h5' 'split --shards 2 -o out' 'merge -o out.h5' \
    'split --val-fraction 0.3 --seed 1 -o out/' 'cat -o out' 'repack -o out.h5'; do
    # shellcheck disable=SC2086 # a list of words
    refuses 1 'cut.h5' "truncated: $how" $how cut.h5
done
cp long_c.h5 flip0.h5 && "$PYTHON" "$SRC/tests/oracle/h5_flip.py" flip0.h5 data/X 60 || exit 99
cp long_c.h5 flip1.h5 && "$PYTHON" "$SRC/tests/oracle/h5_flip.py" flip1.h5 evaluation/h3k4me3_coverage 60 || exit 99
for k in 0 1; do
    for how in 'repack -o out.h5' 'split --shards 2 -o out' 'merge -o out.h5' 'cat -o out'; do
        # shellcheck disable=SC2086 # a list of words
        refuses 1 "flip$k.h5: .*row " "a damaged chunk ($k): $how" $how flip$k.h5
    done
done
refuses 1 'flip0.h5: data/X: row 60' 'a damaged chunk: --drop-n' subset --drop-n -o out.h5 flip0.h5
run_ok 'undamaged chunks can be selected' h5chunk subset -r long1 -f -o a.h5 flip0.h5
done_testing
