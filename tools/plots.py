#!/usr/bin/env python3
"""The plots of docs/control.md: runs the examples that write tables and draws these as SVG.

Usage: tools/plots.py draw  --examples DIR --models DIR   writes docs/plots/NAME.svg
       tools/plots.py check --examples DIR --models DIR   fails where what is drawn there is not what comes out today
DIR of the examples has the programs, DIR of the models is where they run: models/ is in it.
"""

import argparse
import csv
import math
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PLOTS = ROOT / "docs/plots"
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 220, 64, 130, 14, 40  # pixels of a panel and of its margins
COLOURS = ["#1b6ca8", "#d1495b", "#3c8d5a", "#8e5ea2", "#e08e2b", "#4b4b4b", "#00a2a2"]
CLOSE = 1.5  # pixels by which points may differ from one processor to the next


# What is drawn of each program's table, a panel each: label of its axis, columns.
PANELS = {
    "balance": [("angle, rad", ["shoulder", "elbow"]), ("torque, N m", ["torque"])],
    "trajectory": [("torque, N m", ["shoulder", "elbow"]), ("distance to go, m", ["distance"])],
}


def table(program, models):
    """The columns of the table that a program writes."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "table.csv")
        subprocess.run([program, path], cwd=models, check=True, stdout=subprocess.DEVNULL)
        rows = list(csv.reader(path.open()))
    return {name: [float(row[i]) for row in rows[1:]] for i, name in enumerate(rows[0])}


def ticks(low, high):
    """Some five round numbers from low to high."""
    rough = (high - low) / 5
    power = 10 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= rough)
    first = math.ceil(low / step - 1e-9)
    return [i * step for i in range(first, math.floor(high / step + 1e-9) + 1)]


def panel(columns, label, names, top, last):
    """The lines of SVG for one panel."""
    times = columns["time"]
    values = [v for name in names for v in columns[name]]
    low, high = min(values + [0]), max(values + [0])
    margin = 0.05 * (high - low)
    low, high = low - margin, high + margin
    right, bottom = WIDTH - RIGHT, top + HEIGHT - BOTTOM

    def x(t):
        return LEFT + (t - times[0]) / (times[-1] - times[0]) * (right - LEFT)

    def y(v):
        return bottom - (v - low) / (high - low) * (bottom - top - TOP)

    out = []
    for v in ticks(low, high):
        out.append(f'<path d="M{LEFT} {y(v):.1f}H{right}" stroke="#ddd"/>')
        out.append(f'<text x="{LEFT - 6}" y="{y(v) + 4:.1f}" text-anchor="end">{v:.6g}</text>')
    for t in ticks(times[0], times[-1]):
        out.append(f'<path d="M{x(t):.1f} {bottom}v4" stroke="#888"/>')
        out.append(f'<text x="{x(t):.1f}" y="{bottom + 17}" text-anchor="middle">{t:.6g}</text>')
    out.append(f'<path d="M{LEFT} {top + TOP}V{bottom}H{right}" stroke="#888" fill="none"/>')
    for i, name in enumerate(names):
        points = " ".join(f"{x(t):.1f},{y(v):.1f}" for t, v in zip(times, columns[name]))
        out.append(f'<polyline points="{points}" fill="none" stroke="{COLOURS[i]}" stroke-width="1.5"/>')
        out.append(f'<text x="{right + 10}" y="{top + TOP + 14 + 18 * i}" fill="{COLOURS[i]}">{name}</text>')
    middle = (top + TOP + bottom) / 2
    out.append(f'<text transform="translate(14 {middle}) rotate(-90)" text-anchor="middle">{label}</text>')
    if last:
        out.append(f'<text x="{(LEFT + right) / 2}" y="{bottom + 34}" text-anchor="middle">time, s</text>')
    return out


def drawing(name, columns):
    """The SVG of a program's table."""
    panels = PANELS[name]
    height = HEIGHT * len(panels)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
           f'viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="12">',
           f'<rect width="{WIDTH}" height="{height}" fill="white"/>']
    for i, (label, names) in enumerate(panels):
        out += panel(columns, label, names, HEIGHT * i, i + 1 == len(panels))
    return "\n".join(out + ["</svg>", ""])


def points_of(svg):
    return [[tuple(map(float, p.split(","))) for p in line.split()] for line in re.findall(r'points="([^"]*)"', svg)]


def same(a, b):
    """Whether two drawings show the same: each line's points within some pixels."""
    a, b = points_of(a), points_of(b)
    return len(a) == len(b) and all(
        len(p) == len(q) and all(math.dist(u, v) <= CLOSE for u, v in zip(p, q)) for p, q in zip(a, b))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["draw", "check"])
    parser.add_argument("--examples", type=pathlib.Path, required=True)
    parser.add_argument("--models", type=pathlib.Path, required=True)
    options = parser.parse_args()
    stale = []
    for name in PANELS:
        svg = drawing(name, table(options.examples.resolve() / name, options.models))
        path = PLOTS / f"{name}.svg"
        if options.command == "draw":
            path.parent.mkdir(exist_ok=True)
            path.write_text(svg)
        elif not path.is_file() or not same(svg, path.read_text()):
            stale.append(str(path.relative_to(ROOT)))
    if stale:
        sys.exit(f"{', '.join(stale)} shows what the examples do not give: `tools/plots.py draw` draws it again")


if __name__ == "__main__":
    main()
