#!/bin/sh
# fasta2h5 on odd and damaged FASTA files, and on files of other kinds: it converts each one correctly or refuses
# it with one error line.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
need_python h5py numpy

n=0
: >../converted
convert() { # FILE [OPTION]...
    file=$1
    shift
    n=$((n + 1))
    run fasta2h5 -o "$n.h5" --species s "$@" "$file" </dev/null
    case $status in
    0) ok "converted: ${file#"$SHARED"/}" test -s "$n.h5" ;;
    *) refused 1 ': .' "refused: ${file#"$SHARED"/}: $(sed -n 's/.*: //p' "$stderr")" ;;
    esac
    is "$(find . -name "*$n.h5*" -o -name '.*' ! -name .)" "$([ "$status" -ne 0 ] || echo "./$n.h5")" \
        '  and leaves no other file'
}

mkdir ../made
"$PYTHON" - "$SRC/tests/data/genome.fa" ../made <<'END'
import gzip, random, sys
whole, directory = open(sys.argv[1], "rb").read(), sys.argv[2]
short = whole[:3000]
random.seed(1)

def flipped(data):
    at = random.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << random.randrange(8)]) + data[at + 1:]

def write(name, data):
    with open(f"{directory}/{name}", "wb") as f:
        f.write(data)

write("crlf.fa", short.replace(b"\n", b"\r\n"))
write("blank_lines.fa", short.replace(b"\n", b"\n\n"))
write("no_last_newline.fa", short.rstrip(b"\n"))
write("one_line.fa", short.split(b"\n")[0] + b"\n" + b"".join(short.split(b"\n")[1:]))
write("empty_sequence.fa", b">a\n>b\nACGT\n")
write("headers_only.fa", b">a\n>b\n")
write("no_header.fa", short.split(b"\n", 1)[1])
write("same_name_twice.fa", short + b"\n" + short)
write("control_bytes.fa", short + b"\x00\x1b[2J\n")
write("rna.fa", short.replace(b"T", b"U"))
write("fastq.fa", b"@r\nACGT\n+\n!!!!\n")
for i in range(12):
    write(f"cut{i}.fa", whole[:random.randrange(60)])
    write(f"flipped{i}.fa", flipped(short))
    packed = gzip.compress(short)
    write(f"cut{i}.fa.gz", packed[:random.randrange(len(packed))])
    write(f"flipped{i}.fa.gz", flipped(packed))
END
{
    find ../made -type f
    [ ! -d "$SHARED/data/damaged" ] || find "$SHARED/data/damaged" -type f
} | LC_ALL=C sort >../files
while read -r file; do
    convert "$file" --subsequence-length 1000
    # Small ones are compared with the result of Python.
    if [ "$status" -eq 0 ] && [ "$(wc -c <"$file")" -lt 200000 ]; then
        printf '%s\t%s\t1000\ts\n' "$file" "$n.h5" >>../converted
    else
        rm -f "$n.h5"
    fi
done <../files
is "$([ "$(wc -l <../converted)" -gt 10 ] && echo many)" many 'many are converted'
ok '  with correct results' "$PYTHON" "$SRC/tests/oracle/genome_check.py" list <../converted

rest_needs_shared data/damaged data/fasta
# With --on-bad-base n even protein is converted.
while read -r file; do
    convert "$file" --subsequence-length 1000 --on-bad-base n
    rm -f "$n.h5"
done <<END
$(grep FormatSpecimens ../files)
END
for file in "$SHARED"/data/fasta/*; do
    # Under sanitizers one genome of 12 million bases is enough.
    [ -n "${SAN:-}" ] && [ "$(wc -c <"$file")" -gt 3500000 ] && continue
    convert "$file" --compression none --subsequence-length 5k
    rm -f "$n.h5"
done
done_testing
