#!/usr/bin/python3
"""Checks that the man pages agree with the option tables of the programs.

usage: man_pages.py BIN [PAGE...]

Every program in the directory BIN needs a page man/PROGRAM.1 among the pages. The entries of its OPTIONS section (.TP, then
a line with the names) must be the options of `PROGRAM --help-machine`, with the same short names, the same name of the
value, every choice, and the default as "(default: X)", in words only where --help has it in words; its NAME line must be the summary of `--help`.
The page of a program with subcommands (listed by `PROGRAM --help-machine`) has a section per subcommand, its name in
capitals, with its options, and a section COMMON OPTIONS for shared ones; an option that some subcommands lack lists them, in
the order of the list, as "(not in X, Y)". SYNOPSIS names all subcommands.
Prints one line per finding, and exits with status 1 if there is one.
SPDX-License-Identifier: MIT"""

import os
import re
import subprocess
import sys


def plain(roff):
    """Returns a line of man(7) source as plain text."""
    text = re.sub(r"^\.(?:[BI]|SM|SB)\s+", "", roff)
    match = re.match(r"^\.(?:[BIR][BIR])\s+(.*)", roff)
    if match:  # alternating fonts: the words are joined
        words = re.findall(r'"((?:[^"]|"")*)"|(\S+)', match.group(1))
        text = "".join(a or b for a, b in words)
    text = re.sub(r"\\f(?:\[\w*\]|\(..|.)", "", text)
    text = re.sub(r"\\s[+-]?\d", "", text)
    for escape, char in ((r"\-", "-"), (r"\(aq", "'"), (r"\(dq", '"'), (r"\(bu", "*"), (r"\(en", "-"),
                         (r"\(ti", "~"), (r"\(ha", "^"), (r"\(rs", "\\"), (r"\(or", "|"), (r"\[or]", "|"),
                         (r"\|", ""), (r"\&", ""), (r"\:", ""), (r"\%", ""), (r"\,", ""), (r"\/", ""),
                         (r"\ ", " "), (r"\~", " "), (r"\e", "\\"), ('\\"', '"')):
        text = text.replace(escape, char)
    return text


def sections(page):
    """{name: [source line]}"""
    found, name = {}, None
    with open(page, encoding="utf-8") as f:
        for line in f.read().splitlines():
            if line.startswith('.\\"'):
                continue
            match = re.match(r'^\.SH\s+"?([^"]+?)"?\s*$', line)
            if match:
                name = match.group(1)
                found[name] = []
            elif name:
                found[name].append(line)
    return found


def entries(lines):
    """[(tag, text)] of the .TP paragraphs."""
    found, want_tag = [], False
    for line in lines:
        if re.match(r"^\.(TP|SS|PP|P|LP)\b", line):
            want_tag = line.startswith(".TP")
            if not want_tag:
                found.append(None)  # text outside of options
        elif want_tag:
            found.append([plain(line), ""])
            want_tag = False
        elif found and found[-1] and not re.match(r"^\.(RS|RE|br|sp|nf|fi)\b", line):
            found[-1][1] += " " + plain(line)
    return [(tag, re.sub(r"\s+", " ", text)) for tag, text in filter(None, found)]


def program_output(program, *arguments):
    run = subprocess.run([program, *arguments], stdout=subprocess.PIPE, check=True)
    return run.stdout.decode()


def machine_rows(program, *arguments):
    text = program_output(program, *arguments, "--help-machine")
    return [line.split("\t") for line in text.splitlines()]


def check_option(row, tag, text):
    """Yields the faults of the entry of one option."""
    name, letter, _, metavar, default, choices, _, help_text = row[:8]
    if letter != "-" and not re.search(rf"(?<![\w-])-{re.escape(letter)}(?![\w-])", tag):
        yield f"--{name}: the short name -{letter} is missing"
    if letter == "-" and re.search(r"(?<![\w-])-[^-\s]", tag):
        yield f"--{name}: has no short name"
    if metavar != "-" and metavar not in tag:
        yield f"--{name}: the value {metavar} is missing in '{tag}'"
    if choices != "-":
        for choice in choices.split("|"):
            if not re.search(rf"(?<![\w-]){re.escape(choice)}(?![\w-])", tag + text):
                yield f"--{name}: the choice {choice} is missing"
    stated = re.findall(r"\(default: (.*?)\)", text)
    wanted = [default] if default != "-" else []
    in_words = not wanted and len(stated) == 1 and "(default: " in help_text
    if stated != wanted and not in_words:
        yield f"--{name}: states the default {stated}, expected {wanted}"


def read_options(lines, found):
    """Fills found with {option: (tag, text)}; yields faults."""
    for tag, text in entries(lines):
        for option in re.findall(r"--([a-z0-9][a-z0-9-]*)", tag):
            if option in found:
                yield f"--{option} has two entries"
            found[option] = (tag, text)


def check_subcommands(program, parts, rows):
    """Yields the faults of the page of a program with subcommands; rows: [[name, summary]]."""
    common, lacking = {}, {}
    yield from read_options(parts.get("COMMON OPTIONS", []), common)
    synopsis = " ".join(" ".join(map(plain, parts.get("SYNOPSIS", []))).split())
    for sub, summary in rows:
        if f"{os.path.basename(program)} {sub} " not in synopsis + " ":
            yield f"SYNOPSIS lacks {sub}"
        if sub.upper() not in parts:
            yield f"no section {sub.upper()}"
        own = {}
        for text in read_options(parts.get(sub.upper(), []), own):
            yield f"{sub}: {text}"
        if not program_output(program, sub, "--help").startswith(
                f"{os.path.basename(program)} {sub} - {summary}\n"):
            yield f"{sub}: --help has another summary"
        taken = set()
        for row in machine_rows(program, sub):
            taken.add(row[0])
            entry = own.pop(row[0], None) or common.get(row[0])
            for text in check_option(row, *entry) if entry else [f"--{row[0]} is missing"]:
                yield f"{sub}: {text}"
        for option in own:
            yield f"{sub}: --{option} is not an option"
        for option in set(common) - taken - {"version"}:  # listed by the program
            lacking.setdefault(option, []).append(sub)
    for option, (_, text) in common.items():
        stated = re.findall(r"\(not in (.*?)\)", text)
        wanted = [", ".join(lacking[option])] if option in lacking else []
        if stated != wanted:
            yield f"--{option}: states that {stated} lack it, expected {wanted}"


def check_page(program, page):
    """Yields the faults of a page."""
    name = os.path.basename(program)
    parts = sections(page)
    summary = program_output(program, "--help").splitlines()[0]
    if " ".join(map(plain, parts.get("NAME", []))) != summary:
        yield f"NAME is not '{summary}'"
    rows = machine_rows(program)
    if rows and len(rows[0]) == 2:
        yield from check_subcommands(program, parts, rows)
        return
    documented = {}
    yield from read_options(parts.get("OPTIONS", []), documented)
    for row in rows:
        if row[0] in documented:
            yield from check_option(row, *documented.pop(row[0]))
        else:
            yield f"--{row[0]} is missing"
    for option in documented:
        yield f"--{option} is not an option"


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: man_pages.py BIN [PAGE...]")
    directory = sys.argv[1]
    pages = {os.path.basename(p): p for p in sys.argv[2:]}
    failed = False
    for name in sorted(os.listdir(directory)) if os.path.isdir(directory) else []:
        page = pages.get(name + ".1")
        findings = check_page(os.path.join(directory, name), page) if page else ["no man page"]
        for text in findings:
            print(f"{page or name}: {text}")
            failed = True
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
