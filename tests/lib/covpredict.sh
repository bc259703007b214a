# shellcheck shell=sh
# covpredict.sh - what the tests of covpredict have in common; after tap.sh.
# SPDX-License-Identifier: MIT

# Of h5_equal.py, which the script has started.
same() { # NAME A B
    ok "$1" ask "$2" "$3"
}

# FASTA of 8 sequences around lengths of 1008 and its multiples, with letters of all kinds.
odd_lengths() { # SEED
    awk -v seed="$1" 'BEGIN {
        srand(seed)
        n = split("A C G T a c g t N R", letter, " ")
        split("4000 1 999 1008 1009 2500 37 7777", length_of, " ")
        for (s = 1; s <= 8; s++) {
            printf ">c%d\n", s
            for (i = 1; i <= length_of[s]; i++)
                printf "%s%s", letter[1 + int(rand() * (rand() < 0.9 ? 8 : n))], \
                    i % 60 == 0 || i == length_of[s] ? "\n" : ""
        }
    }'
}
