#!/bin/sh
# covpredict: every input and option, invalid genomes and checkpoints, outputs that cannot be written, signals.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
. "$SRC/tests/lib/covpredict.sh"
. "$SRC/tests/lib/signals.sh"
need_python h5py numpy
start_python "$SRC/tests/oracle/predict_check.py"

check() { # NAME ACTION ARG...
    name=$1
    shift
    ok "$name" ask "$@"
}
variant() { # KIND GENOME FILE
    ask variant "$@" || exit 99
}
kinds() { # sound|broken
    "$PYTHON" "$SRC/tests/oracle/predict_check.py" kinds "$1"
}
refuses() { tool_refuses covpredict "$@"; }

odd_lengths 5 >g.fa
gzip -k g.fa
fasta2h5 --subsequence-length 1008 -o g.h5 g.fa || exit 99
for kind in cnn hybrid bi-hybrid; do
    make_ckpt $kind $kind.ckpt || exit 99
done

# ---------------------------------------------------------------- output

for kind in cnn hybrid bi-hybrid; do
    run_ok "a genome file and a $kind model" covpredict -m $kind.ckpt -o $kind.h5 g.h5
    stderr_like "^covpredict: .*, [0-9]+ threads?; $kind\.ckpt: $kind, [23] convolutions,.* parameters: atacseq" \
        '  logs one line with device and model'
    is "$(grep -c '' "$stderr")" 1 '  and nothing else'
    stdout_is '' '  nothing on standard output'
    datasets=atacseq
    [ $kind = bi-hybrid ] && datasets='atacseq h3k4me3'
    # shellcheck disable=SC2086 # a list of words
    check '  the file has the layout of Predmoter' layout $kind.h5 g.h5 $kind.ckpt i4 $datasets
    run covpredict --subsequence-length 1008 -m $kind.ckpt -f -o x.h5 g.fa
    ok '  the same bytes from FASTA' cmp x.h5 $kind.h5
    for batch in 1 3 16 17; do
        for threads in 1 2; do
            run covpredict -@ $threads --batch-size $batch -m $kind.ckpt -f -o x.h5 g.h5
            ok "  the same bytes in batches of $batch on $threads threads" cmp x.h5 $kind.h5
        done
    done
    run covpredict -@ 1 --batch-size 2 --float -m $kind.ckpt -o f1.h5 g.h5
    run_ok '  --float' covpredict -@ 3 --float -m $kind.ckpt -o f3.h5 g.h5
    # shellcheck disable=SC2086
    check '    has the same layout' layout f1.h5 g.h5 $kind.ckpt f4 $datasets
    check '    rounds to the same values' rounded $kind.h5 f1.h5
    ok '    gives the same bytes on 1 and 3 threads' cmp f1.h5 f3.h5
    rm x.h5 f1.h5 f3.h5
done
for threads in 1 2; do
    run covpredict -@ $threads --subsequence-length 999 -m hybrid.ckpt -o x$threads.h5 g.fa
done
ok 'a different chunk length, 1 and 2 threads' cmp x1.h5 x2.h5
run covpredict --subsequence-length 1008 -m cnn.ckpt -f -o x1.h5 - <g.fa
check 'standard input' same x1.h5 cnn.h5
run covpredict --subsequence-length 1008 --species g -m cnn.ckpt -f -o x1.h5 - <g.fa.gz
ok 'gzip on standard input, with a species' cmp x1.h5 cnn.h5
run covpredict --subsequence-length=1008 --species other -m cnn.ckpt -f -o x1.h5 g.fa.gz
is "$("$PYTHON" -c 'import h5py; print({*h5py.File("x1.h5")["data/species"][:]})')" "{b'other'}" 'another species'
run covpredict --subsequence-length 1008 --min-length 1k --max-length 1008 -m cnn.ckpt -f -o x1.h5 g.fa
is "$("$PYTHON" -c 'import h5py; print(h5py.File("x1.h5")["data/seqids"][:].tolist())')" "[b'c4', b'c4']" \
    '--min-length and --max-length'
run covpredict -q -m cnn.ckpt -f -o x1.h5 g.h5
stderr_is '' 'quiet'
for dtype in int16 int32 int64; do
    run covpredict --dtype $dtype -m hybrid.ckpt -f -o x1.h5 g.h5
    check "$dtype" layout x1.h5 g.h5 hybrid.ckpt $dtype atacseq
    check '  has the values of int32' same x1.h5 hybrid.h5
done
rm x1.h5 x2.h5

for kind in $(kinds sound); do
    variant "$kind" g.h5 v.h5
    run covpredict -@ 2 -m hybrid.ckpt -f -o x.h5 v.h5
    ok "a genome file, $kind" cmp x.h5 hybrid.h5
done
fasta2h5 -o long.h5 g.fa
covpredict -q -m cnn.ckpt -o y.h5 long.h5
for kind in chunked lzf; do
    variant "$kind" long.h5 v.h5
    run covpredict -m cnn.ckpt -f -o x.h5 v.h5
    ok "  and with chunks of 3 x 5346 x 1, $kind" cmp x.h5 y.h5
done
rm v.h5 long.h5

# Values that just fit, and values that just do not.
for case in 20:int16:1 20:int32:0 25:int32:1 25:int64:0 50:int64:1 50:float:0 100:float:1; do
    power=${case%%:*} dtype=${case#*:}
    option=--dtype=${dtype%:*}
    [ "$option" = --dtype=float ] && option=--float
    make_ckpt "exp-$power" e.ckpt
    if [ "${case##*:}" -eq 0 ]; then
        run_ok "a coverage of exp($power) with $option" covpredict "$option" -m e.ckpt -f -o x.h5 g.h5
        check '  is correct' constant x.h5 "$("$PYTHON" -c "import math; print(math.exp($power))")"
    else
        rm -f x.h5
        refuses 1 "^covpredict: error: c1:1, \+ strand: the value .* does not fit the output type" \
            "a coverage of exp($power) with $option" "$option" -m e.ckpt -o x.h5 g.h5
    fi
done
rm -f x.h5 y.h5 e.ckpt

# ---------------------------------------------------------------- statistics

run covpredict -@ 2 --stats s.json -m cnn.ckpt -o x.h5 g.h5
ok '--stats' "$PYTHON" -c '
import json
s = json.load(open("s.json"))
wanted = set("""tool version command inputs device threads precision wall_seconds cpu_seconds peak_rss_bytes bases chunks
    positions_computed positions_at_rest chunks_repeated bases_per_second chunks_per_second stages""".split())
assert wanted <= set(s), wanted - set(s)
assert s["tool"] == "covpredict" and s["threads"] == 2 and s["inputs"] == ["g.h5", "cnn.ckpt"], s
assert s["command"] == "covpredict -@ 2 --stats s.json -m cnn.ckpt -o x.h5 g.h5", s
assert s["bases"] == 4000 + 1 + 999 + 1008 + 1009 + 2500 + 37 + 7777, s
assert s["chunks"] == 42 and s["precision"] in ("fp32", "bf16x3"), s
assert s["positions_computed"] + s["positions_at_rest"] + s["chunks_repeated"] * 1008 == 42 * 1008, s
assert {"fetch", "compute", "store"} <= set(s["stages"]) and s["device"] and s["peak_rss_bytes"] > 1e6, s
'
rm s.json x.h5

# ---------------------------------------------------------------- invalid usage

while IFS='|' read -r args regex; do
    # shellcheck disable=SC2086 # a list of words
    refuses 2 "^covpredict: error: $regex" "refused: $args" $args
done <<'END'
-o x.h5 g.h5|-m/--model is missing$
-m cnn.ckpt g.h5|-o/--output is missing$
-m cnn.ckpt -o x.h5|an input is missing
-m cnn.ckpt -o x.h5 g.h5 g.fa|unexpected argument 'g\.fa'
-m cnn.ckpt -o x.h5 --float --dtype int32 g.h5|--float and --dtype contradict each other$
-m cnn.ckpt -o x.h5 --dtype int8 g.h5|--dtype: 'int8' is not one of int16, int32, int64$
-m cnn.ckpt -o x.bedGraph.gz g.h5|x\.bedGraph\.gz: the output is an HDF5 file, but \.bedgraph is another kind; use \.h5$
-m cnn.ckpt -o x.h5 --shard 2 g.h5|--shard: '2' is not I/N$
-m cnn.ckpt -o x.h5 --shard /2 g.h5|--shard: 
-m cnn.ckpt -o x.h5 --shard 2/ g.h5|--shard: 
-m cnn.ckpt -o x.h5 --shard 0/2 g.h5|--shard: 0 is out of range
-m cnn.ckpt -o x.h5 --shard 1/2/3 g.h5|--shard: 
-m cnn.ckpt -o x.h5 --loading fast g.h5|--loading: 'fast' is not one of disk, ram, ram-packed$
-m cnn.ckpt -o x.h5 --batch-size 0 g.h5|--batch-size: 0 is out of range
-m cnn.ckpt -o x.h5 --batch-size 5000 g.h5|--batch-size: 5000 is out of range
-m cnn.ckpt -o x.h5 --subsequence-length 0 g.fa|--subsequence-length: 0 is out of range
-m cnn.ckpt -o x.h5 --precision half g.h5|--precision: 'half' is not one of exact, fp32, bf16x3, balanced, bf16, tf32$
-m cnn.ckpt -f -o g.h5 g.h5|g\.h5: is both an input and an output$
-m cnn.ckpt -f -o cnn.ckpt g.h5|cnn\.ckpt: is both an input and an output$
END
while IFS='|' read -r args regex; do
    # shellcheck disable=SC2086 # a list of words
    refuses 1 "^covpredict: error: $regex" "refused: $args" $args
done <<'END'
-m cnn.ckpt -o x.h5 --subsequence-length 1008 g.h5|--subsequence-length is for FASTA input, but g\.h5 is a genome file$
-m cnn.ckpt -o x.h5 --rename g.fa g.h5|--rename is for FASTA input
-m cnn.ckpt -o x.h5 --on-bad-base n g.h5|--on-bad-base is for FASTA input
END

# ---------------------------------------------------------------- invalid genomes

refuses 1 '^covpredict: error: absent\.h5: No such file or directory$' 'no such file' -m cnn.ckpt -o x.h5 absent.h5
refuses 1 '^covpredict: error: \.: is a directory, not a file$' 'a directory' -m cnn.ckpt -o x.h5 .
size=$(wc -c <g.h5)
for part in 1 40 80 $((size - 1)); do
    [ "$part" -lt 100 ] && part=$((size * part / 100))
    head -c "$part" g.h5 >cut.h5
    refuses 1 "^covpredict: error: cut\\.h5: truncated: $part of $size bytes\$" "a genome file cut to $part bytes" \
        -m cnn.ckpt -o x.h5 cut.h5
done
cp g.h5 rotten.h5 && "$PYTHON" "$SRC/tests/oracle/h5_flip.py" rotten.h5 data/X 5 || exit 99
refuses 1 '^covpredict: error: rotten\.h5: data/X: row 5 \(c1:2017-3024, - strand\): ' 'a damaged chunk' \
    -m cnn.ckpt -o x.h5 rotten.h5
while read -r kind regex; do
    variant "$kind" g.h5 bad.h5
    refuses 1 "^covpredict: error: bad\\.h5: $regex" "a genome file, $kind" -@ 2 -m cnn.ckpt -o x.h5 bad.h5
    echo "$kind" >>"$tap_dir/tried"
done <<'END'
no-X no dataset data/X$
no-data neither a genome file nor a predictions file, but another HDF5 file: no dataset data/X$
no-seqids no dataset data/seqids$
no-start_ends no dataset data/start_ends$
five-columns data/X: 5 columns instead of 4
three-columns data/X: 3 columns instead of 4
two-dimensions data/X: 2 dimensions instead of 3$
integers data/X: the elements are not floats$
fewer-rows data/seqids: 42 x 1 elements instead of 41 x 1$
no-rows no chunks$
nan data/X: row 2 \(c1:2017-3024, \+ strand\), index 5: the four values are not a base$
infinity data/X: row 2 \(c1:2017-3024, \+ strand\), index 5: the four values are not a base$
no-base data/X: row 2 \(c1:2017-3024, \+ strand\), index 5: the four values are not a base$
padding-inside data/X: row 2 .*, index 5: all values are 0 \(padding\), but data/start_ends has a base there$
base-past-end data/X: row 8 \(c2:1-1, \+ strand\), index 1007: a base past the end
group-as-X data/X: not a dataset
negative data: row 0: invalid interval: c1 from -5 to 1003$
huge-rows data/X: .* more than 1 GiB
not-stored data/X: row 0 .*, index 0: all values are 0 \(padding\)
END
is "$(sort "$tap_dir/tried" | tr '\n' ' ')" "$(kinds broken | tr ' ' '\n' | sort | tr '\n' ' ')" 'all kinds were tested'
printf '' >bad.fa
run covpredict -m cnn.ckpt -o x.h5 - </dev/null
refused 1 '^covpredict: error: standard input: empty file; did the program' 'an empty pipe'
: >none.ckpt
refuses 1 'none\.ckpt: the file is empty$' 'an empty checkpoint' -m none.ckpt -o x.h5 g.h5
rm none.ckpt
refuses 1 '^covpredict: error: bad\.fa: empty file$' 'an empty FASTA' -m cnn.ckpt -o x.h5 bad.fa
printf '>a\nACGT\nAC-T\n' >bad.fa
refuses 1 "^covpredict: error: bad\\.fa:3:3: invalid base '-'; --on-bad-base n reads it as N\$" 'an invalid letter' -m cnn.ckpt -o x.h5 bad.fa
head -c 3000 g.fa.gz >bad.fa
refuses 1 '^covpredict: error: bad\.fa: truncated' 'truncated gzip' -m cnn.ckpt -o x.h5 bad.fa
refuses 1 '^covpredict: error: g\.fa: no sequence has a length within the limits$' 'length limits that exclude every sequence' \
    --min-length 8k -m cnn.ckpt -o x.h5 g.fa
rm cut.h5 rotten.h5 bad.h5 bad.fa

# ---------------------------------------------------------------- invalid checkpoints and chunk lengths

while read -r kind regex; do
    make_ckpt "$kind" bad.ckpt || exit 99
    refuses 1 "^covpredict: error: bad\\.ckpt: $regex" "a checkpoint, $kind" -m bad.ckpt -o x.h5 g.h5
done <<'END'
wrong-shape tensor out\.weight is 1 x 5, but the hyperparameters make it 1 x 4$
os-system pickle imports os\.system, which is not allowed; nothing was executed$
nan tensor out\.bias: element 0 is NaN or infinite$
END
is "$(find . -name executed)" '' 'nothing in a checkpoint was executed'
size=$(wc -c <cnn.ckpt)
for bytes in 0 1 100 $((size / 2)) $((size - 1)); do
    head -c "$bytes" cnn.ckpt >bad.ckpt
    refuses 1 '^covpredict: error: bad\.ckpt: ' "a checkpoint cut to $bytes bytes" -m bad.ckpt -o x.h5 g.h5
done
refuses 1 '^covpredict: error: .*absent\.ckpt: No such file or directory$' 'no such checkpoint' \
    -m absent.ckpt -o x.h5 g.h5
refuses 1 '^covpredict: error: \.: is a directory, not a file$' 'a directory as checkpoint' -m . -o x.h5 g.h5
mkdir trained && cp cnn.ckpt trained/best.ckpt
run fasta2h5 -o x.h5 trained/
refused 1 '^fasta2h5: error: trained/: is a directory, not a file$' '  which is no hint for sequences'
refuses 1 '^covpredict: error: trained/: is a directory, not a file; did you mean trained/best\.ckpt\?$' "  of covtrain" -m trained/ -o x.h5 g.h5
rm -r bad.ckpt trained
fasta2h5 --subsequence-length 1000 -o odd.h5 g.fa
nearest='subsequence length 1000 is not a multiple of 9 .*; the nearest that fits is 999 or 1008$'
refuses 1 "^covpredict: error: $nearest" 'a genome file with a chunk length that the model does not accept' -m hybrid.ckpt -o x.h5 odd.h5
refuses 1 "^covpredict: error: $nearest" '  and a FASTA' --subsequence-length 1k -m hybrid.ckpt -o x.h5 g.fa
mkfifo fifo
refuses 1 "^covpredict: error: $nearest" '  detected before it is read' --subsequence-length 1k -m hybrid.ckpt -o x.h5 fifo
rm odd.h5

# ---------------------------------------------------------------- outputs that cannot be written

echo precious >there.h5
refuses 1 '^covpredict: error: there\.h5: already exists; use -f to replace it$' 'an output that exists' -m cnn.ckpt -o there.h5 g.h5
is "$(cat there.h5)" precious '  is unchanged'
variant nan g.h5 bad.h5
refuses 1 'not a base$' 'with -f, but invalid input' -f -m cnn.ckpt -o there.h5 bad.h5
is "$(cat there.h5)" precious '  it still exists'
run covpredict -f -m cnn.ckpt -o there.h5 g.h5
ok '-f replaces it' cmp there.h5 cnn.h5
rm there.h5 bad.h5
refuses 1 '^covpredict: error: absent/x\.h5: directory absent does not exist$' 'a missing directory' \
    -m cnn.ckpt -o absent/x.h5 g.h5
refuses 1 '^covpredict: error: g\.fa/x\.h5: g\.fa is not a directory$' 'a file in place of the directory' -m cnn.ckpt -o g.fa/x.h5 g.h5
refuses 1 '^covpredict: error: ' 'a directory as output' -f -m cnn.ckpt -o . g.h5
refuses 1 '^covpredict: error: /dev/full: ' '/dev/full as output' -f -m cnn.ckpt -o /dev/full g.h5
ln -s /dev/full full.h5
refuses 1 '^covpredict: error: full\.h5: ' 'a link to it' -f -m cnn.ckpt -o full.h5 g.h5
rm full.h5
mkdir locked && chmod 555 locked
run_unprivileged covpredict -m cnn.ckpt -o locked/x.h5 g.h5
refused 1 '^covpredict: error: .*locked.*Permission denied$' 'a read-only directory'
is "$(ls -A locked)" '' '  and stays empty'
chmod 755 locked && rmdir locked
mkdir room
as_root() {
    [ "$(id -u)" -eq 0 ] && unshare -m mount -t tmpfs -o size=1m tmpfs room 2>/dev/null
}
if as_root; then
    # shellcheck disable=SC2016 # for the inner shell
    run unshare -m sh -c 'mount --bind room room && mount -o remount,bind,ro room && covpredict -m cnn.ckpt -o room/x.h5 g.h5'
    refused 1 '^covpredict: error: .*room.*Read-only file system$' 'a read-only disk'
fi

# A full disk: while writing the temporary file of bases, and the predictions.
awk "$random"'BEGIN { seed(1); print ">r"; for (i = 0; i < 20000; i++) { letters(70, "ACGT"); print "" } }' >r.fa
fasta2h5 --compression none --subsequence-length 10k -o r.h5 r.fa
if as_root; then
    # shellcheck disable=SC2016 # for the inner shell
    on_small_disk() { # SIZE ARG...
        run unshare -m sh -c 'mount -t tmpfs -o size=$1 tmpfs room && shift && covpredict "$@"; s=$?; ls -A room; exit $s' - "$@"
    }
    for i in 1 2 3; do
        sed "s/>r/>r$i/" r.fa
    done >large.fa
    on_small_disk 400k -m cnn.ckpt -o room/x.h5 large.fa
    refused 1 '^covpredict: error: temporary file in room: No space left on device$' 'a full disk while bases are stored'
    stdout_is '' '  and leaves no file there'
    rm large.fa
    for size in 4k 16k 400k; do
        on_small_disk $size --float -m cnn.ckpt -o room/x.h5 r.h5
        refused 1 '^covpredict: error: .*room.*No space left on device$' "a disk of $size, full while the output is written"
        stdout_is '' '  and leaves no file there'
    done
fi
for blocks in 1 10 400; do
    run sh -c "ulimit -f $blocks; exec covpredict --float -m cnn.ckpt -o room/x.h5 r.h5"
    refused 1 '^covpredict: error: .*room.*File too large$' "files of at most $blocks blocks"
    is "$(ls -A room)" '' '  and leaves no file there'
done
rmdir room
leaves g.fa g.fa.gz g.h5 r.fa r.h5 fifo cnn.ckpt hybrid.ckpt bi-hybrid.ckpt cnn.h5 hybrid.h5 bi-hybrid.h5 \
    'no other files are left'

# ---------------------------------------------------------------- signals

for signal in INT:130 TERM:143; do
    ends_while_reading $signal covpredict -q -m cnn.ckpt
    start covpredict -q -@ 2 --batch-size 1 --float -m bi-hybrid.ckpt -o late.h5 r.h5
    await found . -name '.*late*' -size +100k
    like "$(find . -name '.*late*')" late '  a temporary file exists while it predicts'
    ends_by "$signal" 'while predicting'
    stderr_is '' '  quietly'
    is "$(find . -name '*late*')" '' '  and leaves no file'
done
# Memory does not grow with the genome, except for a few tables. Both genomes are long enough to fill all buffers.
if [ -z "${SAN:-}" ]; then
    make_ckpt cnn few.ckpt || exit 99
    for n in 1500000 4000000; do
        awk -v n=$n "$random"'BEGIN { seed(7); print ">c"; letters(n, "ACGT"); print "" }' >many.fa
        fasta2h5 -q -f --subsequence-length 480 -o many.h5 many.fa
        run covpredict -q -f -@ 1 -m few.ckpt --stats $n.json -o many.out.h5 many.h5
    done
    ok '10,000 more chunks take less than 1 MB of memory' "$PYTHON" -c '
import json
few, many = (json.load(open(n + ".json")) for n in ("1500000", "4000000"))
assert (many["peak_rss_bytes"] - few["peak_rss_bytes"]) / (many["chunks"] - few["chunks"]) < 100, (few, many)'
    rm few.ckpt many.* 1500000.json 4000000.json
fi
done_testing
