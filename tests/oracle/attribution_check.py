"""attribution_check.py - checks for tests/cli/coveffect_ism.t and coveffect_gradients.t; see start_python in tap.sh.

    edited OUT.fa GENOME.fa BED WINDOW LENGTH DELETED
                                  writes the window of each region, and with each edit of its bases, for covpredict
    ism ATTR.npz GENOME.fa BED WINDOW LENGTH DELETED WIDTH PREDICTIONS.h5 DATASET
                                  computes all scores from covpredict's values of these windows
    forms DIR DUMP GENOME.fa BED LENGTH
                                  compares all outputs of one run; DUMP has the lines of the bigWig

SPDX-License-Identifier: MIT"""
import h5py
import numpy as np
import serve
from effect_check import mean_of_strands
from genome_check import read_fasta


def regions(genome, bed, length):
    """Yields sequence, first base and last base + 1 of the regions."""
    with open(bed) as f:
        for line in f:
            name, beg, end = line.split()[:3]
            beg, end = int(beg), min(int(end), len(genome[name]))
            n = int(length) or end - beg
            first = max(0, min(beg + (end - beg) // 2 - n // 2, len(genome[name]) - n))
            yield name, genome[name].upper(), first, first + n


def window_of(bases, beg, end, window):
    return max(0, min(beg + (end - beg) // 2 - window // 2, len(bases) - window))


def versions(bases, beg, end, deleted):
    """Yields place, base and edited sequence; first without an edit."""
    yield None, None, bases
    for p in range(beg, end - (deleted or 1) + 1):
        if deleted:
            yield p, None, bases[:p] + bases[p + deleted :]
            continue
        for base in "ACGT":
            if base != bases[p]:
                yield p, base, bases[:p] + base + bases[p + 1 :]


def edited(path, genome_path, bed, window, length, deleted):
    window, number = int(window), 0
    with open(path, "w") as f:
        for _, bases, beg, end in regions(read_fasta(genome_path), bed, length):
            at = window_of(bases, beg, end, window)
            for _, _, changed in versions(bases, beg, end, int(deleted)):
                f.write(f">{number}\n{changed[at : at + window]}\n")
                number += 1


def ism(attr, genome_path, bed, window, length, deleted, width, predictions, dataset):
    window, deleted, width = int(window), int(deleted), int(width)
    got = np.load(attr)["arr_0"]
    with h5py.File(predictions) as f:
        names = [name.decode() for name in f["prediction/datasets"][:]]
        values = f["prediction/predictions"][:, :, names.index(dataset)]
    number = 0
    wanted = np.zeros_like(got, np.float64)
    for r, (_, bases, beg, end) in enumerate(regions(read_fasta(genome_path), bed, length)):
        at = window_of(bases, beg, end, window)
        first = beg + (end - beg) // 2 - width // 2 - at
        y = {}
        for p, base, changed in versions(bases, beg, end, deleted):
            mean = mean_of_strands(values[2 * number : 2 * number + 2], len(changed[at : at + window]))
            y[p, base] = np.log(mean[max(0, first) : first + width].astype(np.float64).sum())
            number += 1
        for p in range(beg, end):
            if deleted:
                losses = [y[None, None] - y[q, None] for q in range(p - deleted + 1, p + 1) if (q, None) in y]
                if bases[p] in "ACGT" and losses:
                    wanted[r, "ACGT".index(bases[p]), p - beg] = np.mean(losses)
                continue
            four = np.array([y.get((p, base), y[None, None]) for base in "ACGT"])
            wanted[r, :, p - beg] = four - four.mean()
    assert 2 * number == len(values)
    error, largest = np.abs(got - wanted).max(), np.abs(wanted).max()
    assert error < 1e-6 and error < largest / 50, f"scores of up to {largest} differ by {error}"


def forms(directory, dump, genome_path, bed, length):
    scores, one_hot = (np.load(f"{directory}/{name}.npz")["arr_0"] for name in ("attr", "ohe"))
    assert scores.dtype == one_hot.dtype == np.float32 and scores.shape == one_hot.shape
    sums, counts = {}, {}
    placed = list(regions(read_fasta(genome_path), bed, length))
    with open(bed) as f, open(f"{directory}/regions.bed") as g:
        columns = [line.split() for line in f]
        names = [line[3] if len(line) > 3 else "." for line in columns]
        wanted = [f"{s}\t{beg}\t{end}\t{name}\t0\t.\t0\t-1\t-1\t{(end - beg) // 2}\n" for (s, _, beg, end), name in zip(placed, names)]
        assert g.readlines() == wanted
    for r, (name, bases, beg, end) in enumerate(placed):
        for i, p in enumerate(range(beg, end)):
            column = [float(bases[p] == c) for c in "ACGT"]
            assert (one_hot[r, :, i] == column).all(), (r, i)
            if sum(column):
                key = name, p
                sums[key] = sums.get(key, 0) + np.float64((scores[r, :, i] * one_hot[r, :, i]).sum())
                counts[key] = counts.get(key, 0) + 1
    with h5py.File(f"{directory}/scores.h5") as f:
        assert f["raw/seq"].dtype == np.int8 and (f["raw/seq"][:] == one_hot).all()
        assert (f["shap/seq"][:] == scores).all()
        assert (f["projected_shap/seq"][:] == scores * one_hot).all()
    found = {}
    with open(dump) as f:
        for line in f:
            name, beg, end, value = line.split()
            for p in range(int(beg), int(end)):
                found[name, p] = float(value)
    assert found.keys() == sums.keys(), found.keys() ^ sums.keys()
    for key, value in found.items():
        assert abs(value - sums[key] / counts[key]) < 1e-6, key


def main(action, *args):
    return ACTIONS[action](*args)


ACTIONS = {f.__name__: f for f in (edited, ism, forms)}
if __name__ == "__main__":
    serve.run(main)
