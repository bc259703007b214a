#!/bin/sh
# h5chunk repack, subset, split, merge, cat, save: equal values in every form; what is refused, and then leaves
# nothing.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
need_python h5py numpy
start_python "$SRC/tests/lib/h5_equal.py"

# refuses STATUS REGEX NAME -- SUBCOMMAND [ARG]...: h5chunk is refused and leaves no output.
refuses() {
    wanted=$1 regex=$2 name=$3
    shift 4
    run h5chunk "$@"
    refused "$wanted" "$regex" "$name"
    is "$(find . -name 'out*' -o -name '.out*' -o -name '.covtools*')" '' '  and leaves nothing'
}
# does NAME -- SUBCOMMAND [ARG]...
does() {
    name=$1
    shift 2
    run h5chunk "$@"
    status_is 0 "$name"
}
same() { # NAME [ARG]... as h5_equal.py
    name=$1
    shift
    ok "$name" ask "$@"
}

# Few long sequences, one with 3,100 N, and many short ones, of more rows than a stored chunk of the columns has
# (4096); each with coverage and with predictions.
awk 'BEGIN {
    srand(3)
    n = split("A C G T", base, " ")
    for (s = 1; s <= 4; s++) {
        printf ">long%d\n", s
        length_of = s == 4 ? 8000 : 9000 + 1234 * s
        for (i = 1; i <= length_of; i++)
            printf "%s%s", ((s == 2 && i > 3000 && i <= 6100) ? "N" : rand() < 0.01 ? "R" : base[1 + int(rand() * n)]), \
                ((i % 80 == 0 || i == length_of) ? "\n" : "")
    }
}' >long.fa
# The sanitizers make many sequences slow, and see the same code in some.
awk -v n_seqs="${SAN:+150}" 'BEGIN {
    srand(4)
    n_seqs = n_seqs ? n_seqs : 1400
    n = split("A C G T", base, " ")
    for (s = 1; s <= n_seqs; s++) {
        printf ">s%d:%d-%d\n", s % 7, s, s + 1
        length_of = 1 + int(rand() * 120)
        for (i = 1; i <= length_of; i++)
            printf "%s", base[1 + int(rand() * n)]
        print ""
    }
}' >many.fa
fasta2h5 -q --subsequence-length 1000 -o long.h5 long.fa
fasta2h5 -q --subsequence-length 50 -o many.h5 many.fa
for g in long many; do
    "$PYTHON" "$SRC/tests/lib/h5_cover.py" $g.h5 ${g}_c.h5 ${g}_p.h5 || exit 99
done

# ---------------------------------------------------------------- repack

for codec in gzip fast libdeflate:9 lzf lz4 zstd:5 blosc none; do
    # Every layout is written and read with every codec, and either is made from the other.
    does "$codec, onehot" -- repack --compression $codec --layout onehot -f -o a.h5 long_c.h5
    stderr_is '' '  without a word'
    does '  to packed' -- repack --compression $codec --layout packed -f -o b.h5 a.h5
    does '  to onehot, none' -- repack --compression none --layout onehot -f -o a.h5 b.h5
    same '  gives equal values' long_c.h5 a.h5
    does "predictions: $codec" -- repack --compression $codec -f -o a.h5 long_p.h5
    does '  to gzip' -- repack --compression gzip -f -o b.h5 a.h5
    same '  gives equal values' long_p.h5 b.h5
done
for file in many_c many_p; do
    does "$file" -- repack --compression zstd -o a.h5 -f $file.h5
    does '  as it is' -- repack -o b.h5 -f a.h5
    does '  back' -- repack -f --compression none -o a.h5 b.h5
    same '  gives equal values' $file.h5 a.h5
done
for rows in 2 7 100 1000; do
    does "stored chunks of $rows rows" -- repack --chunk-rows $rows --layout packed -f -o a.h5 long_c.h5
    does '  and of one' -- repack -f --layout onehot -o b.h5 a.h5
    same '  give equal values' long_c.h5 b.h5
    does "stored chunks of $rows rows, many sequences" -- repack --chunk-rows $rows -f -o a.h5 many_c.h5
    same '  have equal values' many_c.h5 a.h5
done
for threads in 1 3; do
    SOURCE_DATE_EPOCH=1 run h5chunk repack -@ $threads -o t$threads.h5 many_c.h5
done
ok 'the same bytes for any number of threads' cmp t1.h5 t3.h5
rm t1.h5 t3.h5

for type in int32 int64 float32; do
    for file in long_c long_p; do
        does "$file as $type" -- repack --dtype $type -f -o a.h5 $file.h5
        same '  has equal values' --dtype $type $file.h5 a.h5
        does '  and back' -- repack --dtype int64 -f -o b.h5 a.h5
        same '  too' $file.h5 b.h5
    done
done
refuses 1 'long_c\.h5: row [0-9]+ \(long4:1-1000, - strand\): evaluation/atacseq_coverage: position 1 .* 40000 does not fit int16' \
    'a value that does not fit' -- repack --dtype int16 -o out.h5 long_c.h5
refuses 1 'prediction/predictions: position 1 of the chunk: 40000 does not fit int16' 'in predictions too' \
    -- repack --dtype int16 -o out.h5 long_p.h5
refuses 2 'has neither' 'a type for bases' -- repack --dtype int16 -o out.h5 long.h5
refuses 2 'has none' 'a layout for predictions' -- repack --layout packed -o out.h5 long_p.h5
refuses 2 'int8' 'a type that is none' -- repack --dtype int8 -o out.h5 long_p.h5
refuses 2 'gzip, fast' 'a compression that is none' -- repack --compression rar -o out.h5 long.h5
refuses 2 'chunk-rows' 'no rows' -- repack --chunk-rows 0 -o out.h5 long.h5
refuses 2 'standard output' 'HDF5 to a pipe' -- repack -o - long.h5
refuses 2 'standard input' 'HDF5 from a pipe' -- repack -o out.h5 -
refuses 2 'is an input' 'onto itself' -- repack -f -o long.h5 long.h5
ln long.h5 link.h5
refuses 2 'is an input' 'onto itself under another name' -- repack -f -o link.h5 long.h5
rm link.h5
echo kept >out_kept
refuses_kept() {
    run h5chunk repack -o out_kept long.h5
    refused 1 'exists; use -f' 'an output that is there'
    is "$(cat out_kept)" kept '  stays'
}
refuses_kept
rm out_kept

# ---------------------------------------------------------------- subset

subset_is() { # NAME FILE EXPRESSION [ARG]...
    name=$1 file=$2
    ask rows "$file" "$3" rows || fail "$name: which rows"
    shift 3
    does "$name" -- subset -f -o a.h5 "$@" "$file"
    same '  keeps these rows' "$file" a.h5 rows
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
stderr_like '[-]-regions-file a\.bed: 1 name matches no contig: elsewhere$' '  names it does not know are counted'
printf 'long4\nlong1\n' >names
subset_is 'names' long_p.h5 's in ("long1", "long4")' --names names
subset_is 'names and regions add up' long_p.h5 's in ("long1", "long4") or (s == "long2" and end == 1000)' --names names \
    -r long2:1000-1000
subset_is 'all but names' long_p.h5 's not in ("long1", "long4")' --exclude-names names
printf '# a comment\nlong4\nlong1 # another\nnone\nneither\n' >commented
subset_is 'comments' long_p.h5 's not in ("long1", "long4")' --exclude-names commented
stderr_like '[-]-exclude-names commented: 2 names match no contig, the first is none$' '  are no names, the unknown are told'
subset_is 'a region of what is not left out' long_c.h5 's == "long2" and end == 1000' --exclude-names names -r long2:1-5,long4
subset_is 'no chunk of N' long_c.h5 's != "long2" or end <= 3000 or beg >= 6000' --drop-n
subset_is 'no chunk of N, packed' long_c.h5 's != "long2" or end <= 3000 or beg >= 6000' --drop-n
subset_is 'names with colons' many_c.h5 's == "s0:7-8" or (s == "s1:1-2" and beg == 0)' -r s0:7-8,s1:1-2:1-1
subset_is 'a length, many' many_p.h5 'True' --min-length 1
ok 'a whole file is not partial' ask whole a.h5
does 'a partial file' -- subset -f -o a.h5 -r long2:1-10 long_c.h5
ok '  says so, and knows all sequences' "$PYTHON" -c 'import h5py
f = h5py.File("a.h5", "r")
assert int(f.attrs["partial"]) == 1
assert [x.decode() for x in f["data/seq_names"][:]] == ["long1", "long2", "long3", "long4"]
assert f["data/seq_lengths"][:].tolist() == [10234, 11468, 12702, 8000]'
does '  of a partial file' -- subset -f -o b.h5 -r long2:5-6 a.h5
same '  is that file' a.h5 b.h5
refuses 2 'region long5: unknown contig long5; the contigs are: ' 'a region of nothing' -- subset -r long5 -o out.h5 long_c.h5
refuses 2 'past the end of the contig, which has 8000 bases' 'a region behind the end' -- subset -r long4:8001-8002 -o out.h5 long_c.h5
refuses 2 'NAME:FIRST-LAST' 'half a region' -- subset -r long4:8001 -o out.h5 long_c.h5
refuses 2 'ends before it begins' 'a region backwards' -- subset -r long4:9-8 -o out.h5 long_c.h5
refuses 2 'nothing says' 'no wish' -- subset -o out.h5 long_c.h5
refuses 2 'has none' '--drop-n of predictions' -- subset --drop-n -o out.h5 long_p.h5
refuses 1 'no chunk is left' 'nothing left' -- subset --min-length 1M -o out.h5 long_c.h5
refuses 1 'no chunk is left' 'all left out' -- subset --names names --exclude-names names -o out.h5 long_c.h5
refuses 1 'names:1: expected contig, start and end' 'a BED file that is none' -- subset -R names -o out.h5 long_c.h5
refuses 2 'standard input' 'a list from a pipe' -- subset --names - -o out.h5 long_c.h5
refuses 1 'nowhere' 'a list that is not there' -- subset --names nowhere -o out.h5 long_c.h5

# ---------------------------------------------------------------- split, merge

for file in long_c long_p many_c many_p; do
    for n in 1 7; do
        [ $n = 1 ] && [ $file != long_c ] && continue
        rm -f part.*
        does "$file: $n shards" -- split -f --shards $n -o part $file.h5
        parts=
        for k in 1 2 3 4 5 6 7; do
            [ -e part.$k.h5 ] && parts="part.$k.h5 $parts"
        done
        # shellcheck disable=SC2086 # a list of names
        does '  merged, last first' -- merge -f -o a.h5 $parts
        same '  are the whole' $file.h5 a.h5
        ok '  which is not partial' ask whole a.h5
    done
done
does 'packed shards' -- repack -f --layout packed --compression zstd -o b.h5 long_c.h5
export SOURCE_DATE_EPOCH=1700000000 # streams are compared, which tell the file's time
does '  are cut' -- split -f --shards 3 -o packed b.h5
does '  and merged with others' -- merge -f -o a.h5 packed.3.h5 packed.1.h5 packed.2.h5
does '  back' -- repack -f --layout onehot --compression gzip -o b.h5 a.h5
same '  are the whole' long_c.h5 b.h5
does 'a shard of a shard' -- split -f --shards 2 -o half packed.1.h5
does '  merges' -- merge -f -o a.h5 packed.3.h5 half.2.h5 packed.2.h5 half.1.h5
does '  alone: with holes' -- merge -f --allow-holes -o a.h5 half.2.h5 half.1.h5
h5chunk cat packed.1.h5 >shard.cov
h5chunk cat a.h5 >again.cov
ok '  it is the shard again' cmp shard.cov again.cov
unset SOURCE_DATE_EPOCH
rm shard.cov again.cov
does '  which is partial' -- info a.h5
stdout_like 'partial' '  and says so'
rm -f half.* packed.*

does 'shards to merge wrongly' -- split -f --shards 7 -o part long_c.h5
refuses 1 'sequence long1, \+ strand: no part has the chunks of 1-' 'without the first' \
    -- merge -o out.h5 part.2.h5 part.3.h5 part.4.h5 part.5.h5 part.6.h5 part.7.h5
refuses 1 'sequence long[0-9], \+ strand: no part has the chunks of [0-9]+-[0-9]+; parts of a subset are merged with --allow-holes$' 'without one' \
    -- merge -o out.h5 part.1.h5 part.2.h5 part.3.h5 part.5.h5 part.6.h5 part.7.h5
refuses 1 'sequence long[0-9], . strand: no part has the chunks of [0-9]+-8000;' 'without the last' \
    -- merge -o out.h5 part.1.h5 part.2.h5 part.3.h5 part.4.h5 part.5.h5 part.6.h5
refuses 1 'chunks overlap at position [0-9]+: row [0-9]+ of part.4.h5 and row [0-9]+ of part.4.h5' 'one twice' \
    -- merge -o out.h5 part.1.h5 part.2.h5 part.3.h5 part.4.h5 part.4.h5 part.5.h5 part.6.h5 part.7.h5
refuses 1 'overlap at position 1: row 0 of ' 'a part and the whole' -- merge -o out.h5 long_c.h5 part.1.h5
refuses 1 'long_c.h5 and many_c.h5 are not parts of one file: chunks of 1000 and of 50' 'another genome' \
    -- merge -o out.h5 long_c.h5 many_c.h5
fasta2h5 -q --species other --subsequence-length 1000 -o species.h5 long.fa
refuses 1 'sequence 1 is of species long and of other' 'another species' -- merge -o out.h5 long.h5 species.h5
sed 's/long3/long5/' long.fa >renamed.fa
fasta2h5 -q --species long --subsequence-length 1000 -o renamed.h5 renamed.fa
refuses 1 'sequence 3 is long3 and long5' 'another name' -- merge -o out.h5 long.h5 renamed.h5
rm species.h5 renamed.fa renamed.h5
h5chunk split --shards 2 -o pred long_p.h5 && h5chunk split --shards 2 -o bare long.h5
refuses 1 'one has bases' 'a genome and predictions' -- merge -o out.h5 part.1.h5 pred.2.h5
refuses 1 'is in one of them only' 'with coverage and without' -- merge -o out.h5 bare.1.h5 part.2.h5
h5chunk repack --dtype int32 -o narrow.h5 pred.2.h5
refuses 1 'pred.1.h5 and narrow.h5 are not parts of one file: prediction/predictions has two types' 'two types' \
    -- merge -o out.h5 pred.1.h5 narrow.h5
"$PYTHON" -c 'import h5py
with h5py.File("pred.2.h5", "r+") as f:
    f["prediction/model_name"][0] = b"another.ckpt"'
refuses 1 'prediction/model_name is not the same' 'two models' -- merge -o out.h5 pred.1.h5 pred.2.h5
rm pred.* bare.* narrow.h5 part.*

refuses 2 '[0-9]+ pairs of chunks do not make 1000 shards' 'more shards than pairs' \
    -- split --shards 1000 -o out long_c.h5
refuses 2 'one of --shards' 'no way to split' -- split -o out long_c.h5
refuses 2 'not several' 'two ways to split' -- split --shards 2 --val-fraction 0.1 --seed 1 -o out long_c.h5
refuses 2 'goes with --val-fraction' 'a seed for shards' -- split --shards 2 --seed 1 -o out long_c.h5
refuses 2 'goes with --val-fraction' 'chunks for names' -- split --val-names names --by chunk -o out/ long_c.h5
refuses 2 'wants a --seed' 'no seed' -- split --val-fraction 0.1 -o out/ long_c.h5
refuses 2 'a folder is wanted' 'no folder' -- split --val-fraction 0.1 --seed 1 -o out long_c.h5
refuses 2 'a folder; --shards' 'shards to a folder' -- split --shards 2 -o out/ long_c.h5
refuses 2 'val-fraction' 'all for validation' -- split --val-fraction 1 --seed 1 -o out/ long_c.h5
echo kept >part.2.h5
run h5chunk split --shards 3 -o part long_c.h5
refused 1 'part.2.h5 exists; use -f' 'one shard is there already'
is "$(cat part.2.h5; ls part.*)" "kept
part.2.h5" '  and stays alone'
rm part.2.h5

for by in sequence chunk; do
    for file in long_c many_p; do
        does "$file: by $by" -- split -q --val-fraction 0.25 --seed 5 --by $by -o d1/ $file.h5
        if [ $by = sequence ]; then
            ok '  all rows once, sequences whole' ask halves $file.h5 d1 sequences
        else
            ok '  all rows once, pairs whole' ask halves $file.h5 d1
        fi
        same '  values for training' $file.h5 d1/train/$file.h5 train.rows
        same '  values for validation' $file.h5 d1/val/$file.h5 val.rows
        does '  again' -- split -q --val-fraction 0.25 --seed 5 --by $by -o d2/ $file.h5
        same '  gives the same' d1/val/$file.h5 d2/val/$file.h5
        does '  another seed' -- split -q -f --val-fraction 0.25 --seed 6 --by $by -o d2/ $file.h5
        # Of few sequences the same ones may be drawn twice.
        if [ $file = many_p ] && ask d1/val/$file.h5 d2/val/$file.h5 2>/dev/null; then
            fail '  gives another'
        else
            pass '  gives another'
        fi
        rm -r d1 d2
    done
done
echo long3 >names
does 'by names' -- split -q --val-names names -o d1/ long_c.h5
ask rows long_c.h5 's == "long3"' rows || fail '  which rows'
same '  these are for validation' long_c.h5 d1/val/long_c.h5 rows
rm -r d1
seq -f long%g 4 >all
refuses 1 'no chunk is left for training' 'all for validation' -- split --val-names all -o out/ long_c.h5
refuses 1 'no chunk is left for validation' 'none for validation' -- split --val-names rows -o out/ long_c.h5

# ---------------------------------------------------------------- cat, save

for file in long_c long_p many_c many_p; do
    h5chunk cat $file.h5 >stream
    does "$file, streamed" -- save -f -o a.h5 - <stream
    same '  is the same' $file.h5 a.h5
    does '  with other storage' -- save -f --compression lzf --dtype int32 -o b.h5 - <stream
    same '  too' --dtype int32 $file.h5 b.h5
    does '  to a file' -- cat -f -o stream.bgz $file.h5
    does '  and from one' -- save -f -o a.h5 stream.bgz
    same '  is the same' $file.h5 a.h5
done
h5chunk cat long_c.h5 >stream
does 'a stream saved packed' -- save -f --layout packed -o a.h5 - <stream
same '  is the same' long_c.h5 a.h5
does 'a part' -- subset -f -o a.h5 -r long2:1-10,long4:7000-8000 long_c.h5
h5chunk cat a.h5 >stream.part
does '  streamed' -- save -f -o b.h5 - <stream.part
same '  is the same' a.h5 b.h5
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
does 'rows in no order, streamed' -- save -f -o a.h5 - <stream.mixed
ok '  are in order' "$PYTHON" -c 'import h5py
a, b = h5py.File("a.h5", "r"), h5py.File("long_c.h5", "r")
key = lambda f: sorted(zip(f["data/seqids"][:].tolist(), map(tuple, f["data/start_ends"][:].tolist())))
assert key(a) == key(b)'
does '  and merged' -- merge -f -o a.h5 mixed.h5
h5chunk cat a.h5 >stream.merged
does '  the same' -- save -f -o b.h5 - <stream.merged
same '  and the same' a.h5 b.h5

n=$(wc -c <stream)
for cut in 0 1 20 100 1000 $((n / 2)) $((n - 29)) $((n - 28)) $((n - 1)); do
    head -c "$cut" stream >stream.cut
    refuses 1 'standard input' "a stream cut at $cut of $n" -- save -o out.h5 - <stream.cut
done
h5chunk cat long.h5 >stream.bare
refuses 2 'has neither' 'a type for a stream of bases' -- save --dtype int32 -o out.h5 stream.bare
refuses 1 'standard input: long4:1-1000, - strand: evaluation/.*40000 does not fit int16' \
    'a value of a stream that does not fit' -- save --dtype int16 -o out.h5 - <stream
refuses 1 'long_c.h5' 'a file where a stream is wanted' -- save -o out.h5 long_c.h5
refuses 1 'stream' 'a stream where a file is wanted' -- repack -o out.h5 stream
refuses 2 'standard output' 'statistics in the stream' -- cat --stats - long.h5
h5chunk cat long_c.h5 | head -c 10 >/dev/null
run sh -c 'h5chunk cat many_c.h5 >/dev/full'
refused 1 'No space left' 'a stream to a full device'

# ---------------------------------------------------------------- damaged input

damage() { # BYTES: keeps so many of long_c.h5
    head -c "$1" long_c.h5 >cut.h5
}
n=$(wc -c <long_c.h5)
for cut in 0 100 3000 $((n / 2)) $((n - 1)); do
    damage "$cut"
    refuses 1 'cut.h5' "cut at $cut" -- repack -o out.h5 cut.h5
done
for how in 'subset -r long1 -o out.h5' 'split --shards 2 -o out' 'merge -o out.h5' \
    'split --val-fraction 0.3 --seed 1 -o out/' 'cat -o out'; do
    # shellcheck disable=SC2086 # a list of words
    refuses 1 'cut.h5' "cut: $how" -- $how cut.h5
done
"$PYTHON" - <<'END'
import h5py
with h5py.File("long_c.h5", "r") as f:
    places = [f[name].id.get_chunk_info(60) for name in ("data/X", "evaluation/h3k4me3_coverage")]
bytes_ = open("long_c.h5", "rb").read()
for k, place in enumerate(places):
    b = bytearray(bytes_)
    for i in range(place.size // 3, place.size // 3 + 40):
        b[place.byte_offset + i] ^= 0x55
    open(f"flip{k}.h5", "wb").write(b)
END
for k in 0 1; do
    for how in 'repack -o out.h5' 'split --shards 2 -o out' 'merge -o out.h5' 'cat -o out'; do
        # shellcheck disable=SC2086 # a list of words
        refuses 1 "flip$k.h5: .*row " "a damaged chunk ($k): $how" -- $how flip$k.h5
    done
done
refuses 1 'flip0.h5: data/X: row 60' 'a damaged chunk: looking for N' -- subset --drop-n -o out.h5 flip0.h5
does 'what is not damaged can be taken' -- subset -r long1 -f -o a.h5 flip0.h5
done_testing
