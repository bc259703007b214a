#!/bin/sh
# cov2bigwig compared with the tracks that Predmoter made from its predictions and from measured coverage.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
need_python h5py numpy pyBigWig
start_python "$SRC/tests/oracle/track_check.py"

same() { # TRACK REFERENCE NAME
    ok "$3" ask same "$1" "$reference/$2"
    case $1 in
    *.bw)
        bw_dump "$1" >"$1.bg"
        ok '  and read by libBigWig' ask same "$1.bg" "$reference/$2"
        ;;
    esac
}

mkdir plant out
reference=$SRC/tests/data/tracks
for track in "$reference"/*; do
    name=${track##*/}
    strand=${name%_strand*}
    case $name in
    *.bw) format=bigwig ;;
    *) format=bedgraph.gz ;;
    esac
    case $name in
    smooth_*) smooth='--window-size 150' ;;
    *) smooth= ;;
    esac
    # shellcheck disable=SC2086 # no option, or one and its value
    run cov2bigwig -f --strand "${strand##*_}" --format $format $smooth --basename "${name%%_*}" -o plant/ \
        "$SRC/tests/data/plant_predictions.h5"
    status_is 0 "$name is made"
    same "plant/$name" "$name" "  equals Predmoter's"
done

rest_needs_shared reference/convert reference/predmoter_testdata
reference=$SHARED/reference/convert
predictions=$reference/pred_data_1_predictions.h5
genome=$SHARED/reference/predmoter_testdata/train_data_1.h5
for strand in avg + -; do
    for format in bigwig bedgraph bedgraph.gz; do
        run_ok "strand $strand as $format" cov2bigwig --strand $strand --format $format --basename ref -o out/ "$predictions"
    done
    for dataset in atacseq h3k4me3; do
        name=ref_${dataset}_${strand}_strand
        same "out/$name.bw" "$name.bg.gz" "  $name.bw is Predmoter's bedGraph"
        same "out/$name.bg" "$name.bw" "  $name.bg is Predmoter's bigWig"
        ok '  and so is the bgzipped file' sh -c "gzip -dc 'out/$name.bg.gz' | cmp - 'out/$name.bg'"
    done
done
for format in bigwig bedgraph.gz; do
    run_ok "smoothed, as $format" cov2bigwig --window-size 150 --basename ref --format $format -o out/ "$predictions"
done
for dataset in atacseq h3k4me3; do
    for suffix in bw bg.gz; do
        name=ref_${dataset}_avg_strand_ws=150
        same "out/$name.$suffix" "$name.bg.gz" "  $name.$suffix is Predmoter's"
    done
done
for format in bigwig bedgraph.gz; do
    run_ok "measured coverage as $format" cov2bigwig --experimental --basename exp --format $format -o out/ "$genome"
done
for dataset in atacseq h3k4me3; do
    for suffix in bw bg.gz; do
        name=exp_${dataset}_avg_strand
        same "out/$name.$suffix" "$name.bg.gz" "  $name.$suffix is Predmoter's"
    done
done
is "$(find out -name '.*' ! -name out)" '' 'no temporary file is left'

# The other genome files of Predmoter's tests, in all layouts and types.
for file in "$SHARED"/reference/predmoter_testdata/*.h5; do
    stem=$(basename "$file" .h5)
    run_ok "$stem" cov2bigwig --experimental --window-size 15 --basename "$stem" -o out/ "$file"
    for track in out/"${stem}"_*.bw; do
        dataset=${track#out/"${stem}"_}
        ok "  $track" ask input "$file" "$track" dataset="${dataset%_avg_strand_ws=15.bw}" \
            experimental=1 window=15
    done
done
done_testing
