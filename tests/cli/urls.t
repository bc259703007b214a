#!/bin/sh
# URLs as inputs: read like files, or refused with what to do. The server runs on this machine.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
need_python http.server h5py numpy
find /usr/lib /lib /usr/local/lib "${HTS_PATH:-/nonexistent}" -name 'hfile_libcurl*' 2>/dev/null | grep -q . ||
    skip_all 'htslib reads no URLs'

no_proxy='*'
export no_proxy
data=$SRC/tests/data
mkdir www
cp "$data"/genome.fa "$data"/genome.h5 "$data"/atacseq.bam "$data"/cnn.ckpt "$data"/predictions.h5 "$data"/tracks/*.bw www
gzip -c "$data/genome.fa" >www/genome.fa.gz
printf 'chrA\t0\t5\n' >www/list.bed
gzip -dc "$data/tracks/x_atacseq_-_strand.bg.gz" >www/x.bg
cp "$data/tracks/x_atacseq_-_strand.bg.gz" www/x.bg.gz
# Values without a pattern: a bigWig of several MB.
"$PYTHON" -c 'import random; r = random.Random(1)
for i in range(400000): print("c", 5 * i, 5 * i + 5, r.random(), sep="\t")' >big.bg
printf 'c\t2000000\n' >big.sizes
cov2bigwig -q --chrom-sizes big.sizes -o www/big.bw big.bg || exit 99
sam_convert "$data/atacseq.bam" www/a.sam && sam_convert "$data/atacseq.bam" www/a.cram || exit 99

(cd www && exec "$PYTHON" "$SRC/tests/mock/web_server.py" >../port) &
server=$!
trap 'kill $server; tap_end' EXIT
await test -s port
url=http://127.0.0.1:$(cat port)

for name in genome.fa genome.fa.gz; do
    run fasta2h5 -q -f -o file.h5 "www/$name"
    run fasta2h5 -q -f -o url.h5 "$url/$name"
    ok "fasta2h5 $name" "$PYTHON" -c 'import h5py
a, b = (h5py.File(f)["data"] for f in ("file.h5", "url.h5"))
assert list(a) == list(b) and all((a[k][()] == b[k][()]).all() for k in a)'
    run covpredict -q -f -m www/cnn.ckpt -o file.h5 "www/$name"
    run covpredict -q -f -m www/cnn.ckpt -o url.h5 "$url/$name"
    ok "covpredict $name" "$PYTHON" "$SRC/tests/oracle/h5_equal.py" file.h5 url.h5
done
for name in x_atacseq_avg_strand.bw x.bg x.bg.gz big.bw; do
    run cov2bigwig -q -f -o file.bg "www/$name"
    run cov2bigwig -q -f -o url.bg "$url/$name"
    ok "cov2bigwig $name" cmp url.bg file.bg
done
for name in atacseq.bam a.sam a.cram x_atacseq_avg_strand.bw x.bg; do
    for threads in 1 3; do
        run bam2h5 -q -f -@ $threads -p x -o "file.h5" www/genome.h5 "www/$name"
        run bam2h5 -q -f -@ $threads -p x -o "url.h5" www/genome.h5 "$url/$name"
        ok "bam2h5 $name, $threads threads" "$PYTHON" -c 'import h5py
a, b = (h5py.File(f)["evaluation/x_coverage"][()] for f in ("file.h5", "url.h5"))
assert (a == b).all() and a.any()'
    done
done
run cov2bigwig --measured "$url/x_atacseq_avg_strand.bw" www/x_atacseq_avg_strand.bw
stdout_like '	1	1	' 'cov2bigwig --compare'
run_ok 'a BED file' covpredict -q -f -R "$url/list.bed" -m www/cnn.ckpt -o url.h5 www/genome.fa

# Without ranges, a file can only be read from its beginning to its end.
run_ok 'a server without ranges' fasta2h5 -q -f -o url.out "$url/plain/genome.fa.gz"
run_ok '  for reads' bam2h5 -q -f -p x -o url.h5 www/genome.h5 "$url/plain/atacseq.bam"
run cov2bigwig -q -f -o url.bg "$url/plain/big.bw"
refused 1 'plain/big.bw: the server does not send parts of files; download it first$' '  not for a bigWig'

# Connections that end early, and missing files.
for name in genome.fa genome.fa.gz; do
    run fasta2h5 -q -f -o x.out "$url/cut/$name"
    refused 1 "/cut/$name: (Input/output error|truncated)" "$name: the connection ends early"
done
for name in atacseq.bam a.sam; do
    run_refused 1 "/cut/$name: " "$name: the connection ends early" bam2h5 -q -f -p x -o x.out www/genome.h5 "$url/cut/$name"
done
for name in big.bw x.bg; do
    run_refused 1 "/cut/$name: " "$name: the connection ends early" cov2bigwig -q -f -o x.bg "$url/cut/$name"
done
[ ! -e x.out ] && [ ! -e x.bg ]
is $? 0 '  and leave no output'
run_refused 1 '/none.fa: No such file' 'a file that the server does not have' fasta2h5 -q -f -o x.out "$url/none.fa"
run_refused 1 '/none.bam: No such file' '  for reads' bam2h5 -q -p x -o x.out www/genome.h5 "$url/none.bam"
run_refused 1 'http://127.0.0.1:1/x.fa: Connection refused' 'no server' fasta2h5 -q -f -o x.out http://127.0.0.1:1/x.fa

host=$(printf '%064d' 0).invalid # longer than a name may be, so that no server is asked
run_refused 1 "http://$host/x.fa: unknown host\$" 'a host that does not exist' fasta2h5 -q -f -o x.out "http://$host/x.fa"
run_refused 1 "http://$host/x.bam: unknown host\$" '  for reads' bam2h5 -q -p x -o x.out www/genome.h5 "http://$host/x.bam"

# Files that need random access are refused.
while IFS='|' read -r name command; do
    # shellcheck disable=SC2086 # a list of words
    run $command
    refused 1 "^[a-z0-9]+: error: $url/$name: is a URL; only sequences, reads, tracks and lists are read from URLs, so download it first\$" \
        "$command"
done <<END
genome.h5|covpredict -m www/cnn.ckpt -o x.h5 $url/genome.h5
cnn.ckpt|covpredict -m $url/cnn.ckpt -o x.h5 www/genome.fa
predictions.h5|cov2bigwig -o x.bw $url/predictions.h5
genome.h5|cov2bigwig --measured $url/genome.h5 www/predictions.h5
genome.h5|bam2h5 -p x $url/genome.h5 www/atacseq.bam
genome.h5|h5chunk info $url/genome.h5
genome.h5|h5chunk verify $url/genome.h5
genome.h5|h5chunk merge -o x.h5 $url/genome.h5
genome.h5|h5chunk subset -r a -o x.h5 $url/genome.h5
train|covtrain -i $url/train -o x
END
run covpredict --resume -m www/cnn.ckpt -o x.h5 "$url/genome.fa"
refused 2 "genome.fa is not a file that can be read again" '--resume needs a file'
done_testing
