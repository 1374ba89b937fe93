#!/usr/bin/env python3
"""scaling.py BUILD SVG [key=value ...] - images a second of 1 to 1,024 ranks, as `simulate read|pack` predicts them.

key=value are service times as predict.py prints them; those of packing begin with "pack." (pack.cpu_us=2300). Prints the table of
docs/performance.md, and draws it into SVG.
"""
import math
import pathlib
import subprocess
import sys

RANKS = [2**k for k in range(11)]
COLOURS = {"read": "#c2410c", "pack": "#4b6a88"}
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 880, 400, 90, 180, 40, 50


def simulate(build, kind, words):
    """(images a second, part of the time that one process works alone, limit) for each number of ranks."""
    program = next(path for path in pathlib.Path(build).rglob("simulate") if path.is_file())
    said = subprocess.run([program, kind, "ranks=" + ",".join(map(str, RANKS)), *words], check=True, stdout=subprocess.PIPE,
                          text=True).stdout
    rows = [line.split("\t") for line in said.splitlines()[1:]]
    return [(int(row[1]), row[6], row[-1]) for row in rows]


def table(found):
    print("| ranks | reading, images/s | limited by | packing, images/s | limited by | plan and finish |\n|---|---|---|---|---|---|")
    for ranks, (read, _, read_limit), (pack, alone, pack_limit) in zip(RANKS, found["read"], found["pack"]):
        print(f"| {ranks:,} | {read:,} | {read_limit} | {pack:,} | {pack_limit} | {alone} % |")


DARK = ('<style>@media (prefers-color-scheme: dark) { .paper { fill: #0d1117 } text[fill="#222"] { fill: #e6edf3 } '
        'line { stroke: #30363d } }</style>')


def text(x, y, words, anchor="middle", colour="#222", size=12):
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{colour}">{words}</text>'


def chart(found):
    """Both axes logarithmic; a dashed line is what CPUs alone would give."""
    rates = [rate for rows in found.values() for rate, *_ in rows]
    low, high = math.floor(math.log10(min(rates))), math.ceil(math.log10(max(rates) * 2))

    def x(ranks):
        return LEFT + math.log2(ranks) / 10 * (WIDTH - LEFT - RIGHT)

    def y(rate):
        return HEIGHT - BOTTOM - (min(math.log10(rate), high) - low) / (high - low) * (HEIGHT - TOP - BOTTOM)

    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" '
             'font-family="Helvetica, Arial, sans-serif">', DARK, f'<rect class="paper" width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
             text(LEFT, 22, "Images per second by ranks, predicted; dashed: if all were like the first", "start", size=15),
             text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, "ranks")]
    for power in range(low, high + 1):
        lines += [f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(10**power):.1f}" y2="{y(10**power):.1f}" stroke="#ddd"/>',
                  text(LEFT - 8, y(10**power) + 4, f"{10**power:,}", "end")]
    lines += [text(x(ranks), HEIGHT - BOTTOM + 20, f"{ranks:,}") for ranks in RANKS]
    for kind, rows in found.items():
        for rising, dash in ((False, ""), (True, ' stroke-dasharray="4 4" opacity="0.6"')):
            points = [(x(n), y(rows[0][0] * n if rising else rate)) for n, (rate, *_) in zip(RANKS, rows)
                      if not rising or rows[0][0] * n <= 10**high]
            joined = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
            lines.append(f'<polyline fill="none" stroke="{COLOURS[kind]}" stroke-width="2"{dash} points="{joined}"/>')
        lines.append(text(WIDTH - RIGHT + 10, y(rows[-1][0]) + 4, f"{kind}ing: {rows[-1][2]}", "start", COLOURS[kind]))
    return "\n".join([*lines, "</svg>\n"])


def main(build, svg, *words):
    own = {"read": [word for word in words if not word.startswith("pack.")],
           "pack": [word[5:] for word in words if word.startswith("pack.")]}
    own["pack"] += [word for word in own["read"] if word.split("=")[0] in ("images", "storage", "nic", "cores")]
    found = {kind: simulate(build, kind, own[kind]) for kind in ("read", "pack")}
    table(found)
    pathlib.Path(svg).write_text(chart(found), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
