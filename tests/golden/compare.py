#!/usr/bin/python3
"""compare.py OLD NEW OLD_VERSION NEW_VERSION - compares what two builds wrote, for compare.sh.

OLD and NEW are directories, in which each command has a directory of its outputs; the names of commands are read from standard
input. The versions are what `covpredict --version` prints. Prints a line per command. Files are compared as bytes, except
for versions and times: those of HDF5 as names, types, shapes, filters, values and attributes; zip and gzip by what they
contain; JSON by its values; messages without their numbers.
SPDX-License-Identifier: MIT"""

import gzip
import io
import json
import os
import re
import sys
import zipfile

import h5py

# Attributes, and values of JSON, that differ between two runs of the same build.
ATTRIBUTES_VARY = {"timestamp", "covtools_version"}
JSON_VARIES = re.compile(r"(version|device|.*seconds|peak_rss_bytes|.*_per_second|stages|threads_busy|time.*|.*_ms)$")


def hdf5(data):
    """Returns what an HDF5 file contains, by names."""
    contents = {}
    with h5py.File(io.BytesIO(data), "r") as f:

        def visit(name, item):
            contents.update({f"{name} attribute {k}": repr(v) for k, v in item.attrs.items() if k not in ATTRIBUTES_VARY})
            if isinstance(item, h5py.Dataset):
                plan = item.id.get_create_plist()
                contents[name + " type"] = (str(item.dtype), item.shape, item.chunks, repr(item.fillvalue))
                contents[name + " filters"] = [plan.get_filter(i) for i in range(plan.get_nfilters())]
                contents[name + " values"] = values(item)

        visit("file", f)
        f.visititems(visit)
    return contents


def values(item):
    try:
        return item[()].tobytes() if item.shape else repr(item[()])
    except OSError:  # a filter that h5py lacks
        return [item.id.read_direct_chunk(item.id.get_chunk_info(i).chunk_offset) for i in range(item.id.get_num_chunks())]


def without_times(value):
    if isinstance(value, dict):
        return {k: without_times(v) for k, v in value.items() if not JSON_VARIES.match(k)}
    return [without_times(v) for v in value] if isinstance(value, list) else value


def contents_of(name, data, versions):
    """Returns the parts of a file that must be the same."""
    if data.startswith(b"\x89HDF"):
        return hdf5(data)
    if data.startswith(b"PK\x03\x04"):
        with zipfile.ZipFile(io.BytesIO(data)) as z:
            return {i.filename: (i.compress_type, contents_of(i.filename, z.read(i), versions)) for i in z.infolist()}
    if data.startswith(b"\x1f\x8b"):
        return {"": contents_of(name[: -len(".gz")], gzip.decompress(data), versions)}
    for word in versions:  # pickles have the length of a text before it
        data = data.replace(len(word).to_bytes(4, "little") + word, b"VERSION").replace(word, b"VERSION")
    if name.endswith(".json"):
        return without_times(json.loads(data))
    if name.endswith(".jsonl"):
        return {f"line {i}": without_times(json.loads(line)) for i, line in enumerate(data.splitlines(), 1)}
    if name == "stderr":  # progress is printed every 30 s
        return re.sub(rb"[0-9]+([.][0-9]+)?", b"N", re.sub(rb".*/s, .* left\n", b"", data))
    return data


def difference(a, b):
    """Says what differs between two contents."""
    if isinstance(a, dict) and isinstance(b, dict):
        parts = [k for k in dict.fromkeys([*a, *b]) if k not in a or k not in b or a[k] != b[k]]
        if not parts:
            return "order"
        k = parts[0]
        first = difference(a[k], b[k]) if k in a and k in b else f"only in {'OLD' if k in a else 'NEW'}"
        return f"{k} {first}" + (f"; also {', '.join(parts[1:4])}{', ...' * (len(parts) > 4)}" if parts[1:] else "")
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)) and len(a) == len(b):
        return difference({str(i): v for i, v in enumerate(a)}, {str(i): v for i, v in enumerate(b)})
    if isinstance(a, bytes) and isinstance(b, bytes):
        return first_difference(a, b)
    return f"{a!r:.150} and {b!r:.150}"


def first_difference(a, b):
    at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    if b"\0" in a + b:
        return f"byte {at} of {len(a)} and {len(b)}"
    lines = [data[data.rfind(b"\n", 0, at) + 1:].split(b"\n")[0][:100].decode(errors="replace") for data in (a, b)]
    return f"line {a.count(10, 0, at) + 1}: {lines[0]!r} and {lines[1]!r}"


def files_of(directory):
    return {os.path.relpath(os.path.join(f, name), directory) for f, _, names in os.walk(directory) for name in names}


def read(path):
    with open(path, "rb") as f:
        return f.read()


def first_line_of(path):
    return read(path).decode(errors="replace").split("\n")[0]


def compare(old, new, versions):
    """Returns what differs between two directories, or None."""
    a, b = files_of(old), files_of(new)
    for name in sorted(a ^ b):
        return f"{name} is only in {'OLD' if name in a else 'NEW'}"
    for name in ["status", *sorted(a - {"status"})]:
        x, y = read(f"{old}/{name}"), read(f"{new}/{name}")
        if x != y:
            x, y = contents_of(name, x, versions), contents_of(name, y, versions)
            if x != y:
                return f"{name}: {difference(x, y)}"
    return None


def words_of(version):
    """The version and the commit that `--version` prints."""
    lines = version.encode().splitlines()
    return [lines[0].split()[-1], *(line.split()[-1] for line in lines[1:2])]


def main():
    old, new = sys.argv[1:3]
    versions = sorted({word for v in sys.argv[3:5] for word in words_of(v)}, key=len, reverse=True)
    n = n_differ = n_failing = n_lacking = 0
    name = None
    for name in map(str.strip, sys.stdin):
        if name == "end":
            break
        n += 1
        status = [read(f"{directory}/{name}/status").decode().strip() for directory in (old, new)]
        what = compare(f"{old}/{name}", f"{new}/{name}", versions)
        if what and status == ["2", "0"]:
            n_lacking += 1
            what = "not in OLD: " + first_line_of(f"{old}/{name}/stderr")
        elif what:
            n_differ += 1
            what = f"DIFFERS: {what}"
        elif status[1] != "0":
            n_failing += 1
            what = f"FAILS in both (status {status[1]}): " + first_line_of(f"{new}/{name}/stderr")
        else:
            what = "equal"
        print(f"{name:28} {what}", flush=True)
    if name != "end" or n == 0:
        sys.exit("golden: stopped early" if n else "golden: no such command")
    lacking = f" ({n_lacking} of {n} not in OLD)" if n_lacking else ""
    faults = [f"{k} of {n} {what}" for k, what in ((n_differ, "differ"), (n_failing, "fail in both")) if k]
    print(f"golden: {', '.join(faults) or 'equal'}{lacking}")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
