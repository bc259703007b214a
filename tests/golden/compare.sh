#!/bin/sh
# compare.sh - do two builds write the same? Runs each command of tests/golden/commands with both, on inputs that the new
# build makes, and compares what it writes: files, standard output and error, and exit status.
#
#   tests/golden/compare.sh OLD_BIN NEW_BIN [PATTERN]
#
# PATTERN selects commands by name, as the shell matches names: 'covpredict-*'. Prints a line per command, `equal`,
# `DIFFERS: what` or `FAILS in both: message`, and at the end `golden: equal` (status 0) or how many differ or fail
# (status 1). compare.py says what may differ: versions and times. Uses from the environment: MAKE_PLANT (default: that of the new build), PYTHON (with
# h5py), KEEP=1 (keeps the directory of the outputs, and prints its name).
# SPDX-License-Identifier: MIT
set -eu
LC_ALL=C
export LC_ALL

if [ $# -lt 2 ] || [ $# -gt 3 ]; then
    echo 'usage: compare.sh OLD_BIN NEW_BIN [PATTERN]' >&2
    exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
for bin in "$1" "$2"; do
    [ -x "$bin/covpredict" ] || { echo "compare.sh: $bin: no covpredict there" >&2 && exit 2; }
done
old=$(cd "$1" && pwd) new=$(cd "$2" && pwd) pattern=${3:-*}
: "${PYTHON:=/usr/bin/python3}" "${MAKE_PLANT:=$new/../build/default/demo/make_plant}"
make_plant=$(cd "$(dirname "$MAKE_PLANT")" && pwd)/${MAKE_PLANT##*/}
work=$(mktemp -d)
path=$PATH
trap 'cd / && { [ -n "${KEEP-}" ] && echo "$work" || rm -rf "$work"; }' EXIT
trap 'exit 130' INT TERM HUP
mkdir "$work/in" "$work/old" "$work/new"

make_inputs() {
    "$make_plant" . 100000
    mv genome.fa weed.fa
    gzip -nk weed.fa
    awk -F '\t' -v OFS='\t' '$4 == "gene" { print $1, "made", "gene", $2 + 1, $3, ".", $6, ".", "ID=gene" ++n }' features.bed >genes.gff3
    awk -F '\t' -v OFS='\t' '$4 == "promoter" { print $1, $2, $3 }' features.bed | sort -k1,1 -k2,2n >measured.bed
    sed -n 's/^@SQ.*SN:\([^	]*\).*LN:\([0-9]*\).*/\1	\2/p' atacseq.sam >sizes.tsv
    printf 'chr1\tone\nchr2\ttwo\n' >rename.tsv
    awk -v OFS='\t' '!/^@/ { print $3, $4 - 1, $4 + 49 - NR % 30, "barcode", 1 }' atacseq.sam >fragments.tsv
    awk -v step=60 -f "$here/variants.awk" weed.fa >variants.vcf
    awk -v step=160 -f "$here/variants.awk" weed.fa | awk -F '\t' -v OFS='\t' '
        NR == 2 { print "##INFO=<ID=END,Number=1,Type=Integer,Description=\"\">\n##INFO=<ID=SEQ,Number=.,Type=String,Description=\"\">" }
        /^#/ { print; next }
        { n++; $4 = "N"; $5 = substr("<DEL><DUP><INV><INS>", 1 + 5 * (n % 4), 5); $8 = n % 4 < 3 ? "END=" ($2 + 7 * n) : "SEQ=GATTACA"; print }' >symbols.vcf
    awk -v step=160 -f "$here/variants.awk" weed.fa | tee phased.vcf | awk '!/^#/ && ++n > 8 { next } { print }' >few.vcf
    cp "$here/../../workflows/demo/plant.ckpt" .

    fasta2h5 --subsequence-length 4800 --layout packed -o bases.h5 weed.fa
    cp bases.h5 genome.h5
    bam2h5 -p atacseq --shift genome.h5 atacseq.sam
    bam2h5 -p h3k4me3 genome.h5 h3k4me3.sam
    cov2bigwig --experimental --datasets atacseq -o atacseq.bw genome.h5
    covpredict -m plant.ckpt -o predictions.h5 genome.h5
    covpeaks call -c 3 --datasets atacseq -o called.bed predictions.h5
    # Of fewer sequences, for training with every kind of kernel.
    fasta2h5 --subsequence-length 960 --min-length 12000 --max-length 16000 -o short.h5 weed.fa
    bam2h5 -p atacseq --shift short.h5 atacseq.sam
    bam2h5 -p h3k4me3 short.h5 h3k4me3.sam
    h5chunk split --val-fraction 0.3 --seed 2 -o data/ short.h5
    for type in cnn hybrid bi-hybrid; do
        covtrain --seed 1 -i data -o $type --datasets atacseq,h3k4me3 --model-type $type --cnn-layers 2 --filter-size 8 --hidden-size 8 \
            --batch-size 2 --max-steps 3
        mv $type/last.ckpt $type.ckpt
    done
    mv bi-hybrid.ckpt tiny.ckpt
    for i in 1 2; do
        covpredict -m tiny.ckpt --shard $i/2 --stats shard.$i.json -o shard.$i.h5 genome.h5
    done
    for name in base slower; do
        printf '{"machine": {}, "figures": [{"name": "stages/a", "unit": "s", "better": "lower", "values": [%s]}]}\n' \
            "$([ $name = base ] && echo '10, 10.1' || echo '12, 12.1')" >$name.json
    done
}

# ---- what commands may use

# shellcheck disable=SC2317 # called by commands
killed() { # FILE COMMAND...
    file=$1
    shift
    "$@" 2>/dev/null &
    until [ -s "$file" ] || ! kill -0 $! 2>/dev/null; do sleep 0.01; done
    kill -KILL $! 2>/dev/null || :
    wait $! 2>/dev/null || :
    rm -f .*.covtools-*
    "$@" 2>/dev/null
}
# shellcheck disable=SC2317
figures() { # COMMAND...: their values are times
    "$@" -o "$work/figures" >/dev/null 2>&1 || return
    sed -n 's/.*"name": *"\([a-z]*\/[^"]*\)".*/\1/p' "$work/figures/benchmark.json" | sort
    rm -r "$work/figures"
}

# ---- one command after the other

run() { # old|new BIN NAME COMMAND
    mkdir "$work/$1/$3"
    ln -s "$work/in" "$work/$1/$3/in"
    (
        cd "$work/$1/$3"
        set +e
        (PATH=$2:$path && eval "$4") >stdout 2>stderr </dev/null
        echo $? >status
        rm in
    )
}
run_both() { # NAME COMMAND: prints the name, for compare.py
    # shellcheck disable=SC2254 # a pattern
    case $1 in $pattern) ;; *) return 0 ;; esac
    run old "$old" "$1" "$2"
    run new "$new" "$1" "$2"
    echo "$1"
}
# Puts each value for a word into name and command.
expand() { # WORD VALUES NAME COMMAND
    for value in $2; do
        run_both "$(echo "$3" | sed "s/$1/$value/")" "$(echo "$4" | sed "s/$1/$value/g")"
    done
}

levels=$("$new/covpredict" --version | sed -n 's/^--cpu: //p')
(cd "$work/in" && PATH=$new:$path && make_inputs) >"$work/log" 2>&1 || { cat "$work/log" >&2 && exit 1; }
{
    while read -r name command; do
        case $name in
        '' | \#*) ;;
        covtrain-*@LEVEL@*) expand @LEVEL@ "$(echo "$levels" | sed 's/scalar *//')" "$name" "$command" ;;
        *@LEVEL@*) expand @LEVEL@ "$levels" "$name" "$command" ;;
        *@THREADS@*) expand @THREADS@ '1 3' "$name" "$command" ;;
        *) run_both "$name" "$command" ;;
        esac
    done <"$here/commands"
    echo end
} | "$PYTHON" "$here/compare.py" "$work/old" "$work/new" \
    "$("$old/covpredict" --version)" "$("$new/covpredict" --version)"
