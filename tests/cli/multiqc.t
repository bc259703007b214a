#!/bin/sh
# The --stats files of several tools and samples as a MultiQC report without configuration: general statistics with a row per
# sample, with its shards joined, and a graph of the correlations. The report itself is made if MultiQC is installed.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"

need_program "$PYTHON"
ok 'samples are made' "$SRC/workflows/demo/samples.sh" "$TESTLIB/../../demo/make_plant" . 60000
mkdir stats shards tracks
fasta2h5 -q -o weed.h5 --stats stats/weed.genome_mqc.json weed.fa
fasta2h5 -q -o moss.h5 --stats stats/moss.genome_mqc.json moss.fa.gz
covpredict -q -m plant.ckpt --stats stats/moss_mqc.json -o moss_predictions.h5 moss.h5
for i in 1 2 3; do
    covpredict -q -m plant.ckpt --shard $i/3 --stats shards/$i.json -o $i.h5 weed.h5
done
run h5chunk merge -q --shard-stats shards/1.json,shards/2.json,shards/3.json --stats stats/weed_mqc.json -o weed_predictions.h5 [123].h5
status_is 0 'the statistics of shards are added up'
for dataset in atacseq h3k4me3; do
    bam2h5 -q -p $dataset -o $dataset.h5 --stats stats/weed.$dataset.reads_mqc.json weed.h5 weed_$dataset.sam
    run cov2bigwig -q --datasets $dataset --measured $dataset.h5 --stats stats/weed.${dataset}_mqc.json -o $dataset.tsv weed_predictions.h5
    status_is 0 "the prediction is compared with $dataset"
done
cov2bigwig -q -o tracks/ --stats stats/weed.tracks_mqc.json weed_predictions.h5
covprofile genes -q --genes weed.gff3 --stats stats/weed.covprofile_mqc.json -o genes.tsv weed_predictions.h5 atacseq.h5
covprofile correlate -q --bin-size 1k --stats stats/weed.tracks.covprofile_mqc.json -o tracks.tsv weed_predictions.h5 atacseq.h5
covprofile table -q --genes weed.gff3 --stats stats/weed.table_mqc.json -o table.tsv weed_predictions.h5 atacseq.h5
covpeaks call -q -c 3 --datasets atacseq -o peaks.bed weed_predictions.h5
covpeaks stats -q --signal atacseq.h5 --stats stats/weed.peaks_mqc.json peaks.bed >frip.tsv
printf 'chr1\t%b\n' '10\t90' '30\t60' '70\t70' >fragments.bed
bam2h5 -q -p fragments -o fragments.h5 --stats stats/weed.fragments_mqc.json weed.h5 fragments.bed
h5chunk verify --stats stats/weed.verify_mqc.json weed_predictions.h5

cat >files.py <<'END'
import csv, glob, json

def load(name):
    return json.load(open(name))

def total(dataset):
    return list(csv.DictReader(open(dataset + ".tsv"), delimiter="\t"))[-1]

shards, whole = [load(f"shards/{i}.json") for i in (1, 2, 3)], load("stats/weed_mqc.json")
row = whole["data"]["weed"]
assert whole["plot_type"] == "generalstats" and whole["id"] == load("stats/moss_mqc.json")["id"], whole["id"]
assert whole["headers"] == load("stats/moss_mqc.json")["headers"]
assert list(whole["data"]) == ["weed"] and list(load("stats/moss_mqc.json")["data"]) == ["moss"]
for key in ("bases", "chunks", "wall_seconds", "cpu_seconds"):
    assert abs(row[key] - sum(s[key] for s in shards)) < 1e-6 * row[key], key
assert row["bases"] == load("stats/weed.genome_mqc.json")["bases"]
assert abs(row["bases_per_second"] - row["bases"] / row["wall_seconds"]) < 1e-6 * row["bases_per_second"]
assert abs(row["peak_rss_mb"] - max(s["peak_rss_bytes"] for s in shards) / 1e6) < 1e-6, row
assert whole["shards"]["n"] == 3 and whole["tool"] == "h5chunk" and whole["wall_seconds"] != row["wall_seconds"], whole["shards"]
assert all(h["title"] != key and h["description"] for key, h in whole["headers"].items())

for dataset in ("atacseq", "h3k4me3"):
    general, plot = load(f"stats/weed.{dataset}_mqc.json"), load(f"stats/weed.{dataset}.correlation_mqc.json")
    assert general["plot_type"] == "generalstats" and list(general["data"]) == ["weed"], general["data"]
    assert abs(general["data"]["weed"][dataset + "_pearson_1"] - float(total(dataset)["pearson_1"])) < 1e-6
    header = general["headers"][dataset + "_pearson_1"]
    assert (header["title"], header["hidden"], header["min"], header["max"]) == (dataset + ": r, 1 bp", False, 0, 1), header
    assert header["description"] == "Pearson's r of prediction and measurement in bins of 1 bp", header
    assert general["headers"][dataset + "_spearman_1000"]["hidden"], general["headers"]
    assert plot["plot_type"] == "bargraph" and list(plot["data"]) == ["weed." + dataset], plot
    bars = plot["data"]["weed." + dataset]
    assert list(bars)[::-1] == ["1 bp", "10 bp", "100 bp", "1000 bp", "1 bp, without outliers"], bars # MultiQC draws the last at the top
    outliers = general["comparison"]["tracks"][0]["outliers"]
    assert abs(bars["1 bp"] - outliers["pearson"]) < 1e-9 and bars["1 bp, without outliers"] == outliers["pearson_without"], outliers
    assert general["data"]["weed"][dataset + "_pearson_without_outliers"] == outliers["pearson_without"]
    assert general["data"]["weed"][dataset + "_outliers"] == len(outliers["regions"]), outliers
    header = general["headers"][dataset + "_pearson_without_outliers"]
    assert (header["title"], header["hidden"]) == (dataset + ": r without outliers", False), header
    assert abs(bars["1000 bp"] - float(total(dataset)["pearson_1000"])) < 1e-6, bars
assert load("stats/weed.atacseq_mqc.json")["id"] != load("stats/weed.h3k4me3_mqc.json")["id"]
assert load("stats/weed.atacseq.correlation_mqc.json")["id"] == load("stats/weed.h3k4me3.correlation_mqc.json")["id"]
assert load("stats/weed.tracks_mqc.json")["plot_type"] == "table"
names = ["weed_predictions_atacseq", "weed_predictions_h3k4me3", "atacseq"]
profile, rows = load("stats/weed.covprofile.profile_mqc.json"), list(csv.DictReader(open("genes.tsv"), delimiter="\t"))
assert profile["plot_type"] == "linegraph" and list(profile["data"]) == [*names[:2], "weed.atacseq"], list(profile["data"])
for name, line in zip(names, profile["data"].values()):
    assert line == [[int(row["position"]), float(row[name])] for row in rows] and len(line) == 600, name
assert list(load("stats/weed.covprofile_mqc.json")["data"]) == ["weed", *profile["data"]]
cells, rows = load("stats/weed.tracks.covprofile.tracks_mqc.json"), list(csv.DictReader(open("tracks.tsv"), delimiter="\t"))
assert (cells["plot_type"], cells["section_name"]) == ("heatmap", "Correlation of tracks: weed.tracks"), cells
assert cells["xcats"] == cells["ycats"] == names, cells
assert [[float("%.9g" % r) for r in line] for line in cells["data"]] == [[float(row[name]) for name in names] for row in rows], cells
table, rows = load("stats/weed.table_mqc.json"), list(csv.DictReader(open("table.tsv"), delimiter="\t"))
assert table["plot_type"] == "table" and list(table["data"]) == ["weed.table", *("weed.table." + name for name in names)], table["data"]
assert all(table["data"]["weed.table.atacseq"][key] > 0 for key in ("features", "mean")), table["data"]
profile = load("stats/weed.covprofile_mqc.json")
assert all(profile["data"][row]["tss_enrichment"] > 1 for row in list(profile["data"])[1:]), profile["data"]
peaks, frip = load("stats/weed.peaks_mqc.json"), list(csv.DictReader(open("frip.tsv"), delimiter="\t"))[0]["frip"]
row = peaks["data"]["weed.peaks.peaks.bed"]
assert 0 < row["frip"] < 1 and abs(row["frip"] - float(frip)) < 1e-6, row
assert (peaks["headers"]["frip"]["title"], peaks["headers"]["frip"]["hidden"]) == ("FRiP", False), peaks["headers"]
fragments = load("stats/weed.fragments_mqc.json")
row, = fragments["data"].values()
assert (row["reads"], row["counted"]) == (3, 2) and fragments["files"][0]["fragments"] == 3, (row, fragments["files"])
assert all(load(name)["data"] for name in glob.glob("stats/*"))
END
ok 'the files have the numbers of the runs, and titles' "$PYTHON" files.py

# Both datasets at once.
bam2h5 -q -p h3k4me3 -o both.h5 atacseq.h5 weed_h3k4me3.sam
cov2bigwig -q --measured both.h5 --stats both_mqc.json -o both.tsv weed_predictions.h5
ok 'two datasets are columns of one row, and two groups of bars' "$PYTHON" -c '
import json
general, plot = json.load(open("both_mqc.json")), json.load(open("both.correlation_mqc.json"))
assert {"atacseq_pearson_1", "h3k4me3_pearson_1"} <= set(general["data"]["both"]), general["data"]
assert list(plot["data"]) == ["both.atacseq", "both.h3k4me3"], plot["data"]'

# A bigWig has no dataset.
cov2bigwig -q --datasets atacseq --measured tracks/weed_predictions_h3k4me3_avg_strand.bw --stats track_mqc.json -o track.tsv weed_predictions.h5
ok 'a comparison with a track' "$PYTHON" -c '
import json
general, plot = json.load(open("track_mqc.json")), json.load(open("track.correlation_mqc.json"))
assert list(general["data"]) == ["track"] and len(plot["data"]) == 1, (general["data"], plot["data"])'

# The example of covtools(7): each file has the name of its tool, which is not a part of the sample.
mkdir example
cp weed.fa example/genome.fa && cp weed_atacseq.sam example/reads.bam && cp plant.ckpt example/model.ckpt
cd example || exit 99
sed -n '/^Runs share a row/,/^\.fi/p' "$SRC/man/covtools.7" | sed -n 's/^    //p' | sed 's/\\-/-/g; s/ -c 25 / -c 5 /' >commands
is "$(grep -c . commands)" 7 'the man page has an example of a sample'
grep -v '^multiqc' commands | sed 's/--stats/-q &/' >tools
ok '  which runs' sh -e tools
# shellcheck disable=SC2016 # Python's
is "$("$PYTHON" -c 'import glob, json; print(*sorted({row for name in glob.glob("stats/*") for row in json.load(open(name))["data"]}))')" \
    'cress cress.atacseq' '  all rows have the name of the sample; a bar also has that of the dataset'
cd ..

# Wrong statistics of shards.
refuses() { tool_refuses 'h5chunk merge -q -o no.h5' "$@" 1.h5 2.h5 3.h5; }
chunks=$(sed -n 's/^  "chunks": \([0-9]*\),$/\1/p' shards/1.json shards/2.json | awk '{ n += $1 } END { print n }')
refuses 1 "^h5chunk: error: --shard-stats: the statistics have $chunks chunks, the shards [0-9]+; give one file for each shard\$" \
    'a shard without statistics' --shard-stats shards/1.json,shards/2.json --stats no_mqc.json
refuses 1 'shards/none\.json: No such file' 'a missing file' --shard-stats shards/none.json --stats no_mqc.json
refuses 1 'stats/weed\.genome_mqc\.json: not written by covpredict --stats$' 'the statistics of another tool' \
    --shard-stats stats/weed.genome_mqc.json --stats no_mqc.json
refuses 1 '^h5chunk: error: weed\.fa: ' 'a file that is not JSON' --shard-stats weed.fa --stats no_mqc.json
refuses 2 '--shard-stats needs --stats$' 'statistics that are not wanted' --shard-stats shards/1.json

if command -v multiqc >/dev/null; then
    HOME=$tap_dir
    export HOME
    run_ok 'MultiQC makes a report' multiqc --no-version-check --fullnames stats
    cat >report.py <<'END'
import csv, re

def table(name):
    return {row["Sample"]: row for row in csv.DictReader(open(f"multiqc_data/multiqc_{name}.txt"), delimiter="\t")}

general = table("general_stats")
assert sorted(general) == ["moss", "weed"], list(general)
columns = {name.rsplit("-", 1)[1]: name for name in general["weed"] if "-" in name}
for key in ("bases", "bases_per_second", "wall_seconds", "peak_rss_mb", "atacseq_pearson_1", "h3k4me3_pearson_1"):
    assert float(general["weed"][columns[key]]) > 0, key
assert general["moss"][columns["bases"]] and not general["moss"][columns["atacseq_pearson_1"]]
bars = table("covtools_correlation_bargraph")
assert sorted(bars) == ["weed.atacseq", "weed.h3k4me3"] and float(bars["weed.atacseq"]["1000 bp"]) > 0, bars
assert table("covtools_bam2h5_table")["weed.atacseq.reads"]["reads"]
html = open("multiqc_report.html").read()
assert "Correlation with measured coverage" in html
lines = [line.rstrip("\n").split("\t") for line in open("multiqc_data/multiqc_covtools_profile_linegraph.txt")]
assert [line[0] for line in lines] == ["weed.atacseq", "weed_predictions_atacseq", "weed_predictions_h3k4me3"], lines
assert open("multiqc_data/multiqc_covtools_tracks_weed_tracks_heatmap.txt").read().count("\t") == 6
assert "covtools predicts the coverage" in re.sub(r"\s+", " ", html)
titles = set(re.findall(r'<span class="mqc_table_tooltip" [^>]*>([^<]*)</span>', html))
assert {"atacseq: r, 1 bp", "h3k4me3: r, 1 bp", "covpredict: Speed", "Bases", "Speed", "Time", "Memory", "Reads", "Coverage"} <= titles, titles
assert not any("_" in title for title in titles), titles
END
    ok '  with a row per sample, a graph, tables and titles' "$PYTHON" report.py
    cd example || exit 99
    ok 'and one of the example' sh -e -c "$(grep '^multiqc' commands) --no-version-check"
    cat >report.py <<'END'
import csv

def rows(name):
    return [row["Sample"] for row in csv.DictReader(open(f"multiqc_data/multiqc_{name}.txt"), delimiter="\t")]

assert rows("general_stats") == ["cress"], rows("general_stats")
for table in ("fasta2h5", "bam2h5", "covpeaks_call"):
    assert rows(f"covtools_{table}_table") == ["cress"], rows(f"covtools_{table}_table")
END
    ok '  in which all steps have one sample' "$PYTHON" report.py
    cd ..
else
    tap_result 0 'a MultiQC report # SKIP no multiqc'
fi
done_testing
