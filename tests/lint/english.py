#!/usr/bin/python3
"""Finds odd phrases in comments, messages and documents.

usage: english.py ROOT [PATH...]

english.txt lists them with better words. Checks the files that git tracks below ROOT, or only the given paths (files or
directories, relative to ROOT). Prints one line per finding, and exits with status 1 if there is one.
SPDX-License-Identifier: MIT"""

import os
import re
import subprocess
import sys

CODE = (".c", ".h", ".cu", ".cc")
SCRIPTS = (".sh", ".py", ".t", ".awk", ".smk", ".nf", ".yaml", ".yml", ".mk", "Makefile", "Snakefile", "run")
TEXTS = (".md", ".1", ".5", ".7")
# Comments and string literals, so that a quote in a comment does not start a string.
C_TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.S)


def read_phrases(path):
    """Returns [(compiled pattern, better words)]."""
    phrases = []
    with open(path, encoding="utf-8") as f:
        for line in f:
            if line.strip() and not line.startswith("#"):
                pattern, better = line.rstrip("\n").split("\t")
                phrases.append((re.compile(rf"\b(?:{pattern.replace(' ', chr(92) + 's+')})\b", re.I), better))
    return phrases


def text_of(path, source):
    """Returns the comments and strings of a file, at the same offsets as in `source`; the rest is blank."""
    if path.endswith(CODE):
        kept = [" " if c != "\n" else c for c in source]
        for match in C_TEXT.finditer(source):
            kept[match.start():match.end()] = source[match.start():match.end()]
        source = "".join(kept)
    # Blanks the marks at the start of comment lines, and the gaps between adjacent string literals.
    source = re.sub(r"(?m)^([ \t]*)(\*|//|#|\.\\\")(?=\s)", lambda m: m.group(1) + " " * len(m.group(2)), source)
    return re.sub(r'"\s*\n\s*"', lambda m: re.sub(r"[^\n]", " ", m.group()), source)


def tracked(root, paths):
    listed = subprocess.run(["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard",
                             "--", *paths], check=True, capture_output=True, text=True).stdout
    for path in sorted(set(filter(None, listed.split("\0")))):
        if path.endswith(CODE + SCRIPTS + TEXTS) and not path.startswith(("tests/lint/english", "tests/data/")):
            yield path


def main(root, paths):
    phrases = read_phrases(os.path.join(os.path.dirname(os.path.abspath(__file__)), "english.txt"))
    findings = 0
    for path in tracked(root, paths):
        full = os.path.join(root, path)
        if not os.path.isfile(full):
            continue
        with open(full, encoding="utf-8", errors="replace") as f:
            text = text_of(path, f.read())
        for pattern, better in phrases:
            for match in pattern.finditer(text):
                line = text.count("\n", 0, match.start()) + 1
                print(f"{path}:{line}: '{' '.join(match.group().split())}': {better}")
                findings += 1
    return 1 if findings else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: english.py ROOT [PATH...]")
    sys.exit(main(sys.argv[1], sys.argv[2:]))
