#!/bin/sh
# covpredict --evaluate: the table and its JSON, gaps, the blacklist, several columns, invalid input.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
. "$SRC/tests/lib/covpredict.sh"
need_python h5py numpy
start_python "$SRC/tests/oracle/evaluate_check.py"

{ odd_lengths 3; printf '>gap\n%3000s\n' '' | sed 's/ /N/g'; } >g.fa
fasta2h5 -q --subsequence-length 1008 -o g.h5 g.fa || exit 99
make_ckpt bi-hybrid m.ckpt && make_ckpt cnn cnn.ckpt || exit 99
# all.h5: both datasets, with one column and three, and a blacklist. one.h5 lacks h3k4me3. other.h5 has neither.
"$PYTHON" - <<'EOF' || exit 99
import shutil
import h5py
import numpy as np
rng = np.random.default_rng(1)
for name in "all", "one", "other", "bad":
    shutil.copy("g.h5", name + ".h5")
    with h5py.File(name + ".h5", "r+") as f:
        pad = f["data/X"][:].astype("f4").sum(axis=2) == 0
        n, l = pad.shape
        for key, columns, dtype in {"all": [("atacseq", 1, "i8"), ("h3k4me3", 3, "i2")], "one": [("atacseq", 8, "i4")],
                                    "other": [("moaseq", 1, "i4")], "bad": [("atacseq", 2, "i4")]}[name]:
            y = rng.poisson(3, (n, l, columns)).astype(dtype)
            y[pad] = -1
            if name == "bad":
                y[1, 5] = -7
            f.create_dataset(f"evaluation/{key}_coverage", data=y, chunks=(1, l, 1), compression="gzip")
            f[f"evaluation/{key}_spliced_coverage"] = y * 0
        if name == "all":
            f["data/blacklist"] = np.arange(n, dtype="i4") % 3 % 2
EOF
covpredict -q -m m.ckpt --float -o floats.h5 g.h5 || exit 99

run_ok 'two files' covpredict -m m.ckpt --evaluate --stats stats.json -o two.tsv all.h5 one.h5
ok '  correct table of the first file' ask table two.tsv floats.h5 all.h5
ok '  and of the second, which lacks a dataset' ask table two.tsv floats.h5 one.h5
is "$(grep -c 'one.h5	h3k4me3	NA	NA	NA	0' two.tsv)" 1 '  NA for a missing dataset'
ok '  --stats has the same' ask json two.tsv stats.json
make_ckpt bi-hybrid second.ckpt 2 && covpredict -q -m m.ckpt,second.ckpt --float -o means.h5 g.h5 || exit 99
run covpredict -m m.ckpt,second.ckpt --evaluate -o ensemble.tsv all.h5
ok 'correct table of an ensemble' ask table ensemble.tsv means.h5 all.h5
for how in '-@ 1 --batch-size 1' '-@ 3 --batch-size 7'; do
    # shellcheck disable=SC2086 # a list of words
    run covpredict -q -m m.ckpt --evaluate $how all.h5 one.h5
    ok "  the same bytes on standard output, with $how" cmp two.tsv "$stdout"
done
run_refused 1 'two\.tsv: already exists' 'an existing output' covpredict -m m.ckpt --evaluate -o two.tsv all.h5
run_ok '--blacklist' covpredict -m m.ckpt --evaluate --blacklist -o black.tsv all.h5
ok '  omits chunks' ask table black.tsv floats.h5 all.h5 blacklist
unlike "$(cat "$stderr")" 'data/blacklist' '  without a message'
run covpredict -q -m m.ckpt --evaluate --blacklist all.h5 one.h5
is "$(cat "$stderr")" 'covpredict: warning: one.h5: no data/blacklist; --blacklist has no effect (h5chunk blacklist adds one)' \
    'one warning for a file without a blacklist'
# Regions that begin and end within chunks, and one that covers a whole chunk.
names=$(grep '^>' g.fa | tr -d '>' | cut -d ' ' -f 1)
long=$(echo "$names" | head -n 1)
printf '%s\t%d\t%d\n' "$long" 100 300 "$long" 900 2100 "$(echo "$names" | sed -n 2p)" 0 50 absent 1 2 >mask.bed
run_ok '--blacklist-file with regions' covpredict -m m.ckpt --evaluate --blacklist-file mask.bed --stats bed.json -o bed.tsv all.h5
ok '  leaves them out' ask table bed.tsv floats.h5 all.h5 mask.bed
is "$(cmp -s bed.tsv two.tsv; echo $?)" 1 '  which changes something'
stderr_like 'warning: mask\.bed: 1 of 3 names are not in all\.h5; the first is absent$' '  names that are not in the file are reported'
like "$(cat bed.json)" 'mask\.bed' '  the file is in --stats'
run covpredict -q -m m.ckpt --evaluate --blacklist-file mask.bed --blacklist -o both.tsv all.h5 one.h5
ok '  and goes with --blacklist' ask table both.tsv floats.h5 all.h5 mask.bed blacklist
stderr_like 'not in any file; the first is absent$' '  one warning for several files'
echo "$long" >ids
run covpredict -q -m m.ckpt --evaluate --blacklist-file ids -o ids.tsv all.h5
ok '  or names' ask table ids.tsv floats.h5 all.h5 ids
echo "$names" >ids
run covpredict -m m.ckpt --evaluate --blacklist-file ids all.h5
stderr_like 'all\.h5: nothing to evaluate: all chunks are gaps or on the blacklist$' '  of all sequences: a warning'
printf 'a\t5\n' >bad.bed
run covpredict -m m.ckpt --evaluate --blacklist-file bad.bed all.h5
refused 1 'bad\.bed:1: expected an id alone, or contig, start and end$' 'a malformed list'
run covpredict -m m.ckpt --blacklist-file ids -o y.h5 all.h5
refused 2 '[-]-blacklist-file goes with --evaluate' '--blacklist-file alone'

run covpredict -m cnn.ckpt --evaluate all.h5
is "$(cut -f 2 "$stdout" | paste -sd ' ')" 'dataset atacseq' 'no total for a model of one dataset'
run_ok 'a file with other datasets' covpredict -m m.ckpt --evaluate other.h5
stderr_like "other\.h5: none of the model's datasets is in the file: [a-z0-9, ]+; bam2h5 -p adds them, h5chunk rename renames others\$" '  is reported'
is "$(grep -c '	NA	NA	NA	0$' "$stdout")" 3 '  is all NA'

run_refused 1 'g\.h5: no measured coverage' 'a file without coverage' covpredict -m m.ckpt --evaluate g.h5
run covpredict -m m.ckpt --evaluate bad.h5
refused 1 'bad\.h5: evaluation/atacseq_coverage: row 1, index 5: -7 is not a valid coverage' 'a negative value'
run_refused 2 '--evaluate: needs a genome file with measured coverage' 'standard input' covpredict -m m.ckpt --evaluate -
run covpredict -m m.ckpt --evaluate --shard 1/2 all.h5
refused 2 '[-]-shard cannot be used with --evaluate' 'an option for predictions'
run_refused 2 '[-]-blacklist goes with --evaluate' '--blacklist alone' covpredict -m m.ckpt --blacklist -o y.h5 all.h5
run_refused 2 'unexpected argument .one\.h5.' 'predictions of two inputs' covpredict -m m.ckpt -o y.h5 all.h5 one.h5
if [ -e /dev/full ]; then
    # shellcheck disable=SC2016 # for the inner shell
    run sh -c 'exec "$@" >/dev/full' sh covpredict -q -m m.ckpt --evaluate all.h5
    status_is 1 'a full disk'
fi
# Files with different chunk lengths in any order give the same rows as each file alone.
fasta2h5 -q --subsequence-length 1200 -o long.h5 g.fa || exit 99
"$PYTHON" - <<'EOF' || exit 99
import h5py
import numpy as np
with h5py.File("long.h5", "r+") as f:
    pad = f["data/X"][:].astype("f4").sum(axis=2) == 0
    y = np.random.default_rng(4).poisson(3, (*pad.shape, 1)).astype("i4")
    y[pad] = -1
    f.create_dataset("evaluation/atacseq_coverage", data=y)
EOF
covpredict -q -m m.ckpt --float -o long_floats.h5 long.h5 || exit 99
for files in 'one.h5 long.h5 all.h5' 'long.h5 one.h5 long.h5'; do
    # shellcheck disable=SC2086 # names
    run_ok "chunks of different lengths: $files" covpredict -q -f -m m.ckpt --evaluate -o lengths.tsv $files
    ok '  correct table for the longer ones' ask table lengths.tsv long_floats.h5 long.h5
    grep '^long\.h5' lengths.tsv >of_long
    grep '^one\.h5' lengths.tsv >of_one
    run covpredict -q -m m.ckpt --evaluate long.h5
    is "$(sed 1d "$stdout")" "$(sort -u of_long | sort -t'	' -k2,2)" '  the same as for that file alone'
    run covpredict -q -m m.ckpt --evaluate one.h5
    is "$(sed 1d "$stdout")" "$(cat of_one)" '  also for the other file'
done

# One chunk of extreme coverage, where all others equal the prediction.
awk "$random"'BEGIN { seed(3); print ">c1"; letters(60000, "ACGT"); print "" }' >deep.fa
fasta2h5 -q --subsequence-length 1200 -o deep.h5 deep.fa || exit 99
covpredict -q -m m.ckpt --float -o deep_floats.h5 deep.h5 || exit 99
"$PYTHON" - <<'EOF' || exit 99
import h5py
import numpy as np
with h5py.File("deep.h5", "r+") as f, h5py.File("deep_floats.h5") as p:
    d = [name.decode() for name in p["prediction/datasets"]].index("atacseq")
    pad = f["data/X"][:].astype("f4").sum(axis=2) == 0
    values = np.rint(p["prediction/predictions"][:, :, d]).astype("i4")[:, :, None]
    values[pad] = -1
    y = f.create_dataset("evaluation/atacseq_coverage", data=values)
    seq, at = f["data/seqids"][0], f["data/start_ends"][0]
    for i, (name, ends) in enumerate(zip(f["data/seqids"], f["data/start_ends"])):
        if name == seq and set(ends) == set(at):
            y[i] = np.where(pad[i][:, None], -1, 100000000 + np.arange(pad.shape[1])[:, None])
    open("deep.txt", "w").write("%s:%d-%d" % (seq.decode(), at[0] + 1, at[1]))
    open("deep.bed", "w").write("%s\t%d\t%d\n" % (seq.decode(), at[0], at[1]))
EOF
run covpredict -m m.ckpt --evaluate deep.h5
stderr_like "^covpredict: warning: deep\.h5: atacseq: extreme coverage decides Pearson's r: -?0\.[0-9]{3} per base, but 1\.000 without $(cat deep.txt); --blacklist-file omits such regions$" \
    'extreme coverage'
run covpredict -m m.ckpt --evaluate --blacklist-file deep.bed deep.h5
unlike "$(cat "$stderr")" 'extreme coverage' '  is not reported without it'
is "$(awk -F'\t' '$2 == "atacseq" { printf "%.3f\n", $5 }' "$stdout")" 1.000 '  and r is that of the warning'

done_testing
