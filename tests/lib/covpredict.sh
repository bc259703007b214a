# shellcheck shell=sh
# covpredict.sh - functions for the tests of covpredict; source it after tap.sh.
# SPDX-License-Identifier: MIT
: "${random:?}"

# The script must have started h5_equal.py.
same() { # NAME A B
    ok "$1" ask "$2" "$3"
}

# Prints FASTA: 8 sequences with many kinds of letters and lengths around multiples of 1008.
odd_lengths() { # SEED
    awk -v from="$1" "$random"'BEGIN {
        seed(from)
        split("4000 1 999 1008 1009 2500 37 7777", length_of, " ")
        for (s = 1; s <= 8; s++) {
            printf ">c%d some words\n", s
            for (i = 1; i <= length_of[s]; i++)
                printf "%s%s", letter(random() < 0.9 ? "ACGTacgt" : "ACGTacgtNR"), \
                    (i % 60 == 0 || i == length_of[s]) ? "\n" : ""
        }
    }'
}
