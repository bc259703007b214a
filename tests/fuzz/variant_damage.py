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


def inside(data, areas, rng):
    text = bytearray(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
    rng.choice((driver.flip, driver.wipe, driver.move))(text, [(0, len(text))], rng)
    data[:] = subprocess.run(["bgzip", "-c"], input=text, capture_output=True, check=True).stdout


KINDS = {f.__name__: f for f in (driver.flip, driver.cut, driver.wipe, driver.move, inside)}


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
    def try_file(_, path, report):
        return driver.run({f"vcf -o x.{kind}": ["coveffect", "vcf", "-q", "-@", "1", "-m", model, "-g", genome, "--window", window,
                                                "-o", os.path.join(out, "x." + kind), path] for kind in ("tsv", "vcf")},
                          out, report, judge(report))

    driver.main_loop(work, int(n), rng, [(file, None) for file in files], KINDS, try_file)


if __name__ == "__main__":
    main()
