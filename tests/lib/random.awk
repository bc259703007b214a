# random.awk - random numbers that are the same in every awk, unlike those of awk itself (Lehmer's generator, whose
# products are exact as doubles). In scripts with tap.sh: awk "$random"'BEGIN { seed(3); letters(100, "ACGT") }'
# SPDX-License-Identifier: MIT
function seed(n) {
    state = 1 + (n * 69069 + 12345) % 2147483646
    random() # so that seeds that follow each other do not begin the same
    random()
}
function random() { # at least 0 and less than 1
    state = state * 48271 % 2147483647
    return (state - 1) / 2147483646
}
function letter(of) {
    return substr(of, 1 + int(random() * length(of)), 1)
}
function letters(n, of) { # prints n letters, without a newline
    while (n-- > 0)
        printf "%s", letter(of)
}
function record(name, n, of) { # prints FASTA, of the letters ACGT by default
    printf ">%s\n", name
    letters(n, of ? of : "ACGT")
    print ""
}
