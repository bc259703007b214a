"""driver.py - shared by h5_damage.py, track_damage.py and variant_damage.py: creates damaged files one by one, runs
programs on them, and keeps the files with findings.
SPDX-License-Identifier: MIT"""
import collections
import os
import shutil
import subprocess
import sys

TIMEOUT = 120


# ---- damage of `data`, a bytearray, mostly in the byte ranges `areas`

def place(data, areas, rng):
    if rng.random() < 0.7:
        return min(rng.randrange(*rng.choice(areas)), len(data) - 1)
    return rng.randrange(len(data))


def flip(data, areas, rng):
    for _ in range(rng.choice((1, 1, 1, 2, 8))):
        data[place(data, areas, rng)] ^= 1 << rng.randrange(8)


def cut(data, areas, rng):
    del data[rng.choice((rng.randrange(len(data)), len(data) - 1 - rng.randrange(min(200, len(data))))):]


def wipe(data, areas, rng):
    at, n = place(data, areas, rng), rng.choice((1, 4, 8, 32, 600))
    n = min(n, len(data) - at)
    data[at:at + n] = rng.choice((b"\0", b"\xff", b"\n", b"9")) * n


def move(data, areas, rng):
    """Duplicates, deletes or moves bytes."""
    a, b = sorted((place(data, areas, rng), place(data, areas, rng)))
    b = min(b, a + rng.choice((1, 8, 32, 4000)))
    how = rng.randrange(3)
    if how == 0:
        data[a:a] = data[a:b]
    elif how == 1:
        del data[a:b]
    else:
        c = place(data, areas, rng)
        part = bytes(data[a:b])[:len(data) - c]
        data[c:c + len(part)] = part


def damage(source, path, kind, areas, rng):
    """Makes a damaged copy. `areas` may be None: the whole file."""
    with open(source, "rb") as f:
        data = bytearray(f.read())
    kind(data, areas or [(0, len(data))], rng)
    with open(path, "wb") as f:
        f.write(data)


# ---- runs

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


def main_loop(work, n, rng, bases, kinds, try_file):
    """Tries n damaged copies of `bases`, each (path, areas), in the directory `work`: try_file(base number, path, report)
    returns the names of the commands that accepted it. Ends the program, with status 1 if anything was found."""
    n_bad, n_taken, n_made = 0, collections.Counter(), collections.Counter()
    for i in range(n):
        kind = rng.choice(list(kinds))
        base, areas = bases[i % len(bases)]
        path = os.path.join(work, f"{i}.{os.path.basename(base)}")
        damage(base, path, kinds[kind], areas, rng)
        found = []
        taken = try_file(i % len(bases), path, lambda name, what: found.append((name, what)))
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
