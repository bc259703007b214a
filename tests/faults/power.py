"""power.py - cuts the power at each call of the tools that writes, and judges what a file system may have kept.

  power.py [--states N] [--repeats N] [--seed N] WORKDIR FAULTS.so [CASE]...

Runs each case of sweep.py step by step: before each call that writes, creates or removes, faults.c waits, and the
files are looked at. So each step is a change of directories (names of files appear, move, vanish) and of contents. A
step is durable after an fsync of that directory or of that file. After a loss of power,
- of the other steps of contents, all, none or a random choice are there; where later bytes are and earlier ones are
  not, there are zeros; the last one may end at any multiple of 512 bytes;
- of the other steps of directories, all, none or a random choice are there; a rename is one step;
- new directories are there.
For each call, these are up to N states (default 64) that differ. A state is right if
- each output is as before, absent if it was so before, or complete, under its name, and nothing else is there but hidden
  files and journals (a training's checkpoints may be those of any epoch, and its metrics may be anything);
- then the same command, repeated, succeeds with the files of an undisturbed run (in a sample of up to N states a case, 60
  by default, of those that are not complete).
Prints what is wrong, and counts; exits with status 1 if anything was wrong.
SPDX-License-Identifier: MIT"""
import argparse
import os
import random
import re
import subprocess
import sys

from sweep import CASES, Case, make_inputs

SECTOR = 512


def snapshot(directory):
    """Returns {path: (inode, contents)}."""
    files = {}
    for where, _, names in os.walk(directory):
        for name in names:
            path = os.path.join(where, name)
            try:
                with open(path, "rb") as f:
                    files[os.path.relpath(path, directory)] = os.fstat(f.fileno()).st_ino, f.read()
            except FileNotFoundError:
                pass  # removed just now
    return files


def step_by_step(case):
    """Runs a case. Returns [(files, name of the next call, its file)], ending with the files after it."""
    case.fresh()
    log_in, log_out = os.pipe()
    go_in, go_out = os.pipe()
    env = dict(os.environ, LD_PRELOAD=case.shim, FAULT_MODE="step", FAULT_N="0", FAULT_LOG="/dev/fd/%d" % log_out, FAULT_STEP="/dev/fd/%d" % go_in)
    p = subprocess.Popen(case.command, cwd=case.directory, env=env, pass_fds=(log_out, go_in), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    os.close(log_out)
    os.close(go_in)
    steps = []
    with open(log_in) as log:
        for line in log:
            _, _, call, path = line.rstrip("\n").split(" ", 3)
            steps.append((snapshot(case.directory), call, os.path.relpath(os.path.join(case.directory, path), case.directory)))
            os.write(go_out, b".")
    os.close(go_out)
    if p.wait() != 0:
        sys.exit("%s: status %d" % (case.name, p.returncode))
    return [*steps, (snapshot(case.directory), "", "")]


def difference(old, new):
    """Returns (offset, new bytes there, new length) of what changed."""
    low, high = 0, min(len(old), len(new))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if old[:middle] == new[:middle] else (low, middle - 1)
    end = len(new)
    if len(old) == len(new):
        while end > low and old[end - 1] == new[end - 1]:
            end -= 1
    return low, new[low:end], len(new)


def changed(contents, patch):
    offset, data, length = patch
    contents = contents[:offset].ljust(offset, b"\0") + data + contents[offset + len(data):]
    return contents[:max(length, offset + len(data))]


class Disk:
    """What is durable, and the steps that are not yet, of names and of contents."""

    def __init__(self, files):
        self.now = {}  # path: (number of the file, contents); inodes can be used again, numbers are not
        self.names, self.moves = {}, []  # moves: {path: number, or None}
        self.contents, self.writes = {}, []  # writes: (number, patch)
        self.n_files = 0
        self.inodes = {}
        self.step(files)
        self.sync_all()

    def step(self, files):
        old_inodes, self.inodes = self.inodes, {}
        after = {}
        for path, (inode, data) in files.items():
            number = old_inodes.get(inode)
            if number is None:
                number = self.n_files = self.n_files + 1
                self.contents[number] = b""
            self.inodes[inode] = number
            after[path] = number, data
        held = {number: data for number, data in self.now.values()}
        for number, data in dict(after.values()).items():
            if held.get(number, b"") != data:
                self.writes.append((number, difference(held.get(number, b""), data)))
        move = {path: after[path][0] if path in after else None for path in set(self.now) | set(after)
                if self.now.get(path, (None,))[0] != after.get(path, (None,))[0]}
        if move:
            self.moves.append(move)
        self.now = after

    def sync(self, path):
        """An fsync of a file, or of a directory."""
        if path in self.now:
            number, data = self.now[path]
            self.contents[number] = data
            self.writes = [w for w in self.writes if w[0] != number]
            return
        directory = "" if path == "." else path
        for move in self.moves:
            for name in [name for name in move if os.path.dirname(name) == directory]:
                self.names[name] = move.pop(name)
        self.moves = [move for move in self.moves if move]

    def sync_all(self):
        self.names = {path: number for path, (number, _) in self.now.items()}
        self.contents.update(self.now.values())
        self.moves, self.writes = [], []

    def state(self, moves, writes):
        """Returns {path: contents} if the durable steps and only these others are there."""
        names, contents = dict(self.names), dict(self.contents)
        for move in moves:
            names.update(move)
        for number, patch in writes:
            contents[number] = changed(contents[number], patch)
        return {path: contents[number] for path, number in names.items() if number is not None}

    def states(self, n, rng):
        """Yields what can be there: all and nothing first, then random choices."""
        for moves in (self.moves, []):
            for writes in (self.writes, []):
                yield self.state(moves, writes)
        for _ in range(n - 4 if self.moves or self.writes else 0):
            share = rng.random()
            writes = [w for w in self.writes if rng.random() < share]
            if writes and rng.random() < 0.7:
                number, (offset, data, length) = writes.pop()
                end = rng.randrange(offset // SECTOR, (offset + len(data)) // SECTOR + 1) * SECTOR
                if end > offset:
                    writes.append((number, (offset, data[:end - offset], min(length, end))))
            share = rng.random()
            yield self.state([m for m in self.moves if rng.random() < share], writes)


def is_free(case, name):
    """Whether anything may be there under this name: hidden files, journals, metrics."""
    return os.path.basename(name).startswith(".") or name.endswith(".resume") or re.search(r"/metrics\.", name) or \
        (name.endswith(".jsonl") and case.command[0] == "covtrain")


def fault_of(case, files, valid, after):
    """Returns what is wrong with a state, or None."""
    for name in sorted(set(files) | set(case.before)):
        if name not in files:
            if name in after:
                return "%s is lost" % name
        elif not is_free(case, name) and files[name] not in valid.get(name, ()):
            return "%s is torn" % name
    return None


def repeat(case, files):
    """Puts these files in place, and repeats the command. Returns what is wrong with the result. The empty file by which a
    run sees that it may write to a directory has the name of a process, so nobody removes it."""
    case.fresh()
    for name in set(case.before) - set(files):
        os.remove(os.path.join(case.directory, name))
    for name, data in files.items():
        if not data and re.search(r"\.covtools-\w{8}-\d+-", name):
            continue
        path = os.path.join(case.directory, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(data)
    return case.again()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--states", type=int, default=64)
    p.add_argument("--repeats", type=int, default=60)
    p.add_argument("--seed", type=int, default=random.randrange(10 ** 6))
    p.add_argument("work")
    p.add_argument("shim")
    p.add_argument("cases", nargs="*")
    o = p.parse_args()
    os.environ.update(SOURCE_DATE_EPOCH="1", LC_ALL="C")
    work, rng = os.path.abspath(o.work), random.Random(o.seed)
    print("seed %d" % o.seed)
    if not os.path.exists(os.path.join(work, "in")):
        make_inputs(os.path.join(work, "in"))
    bad = n_states = 0
    for line in [line for line in CASES.split("\n") if line and (not o.cases or line.split()[0] in o.cases)]:
        case = Case(work, os.path.abspath(o.shim), line)
        steps = step_by_step(case)
        after = {name: data for name, (_, data) in steps[-1][0].items()}
        if after == case.before:
            continue  # writes no file
        valid = {name: {data} for name, data in case.before.items()}
        for i, (files, _, _) in enumerate(steps[1:], 1):
            for name, (inode, data) in files.items():
                if steps[i - 1][1].startswith("rename") and steps[i - 1][0].get(name, (None,))[0] != inode:
                    valid.setdefault(name, set()).add(data)
        disk, seen, todo, verdicts = Disk(steps[0][0]), set(), [], []
        for (_, call, path), (files, _, _) in zip(steps, steps[1:]):
            disk.step(files)
            if call == "fsync":
                disk.sync(path)
            for state in disk.states(o.states, rng):
                key = hash(tuple(sorted(state.items())))
                if key in seen:
                    continue
                seen.add(key)
                wrong = fault_of(case, state, valid, after)
                if wrong:
                    verdicts.append("%s: after %s %s: %s" % (case.name, call, path, wrong))
                elif any(state.get(name) != data for name, data in after.items()):
                    todo.append((call, path, state))
        todo = rng.sample(todo, min(o.repeats, len(todo)))
        for call, path, state in todo:
            wrong = repeat(case, state)
            if wrong:
                verdicts.append("%s: after %s %s: %s; with %s" % (case.name, call, path, wrong, " ".join(sorted(state))))
        for verdict in verdicts[:20]:
            print(verdict)
        print("%s: %d calls, %d states, %d repeated, %d wrong" % (case.name, len(steps) - 1, len(seen), len(todo), len(verdicts)), flush=True)
        bad += len(verdicts)
        n_states += len(seen)
    print("%d states, %d wrong" % (n_states, bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
