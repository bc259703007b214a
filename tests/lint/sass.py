#!/usr/bin/python3
"""Compares the machine code of the GPU kernels with a table: registers, spilled bytes, and the instructions of each
kernel's main loop. A change of a kernel that makes it slower shows here even without a GPU.

usage: sass.py [--write] VERSION TABLE CUBIN...

CUBIN.log is what ptxas -v printed for CUBIN. --write replaces the table. Numbers depend on the version of nvcc, so
another version than the table's is reported as SKIP. The main loop is the one with the most products of tensor cores,
or else the most fused multiply-adds; of several, the smallest.
SPDX-License-Identifier: MIT"""

import re
import struct
import sys

# The low nine bits of an instruction's opcode (sm_70 and later; nvdisasm names them). Products are HMMA, and HGMMA of
# warpgroups.
BRANCH = 0x147
COUNTED = {"products": (0x03C, 0x1F0), "fma": (0x023,), "special": (0x108,)}
COLUMNS = ["registers", "spilled", "instructions", "loop", *COUNTED]


def short_name(mangled):
    """gemm_mma<0, 128> for _Z8gemm_mmaILi0ELi128EEv..."""
    m = re.match(r"_Z(\d+)", mangled)
    if not m:
        return mangled
    end = m.end() + int(m[1])
    name, rest, values = mangled[m.end():end], mangled[end:], []
    if rest.startswith("I"):
        rest = rest[1:]
        while m := re.match(r"L[ib](\d+)E|([fd])", rest):
            values.append(m[1] or {"f": "float", "d": "double"}[m[2]])
            rest = rest[m.end():]
    return f"{name}<{','.join(values)}>" if values else name


def code_sections(cubin):
    """Yields (mangled name, code) of each kernel of an ELF file."""
    with open(cubin, "rb") as f:
        data = f.read()
    table, = struct.unpack_from("<Q", data, 0x28)
    size, n, of_names = struct.unpack_from("<HHH", data, 0x3A)
    sections = [struct.unpack_from("<IIQQQQ", data, table + i * size) for i in range(n)]
    names = sections[of_names][4]
    for name, _, _, _, offset, length in sections:
        text = data[names + name:data.index(b"\0", names + name)].decode()
        if text.startswith(".text."):
            yield text[len(".text."):], data[offset:offset + length]


def main_loop(code):
    """The number of instructions of a kernel without its padding; of its main loop; and those counted there."""
    words = [int.from_bytes(code[i:i + 16], "little") for i in range(0, len(code), 16)]
    opcodes = [w & 0x1FF for w in words]
    best, last = None, 0
    for i, w in enumerate(words):
        if opcodes[i] != BRANCH:
            last = i
            continue
        offset = (w >> 34 & (1 << 48) - 1) << 8 | w >> 16 & 0xFF
        offset -= 1 << 56 if offset >> 55 else 0
        to = i + 1 + offset * 4 // 16
        if to < i: # a branch to itself is padding
            counts = tuple(sum(o in counted for o in opcodes[to:i + 1]) for counted in COUNTED.values())
            others = (0, 0) if counts[0] else counts[1:]
            best = max(best or (), (counts[0], *others, to - i - 1, counts))
    return (last + 1, -best[-2], best[-1]) if best else (last + 1, 0, (0,) * len(COUNTED))


def resources(log):
    """{mangled name: (registers, spilled bytes)} from what ptxas -v prints."""
    with open(log, encoding="utf-8") as f:
        text = f.read()
    found = {}
    for part in re.split(r"Compiling entry function '", text)[1:]:
        spilled = re.search(r"(\d+) bytes spill stores, (\d+) bytes spill loads", part)
        found[part.split("'")[0]] = (int(re.search(r"Used (\d+) registers", part)[1]), int(spilled[1]) + int(spilled[2]))
    return found


def measure(cubins):
    rows = {}
    for cubin in cubins:
        used = resources(cubin + ".log")
        for name, code in code_sections(cubin):
            instructions, loop, counts = main_loop(code)
            rows[short_name(name)] = [*used[name], instructions, loop, *counts]
    return rows


def head_of(version):
    return f"# GPU kernels for sm_90a, by nvcc {version} (tests/lint/sass.py; make kernel-table writes this file)"


def read_table(path):
    """The first line and {kernel: numbers}."""
    with open(path, encoding="utf-8") as f:
        lines = f.read().splitlines()
    rows = [line.split() for line in lines if line and not line.startswith("#")]
    return lines[0], {row[0]: [int(v) for v in row[1:]] for row in rows[1:]}


def write_table(path, head, rows):
    width = max(len(name) for name in rows) + 2
    with open(path, "w", encoding="utf-8") as f:
        f.write(head + "\n")
        f.write("# loop: instructions of the main loop; then how many of these are products of tensor cores,\n")
        f.write("# fused multiply-adds, and reciprocals, exponentials and the like.\n")
        for name, values in [("kernel", COLUMNS), *sorted(rows.items())]:
            f.write(name.ljust(width) + "".join(str(v).rjust(len(c) + 2) for v, c in zip(values, COLUMNS)) + "\n")


def compare(table, rows):
    wrong = 0
    for name in sorted({*table, *rows}):
        if name not in rows or name not in table:
            print(f"{name}: not in {'the code' if name in table else 'the table'}")
            wrong = 1
            continue
        for column, want, got in zip(COLUMNS, table[name], rows[name]):
            if want != got:
                print(f"{name}: {column}: {got}, not {want} as in the table")
                wrong = 1
    return wrong


def main(args):
    write = args[:1] == ["--write"]
    version, path, cubins = args[write], args[write + 1], args[write + 2:]
    head, rows = head_of(version), measure(cubins)
    if write:
        write_table(path, head, rows)
        return 0
    there, table = read_table(path)
    if there != head:
        print(f"sass.py: SKIP, nvcc {version} did not make the table")
        return 0
    wrong = compare(table, rows)
    if wrong:
        print("if this is intended: make kernel-table")
    return wrong


sys.exit(main(sys.argv[1:]))
