"""logo_letters.py - prints the letters of a logo in an SVG of coveffect, row by row from left to right, each after + (upright) or -
(upside down).

    logo_letters.py FILE.svg

A letter is some polygons of one colour. The first polygon of each colour in a row, which is flat, marks the zero line. More than 120
bases are in rows of the same number of bases.

SPDX-License-Identifier: MIT"""
import re
import sys

COLOURS = {"16,150,72": "A", "37,92,153": "C", "247,179,43": "G", "214,40,57": "T"}
LEFT, WIDTH = 70, 960  # of the axis, in pixels
FLAT = 2  # pixels: a letter this near to the zero line may be flat, too


def polygons(text):
    """Yields letter and corners."""
    for colour, points in re.findall(r"<polygon fill = 'rgb\((.*?)\)'.*?points = '(.*?)'", text, re.S):
        letter = COLOURS.get(colour.replace(" ", ""))
        if letter:
            yield letter, [tuple(map(float, point.split(","))) for point in points.split()]


def main(path):
    with open(path) as f:
        text = f.read()
    (n,) = re.findall(r">([0-9]+) bases; the height", text)
    n_rows = -(-int(n) // 120)
    found, zero, row, width = {}, None, -1, -(-int(n) // n_rows)
    for letter, corners in polygons(text):
        xs, ys = zip(*corners)
        if min(ys) == max(ys) and (zero is None or abs(ys[0] - zero) > FLAT):
            row += 1
            zero = ys[0]
        if min(ys) == max(ys) == zero:
            continue
        place = row * width + int(((min(xs) + max(xs)) / 2 - LEFT) * width / WIDTH)
        drawn = ("+" if sum(ys) / len(ys) < zero else "-") + letter
        assert found.setdefault(place, drawn) == drawn, (place, drawn)
    assert row + 1 == n_rows, (row, n_rows)
    print("".join(found[place] for place in sorted(found)))


main(sys.argv[1])
