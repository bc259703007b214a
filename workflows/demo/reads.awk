# reads.awk - what sequencing might have measured where the coverage is that of a bedGraph.
#
#   awk -v length_of_read=100 -f poisson.awk -f reads.awk coverage.bedGraph
#
# About each base as many reads lie as a Poisson distribution gives, whose mean is the coverage over their
# length. Prints the bedGraph of their depth: the same one each time: poisson.awk.
# SPDX-License-Identifier: MIT

function run(end)
{
    if (end > beg)
        printf "%s\t%d\t%d\t%d\n", name, beg, end, shown
    beg = end
}

# `n` reads lie about base `at`: with that the depth of the base half a read before it is known.
function step(n,    base)
{
    depth += n - reads[at % length_of_read]
    reads[at % length_of_read] = n
    base = at++ - half
    if (base >= 0 && depth != shown) {
        run(base)
        shown = depth
    }
}

function finish(    end)
{
    for (end = at; at < end + half;)
        step(0)
    run(end)
}

BEGIN {
    seed = 20240229
    half = length_of_read / 2
}

$1 != name {
    if (name != "")
        finish()
    name = $1
    at = beg = depth = shown = 0
    for (i = 0; i < length_of_read; i++)
        reads[i] = 0
}

{
    for (i = $2; i < $3; i++)
        step(poisson($4 / length_of_read))
}

END { finish() }
