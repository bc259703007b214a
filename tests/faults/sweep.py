"""sweep.py - makes each call and each allocation of the tools fail in turn, and judges what is left.

  sweep.py [--some N] [--seconds S] [--seed N] [--modes LIST] [--calls REGEX] [--all] WORKDIR FAULTS.so [CASE[:MODE:N[-M]]]...

Needs the tools and sam_convert in PATH. Runs each case with each mode of faults.c for each call that the mode applies to;
with --calls, for those whose name and file match; with --some, for N random ones of each case and mode; with --seconds, until S have
passed. CASE:MODE:N or CASE:MODE:FIRST-LAST repeats runs.
The cases have 415,000 allocations, most of them in libhdf5 and libcrypto. Of those with the same stack (three innermost frames, four of
libcov and the tool) only the first of all cases fails, which leaves 11,500; with --all, each fails, which takes 14 hours and more.
A run is right if, in the end,
- status 0: all outputs are there, with the bytes of an undisturbed run;
- another status: there is a message, and each file is as before or as after an undisturbed run;
- then the same command, undisturbed, succeeds (covtrain: with --resume-training, if there is a checkpoint), and leaves
  exactly the files of an undisturbed run.
Crashes inside libhdf5, libcrypto, libhts and libBigWig are counted, since these do not survive each failed allocation.
Prints what is wrong, and counts; exits with status 1 if anything was wrong.
SPDX-License-Identifier: MIT"""
import argparse
import collections
import gzip
import os
import random
import re
import shutil
import subprocess
import sys
import time

MODES = ["eio", "enospc", "eintr", "short", "zero", "mem", "kill", "eio+", "enospc+", "mem+"]
OUT_OF_MEMORY = 137  # as after a kill for lack of memory
APPLIES = {"enospc": "w", "eintr": "i", "short": "d", "zero": "z", "kill": "w"}

# Name, command that makes what is there before ("old": an output that -f replaces), the command. @ is the directory of inputs.
CASES = """
fasta2h5    old o.h5        | fasta2h5 -f --subsequence-length 1000 -o o.h5 @/g.fa.gz
stream      :               | fasta2h5 --subsequence-length 1000 -o - @/g.fa
bam2h5      cp @/g.h5 .     | bam2h5 -p x g.h5 @/r.bam
bam2h5-sam  old o.h5        | bam2h5 -f -p x -o o.h5 @/g.h5 @/r.sam
bam2h5-bed  cp @/g.h5 .     | bam2h5 -p x --blacklist-file @/r.bed g.h5 @/reads.bed
fragments   old o.h5        | bam2h5 -f -p x --count cut --max-fragment 70 --blacklist-file @/names -o o.h5 @/g.h5 @/fragments.tsv.gz
help        :               | covtrain --help
info        :               | h5chunk info --json @/c.h5 @/p.h5 @/m.ckpt
sequences   :               | h5chunk info --sequences @/g.h5 @/g.fa.gz
verify      :               | h5chunk verify @/c.h5 @/p.h5
repack      old o.h5        | h5chunk repack -f --layout packed --compression zstd -o o.h5 @/c.h5
subset      old o.h5        | h5chunk subset -f -r chr2 -o o.h5 @/c.h5
merge       old o.h5        | h5chunk merge -f -o o.h5 @/s1.h5 @/s2.h5
split       mkdir -p d/train d/val; old d/train/c.h5; old d/val/c.h5 | h5chunk split -f --val-fraction 0.3 --by chunk --seed 1 -o d/ @/c.h5
exclude     mkdir -p d/train d/val; old d/train/c.h5 | h5chunk split -f --val-fraction 0.5 --by chunk --seed 2 --exclude-names @/names -o d/ @/c.h5
shards      old o.1.h5      | h5chunk split -f --shards 2 -o o @/c.h5
cat         :               | h5chunk cat @/c.h5
save        old o.h5        | h5chunk save -f -o o.h5 @/c.stream
blacklist   cp @/g.h5 .     | h5chunk blacklist -f --names @/names g.h5
drop        old o.h5        | h5chunk drop -f --datasets x -o o.h5 @/c.h5
rename      old o.h5        | h5chunk rename -f --datasets x=y -o o.h5 @/c.h5
predict     old o.h5        | covpredict -f --float -m @/m.ckpt -o o.h5 @/g.h5
predict-fasta old o.h5      | covpredict -f --subsequence-length 1000 -m @/m.ckpt -o o.h5 @/g.fa.gz
predict-resume :            | covpredict --resume --float -m @/m.ckpt -o o.h5 @/g.h5
evaluate    :               | covpredict -m @/m.ckpt --evaluate @/c.h5
bigwig      mkdir t; old t/p_x_avg_strand.bw | cov2bigwig -f --basename p -o t/ @/p.h5
bedgraph    old o.bg.gz     | cov2bigwig -f --datasets x -o o.bg.gz @/p.h5
from-bigwig old o.bg        | cov2bigwig -f -o o.bg @/t.bw
from-bedgraph old o.bw      | cov2bigwig -f --chrom-sizes @/sizes -o o.bw @/t.bg
from-stream :               | cov2bigwig -o - --experimental @/c.stream
minus       old o.bw        | cov2bigwig -f --chrom-sizes @/sizes --minus @/t.bg -o o.bw @/c.h5
mean        old o.bg.gz     | cov2bigwig -f --datasets x --mean @/t.bw,@/c.h5 -o o.bg.gz @/p.h5
log2        old o.bg        | cov2bigwig -f --datasets x --log2 @/t.bw --bin-size 20 -o o.bg @/p.h5
compare     :               | cov2bigwig --measured @/c.h5 @/p.h5
call        old o.narrowPeak | covpeaks call -f -c @cutoff -l 3 -g 2 -o o.narrowPeak @/p.h5
broad       old o.gappedPeak | covpeaks call -f --broad -c @cutoff -C 1 -l 3 -g 2 -o o.gappedPeak @/p.h5
curve       old o.tsv       | covpeaks curve -f --measured @/r.bed --datasets x -o o.tsv @/p.h5
peaks-compare :             | covpeaks compare --genome @/g.h5 @/r.bed @/r.bed
stats       :               | covpeaks stats --signal @/t.bw @/r.bed
genes       old o.tsv       | covprofile genes -f --genes @/a.gff3 -b 100 -a 100 --matrix m.gz -o o.tsv @/p.h5 @/c.h5
tsse        old o.tsv       | covprofile genes -f --tsse --genes @/tss.bed -o o.tsv @/tss.bg
table       old o.tsv       | covprofile table -f --genes @/a.gff3 -o o.tsv @/p.h5 @/t.bw
region      old o.svg       | covprofile region -f -r chr1:1-1000 --plot o.svg -o o.tsv @/p.h5
correlate   old o.tsv       | covprofile correlate -f --bin-size 100 -o o.tsv @/p.h5 @/t.bw
fingerprint old o.tsv       | covprofile fingerprint -f --bin-size 100 -o o.tsv @/p.h5
coverage    old o.tsv       | covprofile coverage -f --curves o.tsv @/p.h5
effects     old o.tsv       | coveffect vcf -f --window 400 -m @/m.ckpt -g @/g.fa --width 51 -o o.tsv @/v.vcf
effects-vcf old o.vcf.gz    | coveffect vcf -f --window 400 -m @/m.ckpt -g @/g.fa.gz --width 51 --tracks t/ -o o.vcf.gz @/v.vcf
effects-resume :            | coveffect vcf --resume --window 400 -m @/m.ckpt -g @/g.fa --width 51 -o o.tsv @/v.vcf
effects-context :           | coveffect vcf --background 2 --genes @/a.gff3 --window 400 -m @/m.ckpt -g @/g.fa --width 51 -o o.tsv @/sv.vcf
ism         :               | coveffect ism -f --window 400 --width 51 -m @/m.ckpt -g @/g.fa -R @/r.bed --dataset x -o ism/
gradients   :               | coveffect gradients -f --window 400 --width 51 -m @/m.ckpt -g @/g.fa -R @/r.bed --dataset x -o grad/
train       :               | covtrain -i @/data -o model --filter-size 4 --kernel-size 3 --hidden-size 4 -b 4 -e 2 --seed 1 --save-every 1
train-resume cp -r @/model . | covtrain -i @/data -o model --resume-training model/last.ckpt -b 4 -e 3 --seed 1
synth       :               | benchmark synth -f --size 3k --depth 1 --seed 3 -o out/
"""


def sh(command, directory):
    """Runs a shell command; "old" makes an output."""
    subprocess.run(["sh", "-c", "old() { echo old >\"$1\"; }; " + command], cwd=directory, check=True, stdin=subprocess.DEVNULL)


def make_inputs(directory):
    """A genome of two sequences, reads, a network, predictions, tracks, variants, genes: as small as possible."""
    os.makedirs(directory)

    def put(name, text):
        with open(os.path.join(directory, name), "w") as f:
            f.write(text)

    rng = random.Random(5)
    seqs = {name: "".join(rng.choice("ACGT") for _ in range(n)) for name, n in (("chr1", 2300), ("chr2", 900))}
    fasta = "".join(">%s\n%s\n" % item for item in seqs.items())
    put("g.fa", fasta)
    with gzip.open(os.path.join(directory, "g.fa.gz"), "wt") as f:
        f.write(fasta)
    put("sizes", "".join("%s\t%d\n" % (name, len(s)) for name, s in seqs.items()))
    reads = "".join("r\t%d\t%s\t%d\t60\t50M\t*\t0\t0\t%s\t*\n" % (rng.choice((0, 16)), name, p + 1, s[p:p + 50])
                    for name, s in seqs.items() for p in sorted(rng.randrange(len(s) - 60) for _ in range(150)))
    put("r.sam", "@HD\tVN:1.6\tSO:coordinate\n" + "".join("@SQ\tSN:%s\tLN:%d\n" % (n, len(s)) for n, s in seqs.items()) + reads)
    put("v.vcf", "##fileformat=VCFv4.2\n" + "".join("##contig=<ID=%s,length=%d>\n" % (n, len(s)) for n, s in seqs.items()) +
        "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n" +
        "".join("%s\t%d\trs%d\t%s\t%s\t.\t.\t.\n" % (n, p, p, s[p - 1], "AC"[s[p - 1] == "A"]) for n, s in seqs.items() for p in (100, 450, 800)))
    put("sv.vcf", "##fileformat=VCFv4.4\n##contig=<ID=chr1>\n##INFO=<ID=END,Number=1,Type=Integer,Description=\"\">\n" +
        "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n" +
        "".join("chr1\t450\t.\tN\t%s\t.\t.\t%s\n" % r for r in (("<DEL>", "END=470"), ("<INV>", "END=470"), ("<INS>", "SEQ=GATTACA"))))
    put("a.gff3", "##gff-version 3\n" + "".join("%s\tx\tgene\t%d\t%d\t.\t%s\t.\tID=g%d\n" % (n, b, e, strand, b) for n, b, e, strand in
                                               (("chr1", 200, 900, "+"), ("chr1", 1200, 1900, "-"), ("chr2", 100, 500, "+"))))
    put("reads.bed", "".join("%s\t%d\t%d\tr\t0\t%s\n" % (n, p, p + 50, "+-"[p % 2]) for n, s in seqs.items() for p in range(0, len(s) - 50, 7)))
    with gzip.open(os.path.join(directory, "fragments.tsv.gz"), "wt") as f:
        f.write("".join("%s\t%d\t%d\tcell%d\t1\n" % (n, p, p + 40 + p % 60, p % 3) for n, s in seqs.items() for p in range(0, len(s) - 100, 11)))
    put("tss.bed", "chr1\t3000\t3500\tg\t0\t+\n")
    put("tss.bg", "".join("chr1\t%d\t%d\t%d\n" % (p, p + 9, 9 if 2900 < p < 3100 else 1 + p % 5) for p in range(0, 6000, 9)))
    put("r.bed", "chr1\t300\t320\nchr2\t200\t220\n")
    put("names", "chr2\n")
    sh("""set -e
sam_convert -i bai r.sam r.bam
fasta2h5 -q --subsequence-length 1000 -o g.h5 g.fa
bam2h5 -q -p x -o c.h5 g.h5 r.bam
h5chunk cat -q -o c.stream c.h5
h5chunk split -q --val-fraction 0.3 --by chunk --seed 1 -o data/ c.h5
covtrain -q -i data -o model --filter-size 4 --kernel-size 3 --hidden-size 4 -b 4 -e 2 --seed 1
cp model/best.ckpt m.ckpt
covpredict -q --float -m m.ckpt -o p.h5 g.h5
for i in 1 2; do covpredict -q -m m.ckpt --shard $i/2 --float -o s$i.h5 g.h5; done
cov2bigwig -q -o t.bw p.h5
cov2bigwig -q -o t.bg p.h5
cut -f4 t.bg | sort -g | awk '{ a[NR] = $1 } END { print a[int(NR * 0.7)] }' >cutoff""", directory)


def tree(directory):
    """Returns the contents of all files, by name."""
    files = {}
    for where, _, names in os.walk(directory):
        for name in names:
            path = os.path.join(where, name)
            with open(path, "rb") as f:
                files[os.path.relpath(path, directory)] = f.read()
    return files


class Case:
    def __init__(self, work, shim, line):
        before, command = (part.strip() for part in line.split("|"))
        self.name, before = before.split(None, 1)
        inputs = os.path.join(work, "in")
        with open(os.path.join(inputs, "cutoff")) as f:
            command = command.replace("@cutoff", f.read().strip()).replace("@", inputs)
        tool, options = re.match("([a-z0-9]+(?: [a-z]+)?) (.*)", command).groups()
        self.command, self.shim = [*tool.split(), "-q", "-@", "1", *options.split()], shim
        self.directory, self.log = os.path.join(work, "run"), os.path.join(work, "log")
        self.start = os.path.join(work, "before")
        shutil.rmtree(self.start, ignore_errors=True)
        os.makedirs(self.start)
        sh(before.replace("@", inputs), self.start)
        self.before = tree(self.start)
        first, second = self.undisturbed(), self.undisturbed()
        # Times and names of processes: not the same in each run.
        self.varies = {name for name in first if first[name] != second.get(name)}
        self.after = {name: data for name, data in first.items() if name not in self.varies}

    def fresh(self):
        shutil.rmtree(self.directory, ignore_errors=True)
        shutil.copytree(self.start, self.directory)

    def run(self, command, check=False, **env):
        """Runs a command; its output is one of the files. Returns status, messages and files."""
        try:
            done = subprocess.run(command, cwd=self.directory, check=check, timeout=120, env=dict(os.environ, **env),
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        except subprocess.TimeoutExpired:
            return None, "", {}
        files = tree(self.directory)
        files["stdout"] = done.stdout
        return done.returncode, done.stderr.decode(errors="replace"), files

    def undisturbed(self):
        self.fresh()
        return self.run(self.command, True)[2]

    def calls(self, mode, pattern, stacks):
        """Returns the numbers of the calls that a mode applies to and whose names and files match the pattern. Of
        allocations, those whose stacks are not among `stacks`, and adds these; all, if `stacks` is None."""
        self.fresh()
        if os.path.exists(self.log):
            os.remove(self.log)
        self.run(self.command, True, LD_PRELOAD=self.shim, FAULT_MODE=mode, FAULT_N="0", FAULT_LOG=self.log)
        with open(self.log) as f:
            lines = [line.split() for line in f]
        if mode.startswith("mem"):
            numbers = []
            for line in lines:
                if stacks is None or line[3] not in stacks:
                    numbers.append(int(line[0]))
                if stacks is not None:
                    stacks.add(line[3])
            return numbers
        kind = APPLIES.get(mode.rstrip("+"), "-")
        return [int(line[0]) for line in lines if kind in line[1] and re.search(pattern, " ".join(line[2:]))]

    def again(self):
        """Repeats the command without faults. Returns what is wrong, or None."""
        last = os.path.join(self.directory, "model", "last.ckpt")
        command = self.command
        if os.path.exists(last) and "--resume-training" not in command:
            command = [*command, "--resume-training", "model/last.ckpt"]
        status, said, files = self.run(command)
        wrong = sorted(name for name in set(files) | set(self.after) if name not in self.varies and files.get(name) != self.after.get(name))
        if status != 0:
            return "the repeated command fails: %s" % said.strip()
        return "after the repeated command: %s" % " ".join(wrong) if wrong else None

    def judge(self, mode, n):
        """Returns what is right ("ok", "failed", ...) and None, or what is wrong and why."""
        self.fresh()
        if os.path.exists(self.log):
            os.remove(self.log)
        status, said, files = self.run(self.command, LD_PRELOAD=self.shim, FAULT_MODE=mode, FAULT_N=str(n), FAULT_LOG=self.log)
        log = ""
        if os.path.exists(self.log):
            with open(self.log) as f:
                log = f.read()
        if not log:
            return "not called", None
        call = "%s; %s" % (log.split("\n")[0], said.strip().split("\n")[-1])
        if status is None:
            return "HANG", call
        output = files.pop("stdout")
        differ = sorted(name for name in self.after if name != "stdout" and name not in self.varies and files.get(name) != self.after[name])
        more = sorted(set(files) - set(self.after) - self.varies - set(self.before))
        if status == 0:
            if differ or ("stdout" in self.after and output != self.after["stdout"]):
                return "WRONG", "%s: %s" % (call, " ".join(differ) or "standard output")
            wrong = self.again() if more and "-f" in self.command else None
            return ("LEFT", "%s: %s" % (call, wrong)) if wrong else ("done", None)
        if mode == "kill" and not differ and not more:
            return "done", None
        crashed = (status < 0 and mode != "kill") or status > 128 and status != OUT_OF_MEMORY
        if crashed:
            stack = [line for line in log.split("crash\n")[-1].split("\n") if not re.search("faults|libc.so", line)]
            if not stack or not re.search("libhdf5|libcrypto|libhts|libBigWig", stack[0]):
                return "CRASH", "status %d: %s: %s" % (status, call, stack[0] if stack else "")
        elif not said.strip() and mode != "kill":
            return "SILENT", call
        torn = [name for name in differ if not self.is_old(name, files.get(name))]
        if torn:
            return "TORN", "%s: %s" % (call, " ".join(torn))
        wrong = self.again()
        return ("REPEAT", "%s: %s" % (call, wrong)) if wrong else ("crashed in a library" if crashed else "failed", None)

    def is_old(self, name, data):
        """A training has results before its end; a directory of several outputs may have some of them."""
        return data == self.before.get(name) or self.command[0] == "covtrain" or \
            (name.endswith((".jsonl", ".resume")) and data is not None)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--some", type=int)
    p.add_argument("--seconds", type=float, default=1e9)
    p.add_argument("--seed", type=int, default=random.randrange(10 ** 6))
    p.add_argument("--calls", default="")
    p.add_argument("--all", action="store_true")
    p.add_argument("--modes", default=",".join(MODES))
    p.add_argument("work")
    p.add_argument("shim")
    p.add_argument("cases", nargs="*")
    o = p.parse_args()
    os.environ.update(SOURCE_DATE_EPOCH="1", LC_ALL="C")
    end, rng = time.monotonic() + o.seconds, random.Random(o.seed)
    work, shim = os.path.abspath(o.work), os.path.abspath(o.shim)
    if not os.path.exists(os.path.join(work, "in")):
        make_inputs(os.path.join(work, "in"))
    lines = [line for line in CASES.split("\n") if line]
    if o.cases:
        wanted = {name.split(":")[0]: name.split(":")[1:] for name in o.cases}
        lines = [line for line in lines if line.split()[0] in wanted]
    elif o.seconds < 1e9:
        rng.shuffle(lines)
    print("seed %d" % o.seed)
    bad, stacks = 0, collections.defaultdict(set)
    for line in lines:
        case = Case(work, shim, line)
        single = wanted[case.name] if o.cases else []
        for mode in single[:1] or o.modes.split(","):
            numbers = case.calls(mode, o.calls, None if o.all else stacks[mode])
            if single:
                first, last = (single[1] + "-" + single[1]).split("-")[:2]
                numbers = range(int(first), int(last) + 1)
            if o.some and not single:
                numbers = sorted(rng.sample(numbers, min(o.some, len(numbers))))
            counts = collections.Counter()
            for n in numbers:
                if time.monotonic() > end:
                    break
                verdict, why = case.judge(mode, n)
                counts[verdict] += 1
                if why:
                    bad += 1
                    print("%s:%s:%d %s: %s" % (case.name, mode, n, verdict, why), flush=True)
            if counts:
                print("%s %s: %s" % (case.name, mode, ", ".join("%d %s" % (k, v) for v, k in sorted(counts.items()))), flush=True)
        if time.monotonic() > end:
            break
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
