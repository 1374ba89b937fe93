"""The chart of docs/performance.md's tables of loaders: chart.py PERFORMANCE.md > peers.svg."""
import html
import re
import sys

WIDTH, LABELS, PANEL, ROW, TOP = 880, 195, 342, 22, 66
OURS, OTHERS, RAW = "#c2410c", "#4b6a88", "#b8b8b8"
DARK = "<style>@media (prefers-color-scheme: dark) { .paper { fill: #0d1117 } text { fill: #e6edf3 } }</style>"


def tables(text):
    """(title, CPUs, [(name, images/s on one, on all)]) of each workload, the fastest first."""
    block = re.search(r"<!-- peers: begin -->(.*?)<!-- peers: end -->", text, re.S)[1]
    for lines in re.findall(r"(?:^\|.*\n)+", block, re.M):
        head, _, *rows = ([cell.strip() for cell in line.strip("|\n").split("|")] for line in lines.splitlines())
        yield head[0], head[2], [(row[0].replace("*", ""), number(row[1]), number(row[2])) for row in rows]


def number(cell):
    found = re.match(r"[\d,]+", cell)
    return int(found[0].replace(",", "")) if found else 0


def text(x, y, words, size=12, anchor="start", colour="#222", weight="normal"):
    return (f'<text x="{x}" y="{y}" font-size="{size}" text-anchor="{anchor}" fill="{colour}" '
            f'font-weight="{weight}">{html.escape(words)}</text>')


def panel(rows, names, left, largest):
    scale = (PANEL - 60) / largest
    for name, one, every in rows:
        y, colour = TOP + names.index(name) * ROW, OURS if name == "imrec" else RAW if "raw" in name else OTHERS
        yield f'<rect x="{left}" y="{y}" width="{every * scale:.1f}" height="{ROW - 6}" fill="{colour}" opacity="0.5"/>'
        yield f'<rect x="{left}" y="{y}" width="{one * scale:.1f}" height="{ROW - 6}" fill="{colour}"/>'
        yield text(f"{left + max(one, every) * scale + 6:.1f}", y + 12, f"{every:,}")


def chart(found):
    """All workloads side by side, the loaders in the order of the first."""
    names = [name for name, _, _ in found[0][2]]
    height = TOP + len(names) * ROW + 8
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
             'font-family="Helvetica, Arial, sans-serif">',
             DARK, f'<rect class="paper" width="{WIDTH}" height="{height}" fill="#ffffff"/>',
             text(LABELS, 22, f"Images per second on {found[0][1]} (solid: on one CPU)", 15, weight="bold")]
    for i, name in enumerate(names):
        lines.append(text(LABELS - 10, TOP + i * ROW + 12, name, anchor="end", weight="bold" if i == 0 else "normal"))
    for i, (title, _, rows) in enumerate(found):
        left = LABELS + i * PANEL
        largest = max(max(one, every) for _, one, every in rows)
        lines += [text(left, TOP - 14, title, 13), *panel(rows, names, left, largest)]
    return "\n".join(lines + ["</svg>"])


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as f:
        print(chart(list(tables(f.read()))))
