#!/usr/bin/python3
"""Checks the output directory of `benchmark`.

usage: benchmark_check.py DIRECTORY SUBCOMMAND,... [NAME...]

Checks that the figures of benchmark.json are well-formed, that their names begin with one of the subcommands, and that
the NAMEs are among them; that the table has the same figures; and that report.html is well-formed
and self-contained. Prints the number of pictures in report.html.
SPDX-License-Identifier: MIT"""

import json
import math
import sys
import xml.etree.ElementTree

directory, prefix, *names = sys.argv[1:]
b = json.load(open(directory + "/benchmark.json"))
assert isinstance(b["machine"], dict) and b["machine"]["cpu"], b["machine"]
assert b["machine"]["probes"]["fp32_gflops"] > 0 and b["machine"]["probes"]["memory_gb_per_second"] > 0
for f in b["figures"]:
    assert f["name"].startswith(tuple(p + "/" for p in prefix.split(","))), f
    assert f["better"] in ("higher", "lower") and isinstance(f["unit"], str), f
    assert f["n"] == len(f["values"]) > 0 and all(map(math.isfinite, f["values"])), f
    v = sorted(f["values"])
    assert f["low"] == v[0] and f["high"] == v[-1] and f["low"] <= f["median"] <= f["high"], f
    assert abs(f["median"] - (v[(len(v) - 1) // 2] + v[len(v) // 2]) / 2) <= 1e-12 * abs(f["median"]), f
found = {f["name"]: f for f in b["figures"]}
assert len(found) == len(b["figures"])
for name in names:
    assert name in found, (name, list(found))
table = [line.rstrip("\n").split("\t") for line in open(directory + "/benchmark.tsv")]
assert table[0] == ["name", "unit", "better", "n", "median", "low", "high"], table[0]
assert [row[0] for row in table[1:]] == [f["name"] for f in b["figures"]]
page = xml.etree.ElementTree.parse(directory + "/report.html").getroot()
svgs = page.findall(".//{http://www.w3.org/2000/svg}svg")
ids = [x.get("id") for x in page.iter() if x.get("id")]
assert len(ids) == len(set(ids)), "duplicate ids"
text = open(directory + "/report.html").read()
assert "src=" not in text and 'href="http' not in text
print(len(svgs))
