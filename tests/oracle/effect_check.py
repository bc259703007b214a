"""effect_check.py - checks for tests/cli/coveffect.t; see start_python in tap.sh.

    variants OUT.vcf GENOME.fa SEED        writes variants of all kinds, on all kinds of places
    phased OUT.vcf GENOME.fa SEED          writes sorted variants with all kinds of genotypes
    windows OUT.fa GENOME.fa VCF WINDOW SAMPLES
                                           writes for each row, for covpredict, the genome's window, and those without and
                                           with the allele: in the genome if SAMPLES is "none", as with --haplotypes if they
                                           are numbers; WINDOW is its length, or LENGTH:STEP as for --step
    scores TABLE GENOME.fa VCF WINDOW WIDTHS PREDICTIONS.h5 DATASETS SAMPLES [TOLERANCE]
                                           computes all rows from covpredict's values of these windows, which may be
                                           off by a relative tolerance
    fields TABLE VCF                       compares INFO/COVEFFECT with the table
    spread TABLE MEAN A B...               compares means and standard deviations with the tables of single models
    ranks TABLE PLAIN N                    checks p-values among N shuffles, and the other columns
    tracks DIR TABLE GENOME.fa WINDOW BW_DUMP
                                           compares the tracks with a table whose width is the window
    draws OUT.vcf GENOME.fa SEED N         writes the random variants of --background
    quantiles TABLE PLAIN DRAWN N          checks the quantiles among N random variants, whose scores are in the table DRAWN, and
                                           the other columns
    nearest TABLE FEATURES.bed             checks the nearest features
    same A.vcf B.vcf                       compares two VCFs without INFO/COVEFFECT

SPDX-License-Identifier: MIT"""
import gzip
import math
import os
import random
import re
import subprocess

import h5py
import numpy as np
import serve
from genome_check import read_fasta
from training_draws import Generator

BASES = set("ACGTRYSWKMBDHVNacgtryswkmbdhvn")
MEANS = {"R": "AG", "Y": "CT", "S": "CG", "W": "AT", "K": "GT", "M": "AC", "B": "CGT", "D": "AGT", "H": "ACT", "V": "ACG",
         "N": "ACGT"}


def read_vcf(path):
    opened = gzip.open(path, "rt") if path.endswith(".gz") else open(path)
    with opened as f:
        return [line.rstrip("\n").split("\t") for line in f if not line.startswith("#")]


def variants(path, genome_path, seed):
    rng = random.Random(int(seed))
    genome = read_fasta(genome_path)
    with open(path, "w") as f:
        f.write("##fileformat=VCFv4.2\n##INFO=<ID=DP,Number=1,Type=Integer,Description=\"depth\">\n"
                '##FORMAT=<ID=GT,Number=1,Type=String,Description="genotype">\n')
        for name, bases in genome.items():
            f.write(f"##contig=<ID={name},length={len(bases)}>\n")
        f.write("#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\tone\ttwo\n")
        number = 0
        for name, bases in genome.items():
            n = len(bases)
            places = {0, 1, n // 2, n - 1, n - 2, *(rng.randrange(n) for _ in range(6))}
            for at in sorted(p for p in places if 0 <= p < n):
                number += 1
                ref = bases[at : at + rng.choice((1, 1, 1, 2, 7))].upper()
                alts = {"".join(rng.choice("ACGT") for _ in range(rng.choice((1, 1, len(ref), 5)))) for _ in range(rng.choice((1, 1, 3)))}
                alts = sorted(alts) + rng.choice(([], [], ["*"], ["<DEL>"], ["N"]))
                f.write(f"{name}\t{at + 1}\tv{number}\t{ref}\t{','.join(alts)}\t{number}.5\tPASS\tDP={number}\tGT\t0|1\t./.\n")


class Window(int):
    """A window's length, and the step of its beginnings: "LENGTH" or "LENGTH:STEP"."""

    def __new__(cls, text):
        length, _, step = text.partition(":")
        self = super().__new__(cls, length)
        self.step = int(step or 1)
        return self


def beginning(length, at, window):
    beg = max(0, at - window // 2 + window.step // 2)
    return max(0, min(beg // window.step * window.step, length - window))


def edits(genome, record, window):
    """Yields each allele of ALT, and its edit unless it has no scores: contig, place, REF, ALT."""
    contig, at, ref = record[0], int(record[1]) - 1, record[3]
    for alt in record[4].split(","):
        bases = genome.get(contig, "")
        found = bases[at : at + len(ref)].upper()
        fits = 0 <= at and len(found) == len(ref) and all(
            set(MEANS.get(a, a)) & set(MEANS.get(b, b)) for a, b in zip(found, ref.upper()))
        beg = beginning(len(bases), at, window)
        inside = at - beg + max(len(ref), len(alt)) <= window
        empty = alt in "Nn" and len(ref) > 1 or ref in "Nn" and len(alt) > 1 and (found != "N" or alt[0] not in "Nn")
        yield alt, fits and inside and set(alt) <= BASES and not empty


SAMPLES = ("one", "two,2", "three")
GENOTYPES = ("0|1", "1|0", "1|1", "1/1", "0/1", "./.", ".|1", "0|0", "1", "0", "2|1", "1|2", "0|2", "2/1", "3|0")


def phased(path, genome_path, seed):
    rng = random.Random(int(seed))
    genome = read_fasta(genome_path)
    with open(path, "w") as f:
        f.write("##fileformat=VCFv4.2\n" '##FORMAT=<ID=GT,Number=1,Type=String,Description="genotype">\n'
                '##FORMAT=<ID=PS,Number=1,Type=Integer,Description="phase set">\n')
        for name, bases in genome.items():
            f.write(f"##contig=<ID={name},length={len(bases)}>\n")
        f.write("#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\tone\ttwo,2\tthree\n")
        number = 0
        for name, bases in genome.items():
            n = len(bases)
            for at in sorted(rng.randrange(n) for _ in range(max(4, n // 60))):
                number += 1
                ref = bases[at : at + rng.choice((1, 1, 1, 2, 4, 40))].upper()
                alts = []
                while len(alts) < rng.choice((1, 1, 1, 2, 3)):
                    long = rng.choice((1, 1, len(ref), 3, 30))
                    alt = rng.choice((ref[0], rng.choice("ACGT"))) + "".join(rng.choice("ACGT") for _ in range(long - 1))
                    alt = rng.choice((alt, alt, alt, alt, alt, alt, alt, "*", "<DEL>"))
                    if alt not in [*alts, ref]:
                        alts.append(alt)
                if rng.random() < 0.05:
                    ref = ref[0].translate(str.maketrans("ACGTRN", "CATGCC")) + ref[1:]
                fits = [g for g in GENOTYPES if all(int(c) <= len(alts) for c in g if c.isdigit())]
                calls = [rng.choice(fits) for _ in range(3)]
                sets = [".", ".", rng.choice((".", "5", "70000")) if "|" in calls[2] else "."]
                f.write(f"{name}\t{at + 1}\tv{number}\t{ref}\t{','.join(alts)}\t.\tPASS\t.\tGT:PS\t"
                        + "\t".join(f"{c}:{s}" for c, s in zip(calls, sets)) + "\n")


class Change:
    """What an allele replaces, without bases at its ends that it does not change; `ref` is that of the genome."""

    def __init__(self, number, at, ref, alt):
        self.pos, self.number, ref, alt = at, number, ref.upper(), alt.upper()
        while ref and alt and ref[0] == alt[0]:
            ref, alt, at = ref[1:], alt[1:], at + 1
        while ref and alt and ref[-1] == alt[-1]:
            ref, alt = ref[:-1], alt[:-1]
        self.at, self.n, self.new = at, len(ref), alt

    def key(self):
        return self.at, self.n > 0, self.number

    def overlaps(self, other):
        """Bases are even numbers, and places between them odd ones."""
        mine, others = (set(range(2 * c.at, 2 * (c.at + c.n) - 1)) if c.n else {2 * c.at - 1} for c in (self, other))
        return bool(mine & others)


def calls_of(record, samples):
    """Yields sample, copy, allele, whether all copies are equal, and phase set of each phased allele that is not REF."""
    keys = record[8].split(":")
    for s in samples:
        values = dict(zip(keys, record[9 + s].split(":")))
        alleles = re.split("[|/]", values["GT"])
        equal = len(set(alleles)) == 1
        if "/" in values["GT"] and not equal:
            continue
        found = values.get("PS", ".")
        for copy, allele in enumerate(alleles):
            if allele not in ".0":
                yield s, copy, int(allele), equal, 0 if found == "." else int(found)


def phased_rows(genome, vcf, window, samples):
    """Yields record, allele, whether it is scored, and of rows in haplotypes their names and changes, and the own one."""
    records = read_vcf(vcf)
    every = {}  # (contig, sample, copy): [(change, equal, set)]
    own = {}
    for number, record in enumerate(records):
        alts = list(edits(genome, record, window))
        bases, at, ref = genome[record[0]], int(record[1]) - 1, record[3]
        found = bases[at : at + len(ref)].upper()
        fits = all(set(MEANS.get(a, a)) & set(MEANS.get(b, b)) for a, b in zip(found, ref))
        for s, copy, allele, equal, group in calls_of(record, samples):
            alt = alts[allele - 1][0]
            if fits and set(alt) <= BASES:
                change = Change(number, at, found, alt)
                every.setdefault((record[0], s, copy), []).append((change, equal, group))
                own.setdefault((number, allele), []).append((s, copy, change, equal, group))
    for number, record in enumerate(records):
        at = int(record[1]) - 1
        beg = beginning(len(genome[record[0]]), at, window)
        for allele, (alt, scored) in enumerate(edits(genome, record, window), 1):
            groups = {}
            for s, copy, change, equal, group in own.get((number, allele), []) if scored else []:
                others = [o for o in every[record[0], s, copy] if o[0] is not change]
                if equal and not group:
                    sets = [(abs(o.pos - at), o.pos, o.number, g) for o, e, g in others if not e and o.pos >= beg]
                    group = min(sets)[3] if sets else 0
                kept = [change]
                for other, other_equal, other_group in sorted(others, key=lambda o: o[0].key()):
                    if other.pos >= beg and (other_equal or other_group == group) and not any(other.overlaps(k) for k in kept):
                        kept.append(other)
                kept.sort(key=Change.key)
                n, last, key = 0, beg, []
                for c in kept:
                    n += c.at - last
                    if n < window + len(change.new) or c is change:
                        key.append((c.at, c.n, c.new))
                    n, last = n + len(c.new), c.at + c.n
                groups.setdefault(tuple(key), (kept, change, []))[2].append(f"{SAMPLES[s]}:{copy + 1}")
            if groups:
                for kept, change, names in groups.values():
                    yield record, alt, True, beg, kept, change, names
            else:
                yield record, alt, scored, beg, [], None, []


def apply(bases, beg, changes, window):
    """Returns the bases of a window, and for each its place in the genome, relative to the window."""
    text, places, last = "", [], beg
    for c in changes:
        text += bases[last : c.at] + c.new
        places += range(last - beg, c.at - beg)
        base = c.at - beg if c.n or c.at == beg else c.at - beg - 1
        places += [base + min(i, max(0, c.n - 1)) for i in range(len(c.new))]
        last = c.at + c.n
    text += bases[last:]
    return text[:window], [*places, *range(last - beg, last - beg + window)][:window]


def numbers_of(samples):
    return [] if samples == "none" else [int(s) for s in samples.split(",")]


def windows(path, genome_path, vcf, window, samples):
    genome, window = read_fasta(genome_path), Window(window)
    with open(path, "w") as f:
        number = 0
        for record, alt, scored, beg, kept, change, _ in phased_rows(genome, vcf, window, numbers_of(samples)):
            if not scored:
                continue
            bases, at = genome[record[0]], int(record[1]) - 1
            if not kept:
                change = Change(0, at, bases[at : at + len(record[3])], alt)
                kept = [change]
            texts = [apply(bases, beg, c, window)[0] for c in ([], [c for c in kept if c is not change], kept)]
            for k, text in enumerate(texts):
                f.write(f">{number}_{k}\n{text}\n")
            number += 1


def scores(table, genome_path, vcf, window, widths, predictions, datasets, samples, tolerance="0"):
    off = float(tolerance)  # relative, of a value
    genome, window, widths, samples = read_fasta(genome_path), Window(window), [int(w) for w in widths.split(",")], numbers_of(samples)
    head, rows = read_table(table)
    assert head[14:] == (["reference_pred_counts", "haplotype_logfc", "haplotypes"] if samples else []), head
    rows = iter(rows)
    with h5py.File(predictions) as f:
        values = f["prediction/predictions"][:]
        names = [name.decode() for name in f["prediction/datasets"][:]]
        ends = np.abs(np.diff(f["data/start_ends"][:], axis=1))[:, 0]
    assert values.dtype == np.float32 and values.shape[1] == window
    number = together = checked = 0
    for record, alt, scored, beg, kept, change, haps in phased_rows(genome, vcf, window, samples):
        at, ref = int(record[1]) - 1, record[3]
        if scored:
            three = [mean_of_strands(values[i : i + 2], ends[i]) for i in range(6 * number, 6 * number + 6, 2)]
            number += 1
        together += len(kept) > 1
        before = [c for c in kept if c is not change]
        inside = at - beg
        if kept:
            inside += sum(len(c.new) - c.n for c in kept[: kept.index(change)])
        for dataset in datasets.split(","):
            for width in widths:
                row = next(rows)
                checked += 1
                assert row[:7] == [*record[:3], ref, alt, dataset, str(width)], row
                assert not samples or row[16] == (",".join(haps) or "NA"), (row, haps)
                if not scored or max(inside, 0) + max(len(ref), len(alt)) > window:
                    assert row[7:16] == ["NA"] * (9 if samples else 7), row
                    continue
                d = names.index(dataset)
                n_bases = [len(t) for t in three]
                genome_sum, *_ = score(three[0][:, d], three[0][:, d], at - beg, 1, 1, width, *((max(inside, 0), n) for n in n_bases[1:]))
                counts, logfc, jsd, diff, place = score(three[1][:, d], three[2][:, d], max(inside, 0), len(ref), len(alt), width,
                                                        *([(at - beg, n_bases[0])] if kept else []))
                place = apply(genome[record[0]], beg, before, window)[1][place]
                assert close(row[7], counts[0], off + 1e-8) and close(row[8], counts[1], off + 1e-8), (row, counts)
                assert close(row[9], logfc, absolute=3 * off + 1e-12) and row[10] == row[9].lstrip("-"), (row, logfc)
                assert close(row[11], jsd, 1e-6, off + 2e-8), (row, jsd)
                assert close(row[12], diff, absolute=2 * off * three[1][:, d].max()), (row, diff)
                assert off > 0 or row[12] == f"{diff:.9g}" and int(row[13]) == beg + place + 1, (row, diff, beg + place + 1)
                if not samples:
                    continue
                assert close(row[14], genome_sum[0], off + 1e-8), (row, genome_sum)
                assert close(row[15], math.log2(counts[1] / genome_sum[0]), absolute=3 * off + 1e-12), row
    assert next(rows, None) is None and 0 < 6 * number == len(values) and checked > number, (number, len(values), checked)
    assert together > 30 or not samples, together


def mean_of_strands(rows, n):
    plus, minus = rows
    assert (plus[n:] == -1).all() and (minus[n:] == -1).all() and (plus[:n] != -1).all()
    return (plus[:n] + minus[:n][::-1]) * np.float32(0.5)


def score(one, two, at, n_ref, n_alt, width, *others):
    """The scores of a dataset by their definitions, of as many bases as all windows have; others: (at, bases)."""
    windows = [(at, len(one)), (at, len(two)), *others]
    before = min(width // 2, *(a for a, _ in windows))
    after = min(width - width // 2, *(n - a for a, n in windows))
    place = np.arange(len(one)), np.arange(len(two))
    inside = [(p >= at - before) & (p < at + after) for p in place]
    counts = [v[i].astype(np.float64).sum() for v, i in zip((one, two), inside)]
    # Bases of the genome before and after the variant, and of both alleles as long as they last.
    partner = {}
    for i in place[1][inside[1]]:
        if i < at + min(n_ref, n_alt):
            partner[i] = i
        elif i >= at + n_alt:
            partner[i - n_alt + n_ref] = i
    pairs = [(i, k) for i, k in sorted(partner.items()) if i < len(one) and inside[0][i]]
    a = np.array([one[i] for i, _ in pairs], np.float64)
    b = np.array([two[k] for _, k in pairs], np.float64)
    p, q = a / a.sum(), b / b.sum()
    m = (p + q) / 2
    jsd = math.sqrt(max(0, (np.sum(p * np.log2(p / m)) + np.sum(q * np.log2(q / m))) / 2))
    diff = np.abs(b - a)
    best = int(np.argmax(diff))
    return counts, math.log2(counts[1] / counts[0]), jsd, diff[best], pairs[best][0] if diff[best] > 0 else at


def close(got, wanted, relative=1e-8, absolute=1e-12):
    return abs(float(got) - wanted) <= relative * abs(wanted) + absolute


def read_table(path):
    with open(path) as f:
        rows = [line.rstrip("\n").split("\t") for line in f]
    return rows[0], rows[1:]


SPREADS = ["allele1_pred_counts", "allele2_pred_counts", "logfc", "abs_logfc", "jsd", "max_abs_diff"]


def spread(table, mean, *singles):
    head, rows = read_table(table)
    plain, means = read_table(mean)
    tables = [read_table(s)[1] for s in singles]
    assert head == plain + [s + "_sd" for s in SPREADS], head
    assert len(rows) == len(means) > 0
    for row, other, *own in zip(rows, means, *tables):
        assert row[:7] == other[:7]
        for i, name in enumerate(SPREADS):
            k = plain.index(name)
            if other[k] == "NA":
                assert row[k] == row[len(plain) + i] == "NA", row
                continue
            wanted = np.std([float(r[k]) for r in own], ddof=1)
            # The mean of strands is rounded before that of models, not after it.
            assert close(row[k], float(other[k]), 1e-5, 1e-7 * float(other[7]) if name == "max_abs_diff" else 1e-6), (row, other)
            assert close(row[len(plain) + i], wanted, 1e-6, 1e-9), (row, name, wanted)


def ranks(table, plain, n):
    head, rows = read_table(table)
    plain_head, others = read_table(plain)
    assert head == plain_head + ["logfc.pval", "abs_logfc.pval", "jsd.pval"], head
    seen = set()
    for row, other in zip(rows, others, strict=True):
        assert row[: len(plain_head)] == other
        both, large, far = row[-3:]
        if other[7] == "NA":
            assert row[-3:] == ["NA"] * 3, row
            continue
        for p, least in (both, 2), (large, 1), (far, 1):
            count = float(p) * (int(n) + 1)
            assert 0 < float(p) <= 1 and count > least - 1e-6 and abs(count - round(count)) < 1e-6, row
            seen.add(p)
        # A change in one direction that is among the k largest is among the k largest of both.
        assert float(both) <= 2 * float(large) + 1e-9, row
    assert len(seen) > 3, seen


def tracks(directory, table, genome_path, window, bw_dump):
    genome, window = read_fasta(genome_path), Window(window)
    left, records = set(os.listdir(directory)), {}
    for row in read_table(table)[1]:
        key = tuple(row[:5])
        number = records.setdefault(key[:4], len(records) + 1)
        if row[7] == "NA":
            continue
        at, n_ref, n_alt = int(row[1]) - 1, len(row[3]), len(row[4])
        beg = beginning(len(genome[row[0]]), at, window)
        values = []
        for kind in "ref", "alt", "diff":
            name, = (n for n in left if re.fullmatch(rf"{number}\.\d+_{row[0]}_{row[1]}_{row[3][:12]}_{row[4][:12]}_{row[5]}_{kind}\.bw", n))
            left.discard(name)
            lines = subprocess.run([bw_dump, f"{directory}/{name}"], capture_output=True, text=True, check=True).stdout.splitlines()
            found = {}
            for contig, first, last, value in (line.split("\t") for line in lines):
                assert contig == row[0], name
                found.update((i, float(value)) for i in range(int(first), int(last)))
            values.append(found)
        ref, alt, diff = values
        assert sorted(ref) == list(range(beg, min(beg + window, len(genome[row[0]])))), row
        n_bases = min(window, len(genome[row[0]]) - beg - max(0, n_ref - n_alt))
        scored = range(at - window // 2, min(at - window // 2 + window, beg + n_bases))
        assert close(row[7], sum(v for i, v in ref.items() if i in scored)), row
        assert sorted(alt) == sorted(diff) and not any(at + n_alt <= i < at + n_ref for i in alt), row
        last = min(max(ref), at - n_alt + n_ref + beg + window - 1 - at, len(genome[row[0]]) - 1)
        assert set(alt) >= set(range(beg, at)) | set(range(at + max(n_ref, n_alt), last + 1)), row
        if n_ref == n_alt:
            assert close(row[8], sum(v for i, v in alt.items() if i in scored)), row
        assert all(abs(alt[i] - ref[i] - diff[i]) <= 1e-6 * alt[i] for i in alt), row
        if n_ref == n_alt:
            best = max(diff, key=lambda i: abs(diff[i]) if i in scored else 0)
            assert close(row[12], abs(diff[best]), 1e-6), (row, best)
        assert close(row[12], abs(diff[int(row[13]) - 1]), 1e-6), row
    assert not left and len(records) > 3, left


def fields(table, vcf):
    head, rows = read_table(table)
    wanted = {}
    for r in rows:
        if head[-1] == "haplotypes":
            r[-1] = "." if r[-1] == "NA" else r[-1].replace("two,2", "two%2C2").replace(",", "&")
        if r[7] != "NA":
            wanted.setdefault(r[2], []).append("|".join([*r[4:10], *r[11:]]))  # without abs_logfc
    got = {}
    for record in read_vcf(vcf):
        for item in record[7].split(";"):
            if item.startswith("COVEFFECT="):
                got[record[2]] = item[10:].split(",")
    assert got and got.keys() == wanted.keys(), got.keys() ^ wanted.keys()
    for name, values in got.items():
        assert values == wanted[name], (name, values[:3], wanted[name][:3])


def draws(path, genome_path, seed, n):
    genome, g = read_fasta(genome_path), Generator(int(seed))
    names, lengths = list(genome), [len(bases) for bases in genome.values()]
    ends = np.cumsum(lengths)
    drawn = []
    while len(drawn) < int(n):
        at = g.below(int(ends[-1]))
        seq = int(np.searchsorted(ends, at, "right"))
        pos = at - int(ends[seq]) + lengths[seq]
        ref = genome[names[seq]][pos].upper()
        if ref in "ACGT":
            drawn.append((seq, pos, ref, "ACGT"[("ACGT".index(ref) + 1 + g.below(3)) % 4]))
    with open(path, "w") as f:
        f.write("##fileformat=VCFv4.3\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n")
        for i, (seq, pos, ref, alt) in enumerate(sorted(drawn, key=lambda d: (d[0], d[1], d[3]))):
            f.write(f"{names[seq]}\t{pos + 1}\tr{i}\t{ref}\t{alt}\t.\t.\t.\n")


def quantiles(table, plain, drawn, n):
    head, rows = read_table(table)
    plain_head, others = read_table(plain)
    assert head == plain_head + ["abs_logfc.quantile", "jsd.quantile"], head
    scores = {}
    for row in read_table(drawn)[1]:
        scores.setdefault((row[5], row[6]), []).append((float(row[10]), float(row[11])))
    assert all(len(s) == int(n) for s in scores.values())
    seen = exact = 0
    for row, other in zip(rows, others, strict=True):
        assert row[: len(plain_head)] == other
        for k, column in enumerate((10, 11)):
            if other[7] == "NA":
                assert row[-2 + k] == "NA", row
                continue
            x, y = np.array(scores[row[5], row[6]])[:, k], float(other[column])
            wanted = (np.sum(x < y) + np.sum(x <= y)) / 2 / len(x)
            least, most = np.sum(x < y * (1 - 1e-7)) / len(x), np.sum(x <= y * (1 + 1e-7)) / len(x)
            assert least - 1e-8 <= float(row[-2 + k]) <= most + 1e-8, (row, least, most)
            seen += 1
            exact += abs(float(row[-2 + k]) - wanted) < 1e-8
    assert seen > 20 and exact > 0.9 * seen, (seen, exact)


def nearest(table, features):
    genes = [(c, int(b), int(e), name, strand) for c, b, e, name, _, strand in
             (line.rstrip("\n").split("\t") for line in open(features))]
    genes.sort(key=lambda g: g[1:3])
    head, rows = read_table(table)
    assert head[-2:] == ["gene", "gene_distance"], head
    kinds = set()
    for row in rows:
        beg, end = int(row[1]) - 1, int(row[1]) - 1 + len(row[3])
        own = [g for g in genes if g[0] == row[0]]
        if not own:
            assert row[-2:] == ["NA", "NA"], row
            continue
        apart = [max(0, b - end + 1, beg - e + 1) for _, b, e, *_ in own]
        best = own[int(np.argmin(apart))]
        upstream = (beg < best[1]) == (best[4] != "-")
        assert row[-2:] == [best[3], str(-min(apart) if upstream else min(apart))], (row, best)
        kinds.add((best[4], np.sign(int(row[-1]))))
    assert len(kinds) == 9, kinds


def same(a, b):
    for record, other in zip(read_vcf(a), read_vcf(b), strict=True):
        kept = [[i for i in r[7].split(";") if not i.startswith("COVEFFECT=") and i != "."] for r in (record, other)]
        assert kept[0] == kept[1] and record[:7] + record[8:] == other[:7] + other[8:], (record, other)


def main(action, *args):
    return ACTIONS[action](*args)


ACTIONS = {f.__name__: f for f in (variants, phased, windows, scores, spread, ranks, tracks, fields, draws, quantiles, nearest, same)}
if __name__ == "__main__":
    serve.run(main)
