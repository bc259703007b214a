# cpg.awk - counts CpG in a FASTA, and computes the expected output of make_ckpt's network cpg, without covtools.
#
#   awk -v flank=100 -v L=21384 -v what=count|coverage -f cpg.awk genome.fa
#
# For each base, n is the number of CG within `flank` bases of it and within its chunk of L bases. Prints a bedGraph of
# n, or of 2^(n / 4) rounded.
# SPDX-License-Identifier: MIT

BEGIN { split("1 1.189207115002721 1.4142135623730951 1.681792830507429", root, " ") } # 2^(k / 4); not every awk has ^

function value(n,    x, i)
{
    x = root[n % 4 + 1]
    for (i = 4; i <= n; i += 4)
        x *= 2
    return what == "count" ? n : int(x + 0.5)
}

function run(end)
{
    if (end > beg)
        printf "%s\t%d\t%d\t%d\n", name, beg, end, current
    beg = end
}

# before[i]: number of CG of the chunk that end at or before position i (0-based, half-open).
function chunk(from, bases,    n, i, low, high, v)
{
    n = length(bases)
    before[0] = before[1] = 0
    for (i = 2; i <= n; i++)
        before[i] = before[i - 1] + (substr(bases, i - 1, 2) == "CG")
    for (i = 0; i < n; i++) {
        low = i - flank > 0 ? i - flank : 0
        high = i + flank + 1 < n ? i + flank + 1 : n
        # CG that end by `high`, minus those that begin before `low`.
        v = value(before[high] - before[low + 1 < high ? low + 1 : high])
        if (v != current) {
            run(from + i)
            current = v
        }
    }
    return from + n
}

function flush()
{
    if (pending != "")
        at = chunk(at, pending)
    pending = ""
    run(at)
}

/^>/ {
    flush()
    name = substr($1, 2)
    at = beg = 0
    current = -1
    next
}

{
    pending = pending toupper($0)
    while (length(pending) >= L) {
        at = chunk(at, substr(pending, 1, L))
        pending = substr(pending, L + 1)
    }
}

END { flush() }
