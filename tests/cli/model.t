#!/bin/sh
# workflows/model.sh and the table of published models: local files instead of downloads.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
need_program curl

model() { # [NAME]
    run "$SRC/workflows/model.sh" "$@"
}
model
is "$(cut -d ' ' -f 1 "$stdout" | tr '\n' ' ')" "$(sed 1d "$SRC/workflows/models.tsv" | cut -f 1 | tr '\n' ' ')" 'models are listed'
is "$(awk -F '\t' 'NR > 1 && (NF != 6 || $3 !~ /^[0-9a-f]+$/ || length($3) != 40 || $6 !~ ("^https:.*/" $2 "$") || n[$1]++ || n[$3]++)' \
    "$SRC/workflows/models.tsv")" '' 'each has a file, a checksum and a URL of its own'

# The checksum is that of `git hash-object`.
printf 'weights\0\n' >source
row() { # NAME CHECKSUM PATH
    printf '%s\t%s.ckpt\t%s\tMIT\tnothing\tfile://%s\n' "$1" "$1" "$2" "$3"
}
MODELS=$PWD/models.tsv
export MODELS
{
    printf 'name\tfile\tgit_blob\tlicence\tpredicts\turl\n'
    row good d5fa4c88d5c2dfaf0059db4cc0ca8c4328e43c6a "$PWD/source"
    row bad 0000000000000000000000000000000000000000 "$PWD/source"
    row absent d5fa4c88d5c2dfaf0059db4cc0ca8c4328e43c6a "$PWD/nothing"
} >models.tsv
model good
status_is 0 'a model'
stdout_is good.ckpt '  is named'
ok '  has the contents of its URL' cmp good.ckpt source
model good
stdout_is 'good.ckpt: already there' '  is not fetched again'
echo other >good.ckpt
model good
refused 1 '^model: error: good\.ckpt: already exists, and is not this model$' '  is not replaced'
is "$(cat good.ckpt)" other '    and stays as it is'
model bad
refused 1 '^model: error: file:.*/source: wrong checksum; not saved$' 'a wrong checksum'
model absent
refused 1 '^model: error: file:.*/nothing: not downloaded$' 'a URL that cannot be read'
model nope
refused 1 '^model: error: nope: unknown; the models are: good, bad, absent$' 'an unknown name'
leaves source models.tsv good.ckpt 'failures leave no file'
done_testing
