#!/bin/sh
# Valid and broken checkpoints.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"

for kind in cnn hybrid bi-hybrid; do
    run make_ckpt "$kind" x.ckpt
    status_is 0 "make_ckpt $kind"
    run dump_ckpt x.ckpt
    status_is 0 "dump_ckpt $kind"
    stdout_like "^hparam	model_type	string	$kind\$" "$kind: hyperparameters"
    stdout_like '^tensor	out.bias	float32	[12]	' "$kind: tensors"
done

# broken KIND REGEX
broken() {
    run make_ckpt "$1" "$1.ckpt"
    run dump_ckpt "$1.ckpt"
    refused 1 "^dump_ckpt: error: $1\\.ckpt: $2\$" "$1 is refused"
}
broken os-system 'pickle imports os\.system, which is not allowed; nothing was executed'
ok '  and not executed' test ! -e executed
broken petabytes \
    'tensor out\.weight: its shape has 3\.60288e\+16 elements, but the file has only [0-9]+ bytes'
broken no-hparams 'not a PyTorch Lightning checkpoint: hyper_parameters is missing'
broken bare-state 'not a PyTorch Lightning checkpoint: state_dict is missing'
broken nan 'tensor out\.bias: element 0 is NaN or infinite'

head -c 3000 x.ckpt >cut.ckpt
run dump_ckpt cut.ckpt
refused 1 'cut\.ckpt: truncated zip archive: the end record is missing' 'a truncated file'
printf 'not a checkpoint\n' >text.ckpt
run dump_ckpt text.ckpt
refused 1 'text\.ckpt: not a PyTorch checkpoint' 'a text file'
: >empty.ckpt
run dump_ckpt empty.ckpt
refused 1 'empty\.ckpt: the file is empty' 'an empty file'
run dump_ckpt missing.ckpt
refused 1 'missing\.ckpt: No such file or directory' 'a missing file'
run dump_ckpt .
refused 1 '\.: is a directory' 'a directory'
run make_ckpt cnn /dev/full
refused 1 'cannot write /dev/full: No space left on device' 'a full disk'
done_testing
