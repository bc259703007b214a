# poisson.awk - random numbers for sam.awk: the same ones each time, on every machine.
# SPDX-License-Identifier: MIT

# Of Park and Miller: exact in doubles. The caller sets seed, to 1 or more.
function uniform()
{
    seed = (seed * 16807) % 2147483647
    return seed / 2147483647
}

function poisson(mean,    limit, product, n)
{
    limit = exp(-mean)
    n = 0
    for (product = uniform(); product > limit; product *= uniform())
        n++
    return n
}
