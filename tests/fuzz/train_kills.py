"""train_kills.py - kills covtrain at random moments: its checkpoints must stay valid, and a resumed training must give
the same last and best bytes as an uninterrupted one.

train_kills.py KILLS WHOLE DIR -- ARG...    WHOLE: directory of `covtrain ARG...`; DIR: the directory to use
The seed is printed; SEED=N sets it.

SPDX-License-Identifier: MIT
"""
import filecmp
import os
import random
import shutil
import signal
import subprocess
import sys
import time


def start(args):
    return subprocess.Popen(["covtrain", "-q", *args], stderr=subprocess.PIPE)


def differ(directory, whole):
    """Returns the name of a checkpoint whose bytes differ from those of the uninterrupted run, or None."""
    names = "last.ckpt", "best.ckpt"
    return next((x for x in names if not filecmp.cmp(os.path.join(directory, x), os.path.join(whole, x), shallow=False)), None)


def main():
    kills, whole, directory = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    args = sys.argv[sys.argv.index("--") + 1:]
    seed = int(os.environ.get("SEED", random.randrange(10 ** 6)))
    print("SEED=%d" % seed)
    rng = random.Random(seed)
    last = os.path.join(directory, "last.ckpt")
    begin = time.monotonic()
    scratch = directory + ".timed"
    subprocess.run(["covtrain", "-q", *args, "-o", scratch], check=True)
    shutil.rmtree(scratch)
    seconds, done, n = time.monotonic() - begin, 0, 0
    while n < kills:
        resume = ["--resume-training", last] if os.path.exists(last) else ["-f"]
        run = start([*args, "-o", directory, *resume])
        time.sleep(rng.random() * seconds)
        n += run.poll() is None
        run.send_signal(signal.SIGKILL)
        error = run.communicate()[1].decode()
        if run.returncode not in (0, -signal.SIGKILL):
            return "a run ended with %d: %s" % (run.returncode, error)
        for name in os.listdir(directory) if os.path.exists(directory) else []:
            if name.endswith(".ckpt") and not name.startswith("."):
                subprocess.run(["dump_ckpt", os.path.join(directory, name)], check=True, stdout=subprocess.DEVNULL)
        if run.returncode == 0:
            done += 1
            if differ(directory, whole):
                return "%s differs after %d kills" % (differ(directory, whole), n)
            shutil.rmtree(directory)
    if os.path.exists(directory):
        run = start([*args, "-o", directory, *(["--resume-training", last] if os.path.exists(last) else ["-f"])])
        error = run.communicate()[1].decode()
        if run.returncode:
            return "the last run ended with %d: %s" % (run.returncode, error)
        if differ(directory, whole):
            return "%s differs after %d kills" % (differ(directory, whole), n)
        left = [name for name in os.listdir(directory) if name.startswith(".")]
        if left:
            return "files remain: %s" % left
    print("%d kills, %d complete runs" % (n, done))
    return 0


if __name__ == "__main__":
    sys.exit(main())
