#!/bin/sh
# h5chunk blacklist: reports and lists of ids, in place and to new files, and errors.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
need_python h5py numpy

awk "$random"'BEGIN { seed(5); split("250 100 60 60 30", n, " "); for (s = 1; s <= 5; s++) record("s" s, n[s]) }' >g.fa
fasta2h5 -q --subsequence-length 100 -o g.h5 g.fa || exit 99

# check.py NAMES FILE: rows of these sequences are 0, all others 1; everything else equals g.h5.
cat >check.py <<'END'
import sys

import h5py
import numpy as np

drop = sys.argv[1].split()
with h5py.File("g.h5") as a, h5py.File(sys.argv[2]) as b:
    names = [n.decode() for n in a["data/seqids"][:]]
    d = b["data/blacklist"]
    assert d.dtype == np.int32 and d.shape == (len(names),) and d.maxshape == (None,), d
    wanted = [0 if n in drop else 1 for n in names]
    assert d[:].tolist() == wanted, d[:]
    for name in ("X", "seqids", "species", "start_ends"):
        x, y = a["data/" + name], b["data/" + name]
        assert x.dtype == y.dtype and x.chunks == y.chunks and (x[:] == y[:]).all(), name
    assert sorted(b["data"]) == sorted(list(a["data"]) + ["blacklist"] * ("blacklist" not in a["data"]))
    assert dict(a.attrs) == dict(b.attrs)
END
holds() { # NAMES FILE NAME
    ok "$3" "$PYTHON" check.py "$1" "$2"
}

# ---------------------------------------------------------------- lists of ids

printf 's2\n\n# a comment\ns5 # another\n' >names
run_ok 'a list of ids, with a new file' h5chunk blacklist --names names -o new.h5 g.h5
stderr_is 'h5chunk: blacklisted 2 of 5 sequences, 4 of 14 chunks' '  reports the numbers'
holds 's2 s5' new.h5 '  marks their rows'
cp g.h5 same.h5
chmod 640 same.h5
run_ok 'the file itself is changed' h5chunk blacklist -q --names names --list list same.h5
stderr_is '' '  -q prints nothing'
holds 's2 s5' same.h5 '  marks the rows'
is "$(stat -c %a same.h5)" 640 '  keeps its permissions'
is "$(cat list)" "$(printf 's2\ns5')" '  and writes the list'
run_ok '  the file passes verify' h5chunk verify same.h5
run h5chunk blacklist --names list -f --list - -q --stats stats.json same.h5
stdout_is "$(printf 's2\ns5')" 'a list is written to standard output, and read back'
ok 'statistics' "$PYTHON" -c 'import json
s = json.load(open("stats.json"))
assert s["inputs"] == ["same.h5", "list"] and s["bases"] == 500 and s["chunks"] == 14, s'
ln -s same.h5 link.h5
echo s1 >one
run h5chunk blacklist -f --names one link.h5
holds s1 same.h5 'the target of a symbolic link is changed'
ok '  the link is kept' test -L link.h5
: >empty
run_ok 'an empty list' h5chunk blacklist -f --names empty same.h5
holds '' same.h5 '  blacklists nothing'
printf 's1\nother\nmore\n' >unknown
run h5chunk blacklist -f --names unknown --list list2 same.h5
stderr_like '^h5chunk: warning: unknown: 2 of 3 names are not in same\.h5 \(first: other\)$' 'unknown ids'
is "$(cat list2)" s1 '  are not in the list'

# ---------------------------------------------------------------- reports

cat >report.jsonl <<'END'
{"assemblyUnit":"Primary Assembly","chrName":"un","genbankAccession":"g1","refseqAccession":"s1","role":7}
{"assemblyUnit":"Primary Assembly","chrName":"Un","genbankAccession":"g2","refseqAccession":"s2","role":"assembled-molecule"}
{"assemblyUnit":"non-nuclear","chrName":"MT","genbankAccession":"g3","refseqAccession":"s3","role":"assembled-molecule"}

{"assemblyUnit":"Primary Assembly","chrName":"1","genbankAccession":"g4","refseqAccession":"s4","role":"unlocalized-scaffold"}
{"assemblyUnit":"Primary Assembly","chrName":"1","genbankAccession":"g5","refseqAccession":"s5","role":"unplaced-scaffold"}
END
run_ok 'a report' h5chunk blacklist --report report.jsonl -o report.h5 --list report.list g.h5
holds 's2 s3 s4 s5' report.h5 '  blacklists for each reason'
is "$(tr '\n' ' ' <report.list)" 's2 s3 s4 s5 ' '  lists in the order of the file'
{
    printf '\357\273\277'
    sed 's/assemblyUnit/assembly_unit/; s/chrName/chr_name/; s/Accession/_accession/g; s/non-nuclear/Non-nuclear/; s/$/ \r/' report.jsonl
} >snake.jsonl
run h5chunk blacklist -f --report snake.jsonl -o snake.h5 --list snake.list g.h5
is "$(cat snake.list)" "$(cat report.list)" 'keys in snake case, a byte order mark, CRLF and blanks at line ends'
rm -f snake.*
gzip -c report.jsonl >report.jsonl.gz
run h5chunk blacklist -f --report report.jsonl.gz -o report.h5 g.h5
holds 's2 s3 s4 s5' report.h5 'a compressed report'
# The first line has no refseqAccession.
sed '1s/"refseqAccession":"s1",//; s/"genbankAccession":"g/"genbankAccession":"s/; s/"refseqAccession":"s/"refseqAccession":"r/' \
    report.jsonl >genbank.jsonl
run h5chunk blacklist -f --report genbank.jsonl -o report.h5 g.h5
holds 's2 s3 s4 s5' report.h5 'genbankAccession if the first line has no refseqAccession'
sed '2s/"refseqAccession":"s2",//' report.jsonl >mixed.jsonl
run h5chunk blacklist -f --report mixed.jsonl -o report.h5 g.h5
holds 's3 s4 s5' report.h5 'a sequence without refseqAccession gets its genbankAccession'
stderr_like '^h5chunk: warning: g\.h5: 1 of 5 sequences are not in mixed\.jsonl and are kept \(first: s2\)$' \
    '  warns of sequences that the report lacks'
stderr_like '^h5chunk: warning: mixed\.jsonl: 1 of 5 sequences are not in g\.h5$' '  and of those that the file lacks'

# ---------------------------------------------------------------- errors

rm -f report.h5 new.h5 link.h5 list list2
cp g.h5 before.h5
refuses() { # as tool_refuses
    tool_refuses 'h5chunk blacklist' "$@"
    ok '  and changes nothing' cmp before.h5 g.h5
}
refuses 1 'same\.h5: already has data/blacklist; use -f' 'an existing blacklist' --names names same.h5
refuses 1 'before\.h5: already exists; use -f' 'an existing output' --names names -o before.h5 g.h5
refuses 1 'one: already exists; use -f' 'an existing list' --names names --list one g.h5
refuses 2 'report and --names contradict' 'both' --report report.jsonl --names names g.h5
refuses 2 'g\.h5: is both an input and an output' 'the input as output' --names names -o g.h5 g.h5
refuses 2 'names: is both an input and an output' 'the list of ids as list' --names names -f --list names g.h5
refuses 2 "list and --output both name 'x'" 'the same file for both' --names names --list x -o x g.h5
refuses 2 'cannot be written to standard output' 'standard output' --names names -o - g.h5
refuses 1 'none: No such file' 'a missing list' --names none g.h5
refuses 1 'none\.h5: .*No such file' 'a missing genome file' --names names none.h5
printf 's1\t0\t10\n' >../bed
refuses 1 'bed: has regions; only sequence ids are allowed' 'a BED file' --names ../bed g.h5
refuses 1 'names:1: invalid JSON at byte 1; expected NCBI.s sequence_report\.jsonl, with an object in each line' 'a file that is not a report' --report names g.h5
refuses 1 'empty: no sequences' 'an empty report' --report empty g.h5
sed 's/"s\([0-9]\)"/"t\1"/' report.jsonl >../other.jsonl
refuses 1 'other\.jsonl: none of its 5 sequences \(first: t1\) is in g\.h5 \(first: s1\)' 'a report of a different genome' \
    --report ../other.jsonl g.h5
head -c 300 report.jsonl >../cut.jsonl
refuses 1 'cut\.jsonl:3: invalid JSON' 'a truncated report' --report ../cut.jsonl g.h5
cat report.jsonl report.jsonl >../twice.jsonl
refuses 1 'twice\.jsonl:7: duplicate s1' 'a duplicate sequence' --report ../twice.jsonl g.h5
printf '{"a": 1}\n' >../json.jsonl
refuses 1 'json\.jsonl:1: neither refseqAccession nor genbankAccession' 'other JSON' --report ../json.jsonl g.h5
printf '[]\n' >../json.jsonl
refuses 1 'json\.jsonl:1: neither refseqAccession nor genbankAccession' 'an array' --report ../json.jsonl g.h5
printf '\n{"refseqAccession":""}\n' >../json.jsonl
refuses 1 'json\.jsonl:2: neither refseqAccession nor genbankAccession' 'an empty accession' --report ../json.jsonl g.h5
printf ' \n\n' >../json.jsonl
refuses 1 'json\.jsonl: no sequences' 'a report of blank lines' --report ../json.jsonl g.h5
run_unprivileged sh -c 'mkdir ../ro && cp g.h5 ../ro && chmod 555 ../ro && h5chunk blacklist --names names ../ro/g.h5'
refused 1 'Permission denied' 'a read-only directory'
chmod 755 ../ro
chmod 444 ../ro/g.h5
run_unprivileged h5chunk blacklist --names names ../ro/g.h5
refused 1 '\.\./ro/g\.h5: cannot write \(use -o to write another file\): Permission denied$' 'a read-only file'
ok '  is not changed' cmp g.h5 ../ro/g.h5
# The disk is full during the copy, and after it.
size=$(stat -c %s g.h5)
for blocks in $((size / 1024 / 2)) $((size / 1024)); do
    # shellcheck disable=SC2016 # for the inner shell
    tool_refuses 'bash -c' 1 'g\.h5: ' "disk full after $blocks KiB" 'ulimit -f "$0"; h5chunk blacklist --names names g.h5' "$blocks"
    ok '  and changes nothing' cmp before.h5 g.h5
done

# ---------------------------------------------------------------- Predmoter's test files

for i in 4 5; do
    data=$SHARED/reference/predmoter_testdata/train_data_$i.h5
    name="equal to Predmoter's train_data_$i"
    if [ ! -e "$data" ]; then
        pass "$name # SKIP no reference files"
        continue
    fi
    run h5chunk blacklist -f --report "${data%.h5}_sequence_report.jsonl" -o "$i.h5" "$data"
    ok "$name" "$PYTHON" -c 'import sys, h5py
a, b = (h5py.File(path)["data/blacklist"] for path in sys.argv[1:])
assert a.dtype == b.dtype and (a[:] == b[:]).all() and 0 in a[:] and 1 in a[:]' "$data" "$i.h5"
done
done_testing
