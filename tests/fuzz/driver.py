"""driver.py - shared by h5_damage.py, track_damage.py and variant_damage.py: creates damaged files one by one, runs
programs on them, and keeps the files with findings.
SPDX-License-Identifier: MIT"""
import collections
import os
import shutil
import subprocess
import sys

TIMEOUT = 120


def run(commands, out, report, judge):
    """Runs each of `commands` (name: arguments) with an empty directory `out`. Reports commands that hang. For the others,
    judge(name, done, files left in out, names of commands that accepted the input) returns true if the command accepted
    its input. Returns the names of those commands."""
    taken = []
    for name, command in commands.items():
        shutil.rmtree(out, ignore_errors=True)
        os.mkdir(out)
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            report(name, "hangs")
            continue
        left = [f for d, _, files in os.walk(out) for f in files]
        if judge(name, done, left, taken):
            taken.append(name)
    return taken


def errors(done):
    return [x for x in done.stderr.decode(errors="replace").split("\n") if ": error: " in x]


def main_loop(n, rng, n_bases, kinds, damage, try_file):
    """Tries n files: damage(base number, i, kind) creates a file and returns its path and its base; try_file(base
    number, path, report) returns the names of the commands that accepted it. Ends the program, with status 1 if
    anything was found."""
    n_bad, n_taken, n_made = 0, collections.Counter(), collections.Counter()
    for i in range(n):
        kind = rng.choice(list(kinds))
        path, base = damage(i % n_bases, i, kind)
        found = []
        taken = try_file(i % n_bases, path, lambda name, what: found.append((name, what)))
        n_made[kind] += 1
        n_taken.update((kind, name) for name in taken)
        for name, what in found:
            print(f"{path} ({base}, {kind}): {name}: {what}", flush=True)
        n_bad += bool(found)
        if not found:
            os.unlink(path)
    for kind in kinds:
        print(f"# {kind}: {n_made[kind]}; " + ", ".join(f"{name} took {count}" for (k, name), count in sorted(n_taken.items()) if k == kind))
    print(f"# {n} files, {n_bad} with findings")
    sys.exit(n_bad > 0)
