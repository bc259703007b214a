#!/bin/sh
# The Huffman codes of one-hot chunks.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"

lengths=$SRC/tests/oracle/onehot_lengths.py table=$SRC/common/deflate/onehot_codes.c
ok 'the codes are complete and optimal for DNA' "$PYTHON" "$lengths" check "$table"
sed 's/{0x3c, 3}/{0x3c, 4}/' "$table" >incomplete.c
like "$("$PYTHON" "$lengths" check incomplete.c 2>&1)" '^small_literals: the code is not complete' 'an incomplete code is found'
sed 's|{18, 3}|{18, 7}|; s|{3, 7}|{3, 3}|' "$table" >worse.c
like "$("$PYTHON" "$lengths" check worse.c 2>&1)" '^small_distances: [0-9]* bits instead of [0-9]*$' 'a worse code is found'
done_testing
