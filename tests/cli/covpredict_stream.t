#!/bin/sh
# covpredict in a pipe: chunk streams as input and output, truncated streams, readers that exit.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
. "$SRC/tests/lib/covpredict.sh"
need_python h5py numpy
start_python "$SRC/tests/oracle/h5_equal.py"

odd_lengths 9 >g.fa
fasta2h5 --subsequence-length 1008 -o g.h5 g.fa || exit 99
fasta2h5 --subsequence-length 1008 -o - g.fa >g.stream || exit 99
make_ckpt bi-hybrid m.ckpt || exit 99
make_ckpt hybrid hybrid.ckpt || exit 99
covpredict -q -m m.ckpt -o whole.h5 g.h5 || exit 99
covpredict -q --float -m m.ckpt -o float.h5 g.h5 || exit 99

# ---------------------------------------------------------------- in and out

run_ok 'a stream on standard input' covpredict -m m.ckpt -o x.h5 - <g.stream
stdout_is '' '  nothing on standard output'
is "$(grep -c '' "$stderr")" 1 '  one line on standard error'
same '  gives the predictions of the file' whole.h5 x.h5
run covpredict -q -m m.ckpt -o y.h5 g.stream
ok 'a stream in a file' cmp x.h5 y.h5
rm y.h5
for batch in 1 3 16; do
    run covpredict -q -@ 3 --batch-size $batch -m m.ckpt -o y.h5 g.stream
    ok "  in batches of $batch on 3 threads" cmp x.h5 y.h5
    rm y.h5
done
for input in g.h5 g.fa g.stream -; do
    set --
    [ $input = g.fa ] && set -- --subsequence-length 1008
    run_ok "$input to a stream" covpredict -q "$@" -m m.ckpt -o - $input <g.stream
    mv "$stdout" out.stream
    [ -e first.stream ] || cp out.stream first.stream
    ok '  always the same bytes' cmp out.stream first.stream
done
run h5chunk save -o y.h5 first.stream
ok '  saved, equals the file predicted from a stream' cmp x.h5 y.h5
rm y.h5
run covpredict -q --float -m m.ckpt -o - g.h5
mv "$stdout" out.stream
h5chunk save -o y.h5 out.stream || exit 99
same '--float' float.h5 y.h5
rm x.h5 y.h5 out.stream float.h5
covpredict -q --dtype int64 -m m.ckpt -o a.h5 g.h5
covpredict -q --dtype int64 -m m.ckpt -o - g.h5 | h5chunk save -o b.h5 -
same '--dtype int64' a.h5 b.h5
rm a.h5 b.h5
run covpredict -q --stats s.json -m m.ckpt -o x.h5 - <g.stream
ok '--stats' "$PYTHON" -c '
import json
s = json.load(open("s.json"))
assert s["chunks"] == 42 and s["positions_computed"] + s["positions_at_rest"] == 42 * 1008, s
assert s["bases"] == 4000 + 1 + 999 + 1008 + 1009 + 2500 + 37 + 7777 and {"fetch", "compute", "store"} <= set(s["stages"]), s
'
rm x.h5 s.json

# ---------------------------------------------------------------- parts

for i in 1 2 3; do
    covpredict -q --shard $i/3 -m m.ckpt -o part$i.h5 g.h5
    run_ok "shard $i of 3 to a stream" covpredict -q --shard $i/3 -m m.ckpt -o - g.h5
    h5chunk save -o x.h5 - <"$stdout"
    same '  equals that of a file' part$i.h5 x.h5
    rm part$i.h5 x.h5
done
for limits in '--min-length 1k' '--max-length 1008' '--min-length 37 --max-length 4000'; do
    # shellcheck disable=SC2086 # a list of words
    {
        run covpredict -q $limits -m m.ckpt -o a.h5 g.h5
        warned=$(sed 's/g\.h5/standard input/' "$stderr")
        run covpredict -q $limits -m m.ckpt -o b.h5 - <g.stream
    }
    status_is 0 "a stream with $limits"
    same '  equals a genome file with these limits' a.h5 b.h5
    is "$(cat "$stderr")" "$warned" '  with the same warning'
    rm a.h5 b.h5
done
run covpredict -q --min-length 8k -m m.ckpt -o x.h5 - <g.stream
refused 1 '^covpredict: error: standard input: no sequence has a length within the limits$' 'limits that exclude every sequence'

# ---------------------------------------------------------------- invalid input and options

while IFS='|' read -r args regex; do
    # shellcheck disable=SC2086 # a list of words
    run_refused 1 "^covpredict: error: $regex\$" "refused: $args" covpredict $args -m m.ckpt -o x.h5 - <g.stream
done <<'END'
--shard 1/2|standard input is a chunk stream, which cannot be cut into shards
--loading ram|standard input is a chunk stream, which cannot be loaded into memory
--loading ram-packed|standard input is a chunk stream, which cannot be loaded into memory
--species x|--species is for FASTA input, but standard input is a chunk stream
--subsequence-length 1008|--subsequence-length is for FASTA input, but standard input is a chunk stream
--on-bad-base n|--on-bad-base is for FASTA input, but standard input is a chunk stream
END
run covpredict -q -m m.ckpt -o x.h5 - <first.stream
refused 1 '^covpredict: error: standard input: .*bases' 'a stream of predictions'
awk "$random"'BEGIN { seed(2); print ">r"; letters(400000, "ACGT"); print "" }' >r.fa
fasta2h5 -q --subsequence-length 1000 -o - r.fa >odd.stream
run covpredict -q -m hybrid.ckpt -o x.h5 - <odd.stream
refused 1 'subsequence length 1000 is not a multiple of 9' 'a chunk length that the model does not accept'
# The head, in the first block, has the length; the rest may come late. (A second thread would read ahead
# and wait.)
mkfifo fifo
{
    head -c 70000 odd.stream
    exec sleep 600
} >fifo &
feeder=$!
run timeout 500 covpredict -q -@ 1 -m hybrid.ckpt -o x.h5 - <fifo
refused 1 'subsequence length 1000 is not a multiple of 9' '  detected in the head of a stream'
kill $feeder 2>/dev/null
rm odd.stream r.fa fifo
run "$PYTHON" -c '
import os, pty, subprocess, sys
parent, child = pty.openpty()
sys.exit(subprocess.run(sys.argv[1:], stdout=child).returncode)
' covpredict -q -m m.ckpt -o - g.h5
refused 2 '^covpredict: error: .*terminal' 'a stream is not written to a terminal'

size=$(wc -c <g.stream)
for part in 0 1 17 18 100 $((size / 3)) $((size / 2)) $((size - 60)) $((size - 28)) $((size - 1)); do
    head -c "$part" g.stream >cut.stream
    run covpredict -q -m m.ckpt -o x.h5 - <cut.stream
    refused 1 '^covpredict: error: standard input: ' "a stream cut to $part bytes"
    run_refused 1 '^covpredict: error: standard input: ' '  from stream to stream' covpredict -q -m m.ckpt -o - - <cut.stream
    run h5chunk save -o x.h5 - <"$stdout"
    [ "$status" -ne 0 ] || fail '  its output is accepted as complete'
done
rm cut.stream
"$PYTHON" -c '
data = bytearray(open("g.stream", "rb").read())
data[len(data) // 2] ^= 1
open("flipped.stream", "wb").write(data)'
run covpredict -q -m m.ckpt -o x.h5 - <flipped.stream
refused 1 '^covpredict: error: standard input: ' 'a stream with a flipped bit'
rm flipped.stream
run sh -c 'covpredict -q -m m.ckpt -o - g.h5 >/dev/full'
refused 1 '^covpredict: error: standard output: No space left on device$' '/dev/full as standard output'

# A reader that exits early.
{
    covpredict -q -m m.ckpt -o - g.h5 2>"$stderr"
    echo $? >ended
} | head -c 1000 >/dev/null
like "$(cat ended)" '^141$' 'without a reader it exits as if by SIGPIPE'
stderr_is '' '  quietly'
rm ended
leaves g.fa g.h5 g.stream first.stream whole.h5 m.ckpt hybrid.ckpt 'no other files are left'
done_testing
