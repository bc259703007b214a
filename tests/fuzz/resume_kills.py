"""resume_kills.py - kills covpredict --resume repeatedly, and checks the result.

  resume_kills.py WORKDIR KILLS SHARDS SEED GENOME MODEL [OPTION]...

Predicts GENOME with MODEL without interruption (covpredict OPTION...), then in SHARDS shards with --resume. Kills each
shard with SIGKILL at random moments and restarts it until it is complete; repeats this until there were KILLS kills.
Between some runs, truncates the journal or changes one of its bytes; during some runs, starts a second run, which must
be refused. After each kill only the journal may exist (and a hidden temporary file, if the output was being written).
Each shard must be byte-identical to that of an uninterrupted run, and the merged shards to the whole output. Prints
failures and counts; exits with status 1 if there was a failure.
SPDX-License-Identifier: MIT"""
import filecmp
import os
import random
import subprocess
import sys
import time


def main():
    work, kills, shards, seed, genome, model, *options = sys.argv[1:]
    kills, shards = int(kills), int(shards)
    rng = random.Random(int(seed))
    os.makedirs(work, exist_ok=True)
    base = ["covpredict", "-q", "-m", model] + options
    counts = {"kills": 0, "done": 0, "damaged": 0, "refused": 0, "resumed": 0}
    failures = []

    def command(shard, output, *more):
        return base + (["--shard", f"{shard}/{shards}"] if shards > 1 else []) + [*more, "-o", output, genome]

    def fail(text):
        failures.append(text)
        print(text)

    wanted, longest = {}, 0
    for shard in range(1, shards + 1):
        wanted[shard] = f"{work}/wanted{shard}.h5"
        beg = time.monotonic()
        subprocess.run(command(shard, wanted[shard], "-f"), check=True)
        longest = max(longest, time.monotonic() - beg)

    # Returns true if the process holds its lock; a new process may not have acquired it yet.
    def is_at_work(pid, journal):
        try:
            inode = os.stat(journal).st_ino
        except FileNotFoundError:
            return False
        with open("/proc/locks") as f:
            held = [line.split() for line in f]
        return any(x[1] == "FLOCK" and x[4] == str(pid) and x[5].endswith(f":{inode}") for x in held)

    def damage(journal):
        size = os.path.getsize(journal)
        with open(journal, "r+b") as f:
            # Keeps the head, because starting over needs -f.
            head = 32 + int.from_bytes(f.read(24)[20:24], "little")
            if size <= head:
                return
            counts["damaged"] += 1
            at = rng.randrange(head, size)
            if rng.random() < 0.5:
                f.truncate(at)
            else:
                f.seek(at)
                byte = f.read(1)[0]
                f.seek(at)
                f.write(bytes([byte ^ 1 << rng.randrange(8)]))

    while counts["kills"] < kills and not failures:
        outputs = {shard: f"{work}/x{shard}.h5" for shard in wanted}
        left = dict(outputs)
        while left and not failures:
            shard = rng.choice(list(left))
            output, journal = left[shard], left[shard] + ".resume"
            if os.path.exists(journal):
                counts["resumed"] += 1
                # If the output is complete, the journal would belong to another run.
                if rng.random() < 0.2 and not os.path.exists(output):
                    damage(journal)
            run = subprocess.Popen(command(shard, output, "--resume"), stderr=subprocess.PIPE)
            if counts["kills"] < kills:
                time.sleep(longest * rng.random() * (0.2 if rng.random() < 0.3 else 1))
                if rng.random() < 0.1 and is_at_work(run.pid, journal):
                    # Must be refused, unless the first run has released its lock because it is complete.
                    words = [w for w in command(shard, output, "--resume") if w != "-q"]
                    second = subprocess.run(words, stderr=subprocess.PIPE)
                    if second.returncode == 1 and b"another run is writing this output" in second.stderr:
                        counts["refused"] += 1
                    elif second.returncode != 0 or b"nothing to do" not in second.stderr:
                        fail(f"{output}: a second run: status {second.returncode}: {second.stderr}")
                run.kill()
            said = run.communicate()[1]
            if run.returncode == -9:
                counts["kills"] += 1
                there = {name for name in os.listdir(work) if name.startswith((f"x{shard}.", f".x{shard}."))}
                # It may have been killed before it deleted the journal of a complete output.
                there -= {f"x{shard}.h5.resume", f".x{shard}.covtools.tmp.h5", f"x{shard}.h5"}
                if there:
                    fail(f"a kill left {sorted(there)}")
            elif run.returncode != 0:
                fail(f"{output}: status {run.returncode}: {said.decode()}")
            else:
                del left[shard]
            if os.path.exists(output) and not filecmp.cmp(output, wanted[shard], shallow=False):
                fail(f"{output}: differs from an uninterrupted run")
        counts["done"] += not failures
        rest = [name for name in os.listdir(work) if "x" in name and not name.startswith(("x", "wanted"))
                or name.endswith(".resume")]
        if not failures and rest:
            fail(f"files remain: {rest}")
        for output in [] if failures else outputs.values():
            os.remove(output)
    if shards > 1 and not failures:
        subprocess.run(["h5chunk", "merge", "-q", "-f", "-o", f"{work}/merged.h5"] + list(wanted.values()), check=True)
    print(", ".join(f"{n} {what}" for what, n in counts.items()))
    return 1 if failures else 0


sys.exit(main())
