#!/bin/sh
# Every tool on damaged files of chunks: no crash, no hang, no wrong output. COV_DAMAGED: number of files.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
need_python h5py

"$PYTHON" "$SRC/tests/oracle/coverage_check.py" random reads.sam 1 300 sorted
"$PYTHON" - >g.fa <<'END'
import random
random.seed(5)
for name, n in (("a", 5000), ("b", 700), ("c", 3)):
    print(">" + name)
    print("".join(random.choice("ACGTN") for _ in range(n)))
END
make_ckpt cnn m.ckpt
fasta2h5 -q --subsequence-length 1000 -o genome.h5 g.fa
bam2h5 -q -p x genome.h5 reads.sam
printf 'b\n' >names
h5chunk blacklist -q --names names genome.h5
covpredict -q -m m.ckpt -o predictions.h5 genome.h5
h5chunk repack -q --layout packed --compression lz4 -o packed.h5 genome.h5
h5chunk subset -q -r a -o partial.h5 genome.h5
for base in genome predictions packed partial; do
    ok "$base.h5 is valid" h5chunk verify $base.h5
done
# Sets the length of the first chunk to 0 in the chunk index.
"$PYTHON" - <<'END'
import struct, h5py
with h5py.File("genome.h5") as f:
    size = f["data/X"].id.get_chunk_info_by_coord((0, 0, 0)).size
data = bytearray(open("genome.h5", "rb").read())
at = data.find(struct.pack("<IIQQQ", size, 0, 0, 0, 0))
data[at:at + 4] = bytes(4)
open("empty.h5", "wb").write(data)
END
run h5chunk verify empty.h5
status_is 1 'h5chunk verify: an empty chunk'
stdout_like 'data/X: an empty chunk' '  named in the output'
run_refused 1 'empty.h5: data/X: an empty chunk' 'h5chunk cat refuses it' h5chunk cat empty.h5
ok "$((n = ${COV_DAMAGED:-8})) damaged files" "$PYTHON" "$SRC/tests/fuzz/h5_damage.py" work "$n" "${COV_TEST_SEED:-1}" \
    m.ckpt reads.sam genome.h5 predictions.h5 packed.h5 partial.h5
done_testing
