#!/bin/sh
# shellcheck disable=SC2086 # lists of words
# covtrain --target-scale: files of different depths train as if they had one depth.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
need_python h5py numpy

# make_data DIRECTORY A B C VAL: three files to train on and one to validate with. Coverage is a multiple of 0, 2 and 6, the
# median of its values above 0 that multiple of 2. Powers of 2 make scaled targets exact.
cat >multiply.py <<'EOF'
import sys
import h5py
import numpy as np
with h5py.File(sys.argv[1], "r+") as f:
    for name in "atacseq", "h3k4me3":
        values = f["evaluation/" + name + "_coverage"]
        old = values[:]
        mean = old.mean(axis=2, keepdims=True)
        new = np.where(mean > 0, np.where(mean > np.median(mean[mean > 0]), 6, 2), 0) * int(sys.argv[2])
        values[:] = np.where(old < 0, -1, new)
EOF
make_data() {
    mkdir -p $1/train $1/val
    for pair in train/a:$2 train/b:$3 train/c:$4 val/v:$5; do
        file=${pair%:*}
        "$PYTHON" "$SRC/tests/oracle/training_data.py" $1/$file.h5 "$(printf '%d' "'${file#*/}")" &&
            "$PYTHON" multiply.py $1/$file.h5 ${pair#*:} || exit 99
    done
}
make_data d 2 4 8 16
make_data same 4 4 4 4
net='--filter-size 8 --hidden-size 8 --learning-rate 0.01 -b 8 --seed 1'
same_weights() { # NAME CKPT1 CKPT2
    dump_ckpt "$2" | grep ^tensor >one.txt
    dump_ckpt "$3" | grep ^tensor >two.txt
    ok "$1" cmp one.txt two.txt
}

run covtrain -q -i same $net -o wanted -e 2
run covtrain -v -i d $net -o scaled -e 2 --target-scale median
status_is 0 'three files of depths 2 : 4 : 8'
stderr_like 'd/train/a\.h5: atacseq: depth 4, times 2$' '  -v: the smallest depth'
stderr_like 'd/train/b\.h5: h3k4me3: depth 8, times 1$' '  the middle one'
stderr_like 'd/val/v\.h5: h3k4me3: depth 32, times 0\.25$' '  validation data, too'
same_weights '  train as if all had the one in the middle' scaled/last.ckpt wanted/last.ckpt
ok '  with the same metrics' cmp scaled/metrics.jsonl wanted/metrics.jsonl
run covtrain -q -i d $net -o raw -e 2
is "$(cmp -s raw/metrics.jsonl wanted/metrics.jsonl; echo $?)" 1 '  unlike without the option'
for how in '-@ 1' '--loading ram' '--loading ram-packed'; do
    run covtrain -q -i d $net -o x -f -e 2 --target-scale median $how
    ok "  the same bytes with $how" cmp x/last.ckpt scaled/last.ckpt
done
run h5chunk info scaled/last.ckpt
stdout_like 'target_scale: median$' '  the checkpoint says how it is scaled'
stdout_like 'target_depths: 8, 8$' '  to which depths'
stdout_like 'command: covtrain .*--target-scale median' '  and its command'
run covpredict -m scaled/last.ckpt --evaluate same/val/v.h5
ok '  which its predictions have' "$PYTHON" - "$stdout" wanted/metrics.log <<'EOF'
import sys
row = open(sys.argv[1]).read().splitlines()[3].split("\t")
last = open(sys.argv[2]).read().splitlines()[-1].split()
assert row[1] == "total" and abs(float(row[2]) - float(last[1])) < 1e-6
EOF

printf 's0\t100\t300\n' >regions.bed
run covtrain -q -i same $net -o wanted.masked -e 1 --blacklist-file regions.bed
run covtrain -q -i d $net -o masked -e 1 --blacklist-file regions.bed --target-scale median
same_weights 'masked positions stay masked' masked/last.ckpt wanted.masked/last.ckpt
run covtrain -q -i same $net -o wanted.offset -e 1 --random-offset
run covtrain -q -i d $net -o offset -e 1 --random-offset --target-scale median
same_weights 'chunks at other offsets are scaled, too' offset/last.ckpt wanted.offset/last.ckpt

# ---------------------------------------------------------------- resuming

run covtrain -q -i d $net -o part -e 2 --target-scale median --max-hours 1e-6
run covtrain -q -i d -b 8 -o part -e 2 --resume-training part/last.ckpt
ok 'resumed within an epoch: the same bytes' cmp part/last.ckpt scaled/last.ckpt
mkdir -p other/train && cp d/train/a.h5 other/train && ln -s ../d/val other/val
run covtrain -q -i other -b 8 -o more -f -e 3 --resume-training scaled/last.ckpt --target-scale median
status_is 0 'resumed with other data'
run h5chunk info more/last.ckpt
stdout_like 'target_depths: 8, 8$' '  keeps the depths'
run covtrain -i d -b 8 -o bad -e 3 --resume-training scaled/last.ckpt --target-scale none
refused 1 '--target-scale none contradicts scaled/last\.ckpt, where it is median; use --init-from to change it' \
    'resumed without the scale'
run covtrain -i d -b 8 -o bad -e 3 --resume-training raw/last.ckpt --target-scale median
refused 1 '--target-scale median contradicts raw/last\.ckpt, where it is none' '  and with one'
run covtrain -q -i other -b 8 -o tuned -e 1 --seed 3 --init-from scaled/last.ckpt
run h5chunk info tuned/last.ckpt
unlike "$(cat "$stdout")" 'target_' '--init-from starts without a scale'
run covtrain -q -i other -b 8 -o tuned -f -e 1 --seed 3 --init-from scaled/last.ckpt --target-scale median
run h5chunk info tuned/last.ckpt
stdout_like 'target_depths: 4, 4$' '  or with the depths of its own data'

"$PYTHON" -c 'import h5py
with h5py.File("d/train/b.h5", "r+") as f:
    values = f["evaluation/atacseq_coverage"]
    values[:] = values[:].clip(max=0)'
run covtrain -v -i d $net -o zero -e 1 --target-scale median
status_is 0 'a file without coverage'
unlike "$(cat "$stderr")" 'b\.h5: atacseq' '  is not scaled'
stderr_like 'd/train/a\.h5: atacseq: depth 4, times 2\.5$' '  and does not count: the others have depths 4 and 16'

# ---------------------------------------------------------------- by reads

run covtrain -q -i d $net -o cpm -e 1 --target-scale cpm
refused 1 'd/train/a\.h5: atacseq: its number of reads is unknown; add its BAM files again with .*bam2h5, or use --target-scale median' \
    'reads that are not noted'
"$PYTHON" - <<'EOF'
import h5py
# h3k4me3 has two columns, whose mean counts.
for path, reads in ("train/a", 1), ("train/b", 2), ("train/c", 4), ("val/v", 8):
    with h5py.File("d/" + path + ".h5", "r+") as f:
        f["evaluation/atacseq_coverage"].attrs["counted_reads"] = "%d" % (reads * 1000000)
        f["evaluation/h3k4me3_coverage"].attrs["counted_reads"] = "%d\n%d" % (reads * 500000, reads * 1500000)
EOF
run covtrain -v -i d $net -o cpm -e 1 --target-scale cpm
status_is 0 'noted reads'
stderr_like 'd/train/a\.h5: atacseq: depth 1, times 2$' '  of one column'
stderr_like 'd/val/v\.h5: h3k4me3: depth 8, times 0\.25$' '  and of two'
run h5chunk info cpm/last.ckpt
stdout_like 'target_depths: 2, 2$' '  the depths are millions of reads'
"$PYTHON" -c 'import h5py
h5py.File("d/train/b.h5", "r+")["evaluation/h3k4me3_coverage"].attrs["counted_reads"] = "7\n0"'
run covtrain -q -i d $net -o bad -e 1 --target-scale cpm
refused 1 'd/train/b\.h5: h3k4me3: its number of reads is unknown' 'one of two columns is a track'

printf '>c\nACGTACGTACGTACGTACGTACGTACGTACGTACGTACGT\n' >g.fa
{
    printf '@SQ\tSN:c\tLN:40\n'
    for at in 1 5 9; do
        printf 'r%d\t0\tc\t%d\t60\t8M\t*\t0\t0\tACGTACGT\t*\n' $at $at
    done
    printf 'u\t4\t*\t0\t0\t*\t*\t0\t0\tACGT\t*\n'
} >r.sam
head -n 3 r.sam | sed 's/c\t\([15]\)\t/c\t1\1\t/' >s.sam # reads of other places
printf 'c\t0\t10\t3\n' >t.bg
run fasta2h5 -q --subsequence-length 40 -o g.h5 g.fa
run bam2h5 -q -p x g.h5 r.sam
run bam2h5 -q -p x --append g.h5 s.sam t.bg
is "$("$PYTHON" -c 'import h5py
print(h5py.File("g.h5")["evaluation/x_coverage"].attrs["counted_reads"].split())')" "['3', '2', '0']" \
    'bam2h5 notes the reads of each column, also when others are added'
done_testing
