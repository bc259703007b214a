#!/bin/sh
# The commands of covtools(7)'s tutorial, as they stand there.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"

need_program gnuplot
ok 'samples are made up' "$SRC/workflows/demo/samples.sh" "$TESTLIB/../../demo/make_demo" . 60000
sed -n '/^\.SH TUTORIAL/,/^\.SH ENVIRONMENT/p' "$SRC/man/covtools.7" | sed -n '/^\.EX/,/^\.EE/p' |
    sed '/^\.E[XE]/d; s/\\-/-/g' >commands
is "$(grep -c . commands)" 12 'the tutorial has 12 commands'
while read -r command; do
    ok "$command" sh -e -c "$command"
done <commands
ok 'the joined parts are the whole' "$PYTHON" "$SRC/tests/lib/h5_equal.py" weed_predictions.h5 weed_merged.h5
is "$(head -c 8 weed.png | od -An -tx1 | tr -d ' \n')" 89504e470d0a1a0a 'the picture is a PNG'

done_testing
