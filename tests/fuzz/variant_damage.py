"""variant_damage.py - runs coveffect vcf on damaged copies of variants.

  variant_damage.py WORKDIR N SEED MODEL.ckpt GENOME.fa WINDOW FILE...

FILE: valid VCF or BCF files, compressed or not. Creates N damaged copies by flipping bits, truncating, wiping or moving
bytes, or flipping bits in what is compressed. The program may refuse a file (status 1, one line, no output) or accept it
(a complete output). It must not crash or hang. Prints failures and counts; exits with status 1 if there was a failure.
SPDX-License-Identifier: MIT"""
import gzip
import os
import random
import subprocess
import sys

import driver


def flip(data, rng):
    for _ in range(rng.choice((1, 3, 30))):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def cut(data, rng):
    del data[rng.randrange(len(data)):]


def wipe(data, rng):
    at = rng.randrange(len(data))
    n = min(rng.choice((1, 8, 200)), len(data) - at)
    data[at:at + n] = bytes([rng.choice((0, 9, 10, 255))]) * n


def move(data, rng):
    at, to, n = (rng.randrange(len(data)) for _ in range(3))
    data[to:to] = data[at:at + n % 300]


def inside(data, rng):
    text = bytearray(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
    rng.choice((flip, wipe, move))(text, rng)
    data[:] = subprocess.run(["bgzip", "-c"], input=text, capture_output=True, check=True).stdout


KINDS = {f.__name__: f for f in (flip, cut, wipe, move, inside)}


def judge(report):
    def judged(name, done, left, taken):
        errors = driver.errors(done)
        if done.returncode == 0:
            if len(left) != 1 or errors:
                report(name, f"accepted, but left {left}, with {errors}")
            return True
        if done.returncode != 1 or len(errors) != 1 or left:
            report(name, f"status {done.returncode}, left {left}: {done.stderr.decode(errors='replace')[:300]}")
        return False
    return judged


def main():
    work, n, seed, model, genome, window, *files = sys.argv[1:]
    rng = random.Random(int(seed))
    os.makedirs(work, exist_ok=True)
    out = os.path.join(work, "out")

    def damage(k, i, kind):
        with open(files[k], "rb") as f:
            data = bytearray(f.read())
        KINDS[kind](data, rng)
        path = os.path.join(work, f"{i}.{os.path.basename(files[k])}")
        with open(path, "wb") as f:
            f.write(data)
        return path, files[k]

    def try_file(_, path, report):
        return driver.run({f"vcf -o x.{kind}": ["coveffect", "vcf", "-q", "-@", "1", "-m", model, "-g", genome, "--window", window,
                                                "-o", os.path.join(out, "x." + kind), path] for kind in ("tsv", "vcf")},
                          out, report, judge(report))

    driver.main_loop(int(n), rng, len(files), KINDS, damage, try_file)


if __name__ == "__main__":
    main()
