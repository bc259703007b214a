"""serve.py - the main program of a checker: run(main).

main(*arguments) returns a fault, or nothing. With "serve" as its only argument, a checker answers the requests of
start_python and ask (tests/lib/tap.sh) in turn, because starting Python and loading h5py takes longer than most checks.

SPDX-License-Identifier: MIT"""
import sys


def serve(main):
    args = []
    for line in sys.stdin:
        line = line.rstrip("\n")
        if line:
            args.append(line)
            continue
        try:
            answer = main(*args)
        except (Exception, SystemExit) as error:  # the test continues
            answer = f"{type(error).__name__}: {error}"
        print((answer or "ok").replace("\n", " "), flush=True)
        args = []


def run(main):
    if sys.argv[1:] == ["serve"]:
        serve(main)
    else:
        sys.exit(main(*sys.argv[1:]) or 0)
