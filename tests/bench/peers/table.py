"""The table and the chart of what `run` measured: table.py RESULTS.json [CHART.png CHART.svg]."""
import json
import sys

LABELS = {"imrec": "**imrec**", "mxnet": "MXNet ImageRecordIter", "dali": "DALI, .rec", "dali-files": "DALI, files",
          "ffcv": "FFCV, jpg", "ffcv-raw": "FFCV, *raw pixels*", "torchvision": "torchvision, Pillow",
          "torchvision-v2": "torchvision, v2 on tensors", "tf.data": "tf.data, TFRecord", "webdataset": "WebDataset",
          "simplejpeg": "simplejpeg, OpenCV, threads"}
WORKLOADS = {"w1": "W1: packed at 256 px, random crop", "w2": "W2: originals of 500 px, RandomResizedCrop"}


def best(results, workload, threads):
    """Images/s of the fastest of the others that read JPEG."""
    return max((r["images_per_s"] for r in results["figures"] if r["workload"] == workload and r["threads"] == threads
                and not r["name"].startswith("imrec") and r["name"] != "ffcv-raw"), default=0)


def beside(results):
    """imrec on all CPUs beside the best other that reads JPEG, in words."""
    cpus, found = results["cpus"], []
    for workload in WORKLOADS:
        ours = [r["images_per_s"] for r in results["figures"]
                if (r["name"], r["workload"], r["threads"]) == ("imrec", workload, cpus)]
        other = best(results, workload, cpus)
        if ours and other:
            found.append(f"{ours[0] / other:.2f} × on {workload.upper()}")
    return f" imrec beside the best other that reads JPEG, on {cpus} CPUs: {', '.join(found)}." if found else ""


def where(results):
    """Machine and versions, and whether it had other work."""
    busy = results.get("load_before", 0)
    work = f" The machine had other work: load {busy:.0f} before." if busy > 1 else ""
    return f"{results['machine']}.{work} " + ", ".join(f"{k} {v}" for k, v in sorted(results["versions"].items()))


def rows(results, workload):
    one, every = 1, results["cpus"]
    figures = {(r["name"], r["threads"]): r for r in results["figures"] if r["workload"] == workload}
    names = sorted({n for n, _ in figures}, key=lambda n: -figures.get((n, every), {"images_per_s": 0})["images_per_s"])
    for name in names:
        cells = [LABELS[name]]
        for threads in (one, every):
            r = figures.get((name, threads))
            cells.append(f"{r['images_per_s']:,.0f} ± {100 * r['spread']:.0f} %" if r else "–")
        r = figures.get((name, every)) or figures[name, one]
        beside = best(results, workload, every)
        cells.append(f"{r['images_per_s'] / beside:.2f}" if beside and r["threads"] == every else "–")
        cells.append(f"{r['cpu_us_per_image']:,.0f} µs")
        cells.append(f"{r['first_batch_s']:.2f} s")
        cells.append(f"{r['memory_bytes'] / 2**20:,.0f} MiB")
        packed = results["packing"].get(name)
        cells.append(f"{packed['images_per_s']:,.0f}" if packed and "images_per_s" in packed else "–")
        yield "| " + " | ".join(cells) + " |"


def table(results):
    cpus = results["cpus"]
    lines = []
    for workload, title in WORKLOADS.items():
        lines += [f"| {title} | images/s, one CPU | {cpus} CPUs | beside the best other of JPEG | CPU time an image | "
                  "first batch | memory | packing, images/s |", "|---|---|---|---|---|---|---|---|",
                  *rows(results, workload), ""]
    if results["missing"]:
        lines += ["Not measured: " + "; ".join(f"{n} ({why})" for n, why in results["missing"].items()) + ".", ""]
    lines.append(f"{where(results)}. {results['pictures']:,} images, 3×224×224 float32 batches of {results['batch']}, "
                 f"shuffled, with labels. Medians of {results['rounds']} turns of {results['seconds']} s, ± half their range; "
                 f"CPU time, first batch and memory on {cpus} CPUs.{beside(results)}")
    return "\n".join(lines)


def short(results):
    """README.md's: images/s on all CPUs and on one, both workloads, the fastest first."""
    every, found = results["cpus"], {}
    for r in results["figures"]:
        found.setdefault(r["name"], {})[r["workload"], r["threads"]] = f"{r['images_per_s']:,.0f}"
    speed = {r["name"]: r["images_per_s"] for r in results["figures"]
             if r["workload"] == "w1" and r["threads"] == every}
    lines = [f"| images/s | W1, one CPU | {every} CPUs | W2, one CPU | {every} CPUs |", "|---|---|---|---|---|"]
    for name in sorted(found, key=lambda n: -speed.get(n, 0)):
        cells = [found[name].get((w, t), "–") for w in WORKLOADS for t in (1, every)]
        lines.append("| " + " | ".join([LABELS[name], *cells]) + " |")
    lines += ["", "W1: images packed at 256 px, random crop. W2: originals of 500 px, RandomResizedCrop. Both mirrored and "
              f"normalized, 3×224×224 float32 batches of {results['batch']}.{beside(results)} [All figures]"
              "(docs/performance.md#beside-the-others).", "", f"{where(results)}, medians of {results['rounds']} turns."]
    return "\n".join(lines)


def chart(results, *paths):
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "imrec"
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(11, 4.2))
    for axis, (workload, title) in zip(axes, WORKLOADS.items()):
        chosen = [r for r in results["figures"] if r["workload"] == workload]
        every = {r["name"]: r["images_per_s"] for r in chosen if r["threads"] == results["cpus"]}
        one = {r["name"]: r["images_per_s"] for r in chosen if r["threads"] == 1}
        names = sorted(every, key=every.get)
        colours = ["#c2410c" if n.startswith("imrec") else "#b8b8b8" if n == "ffcv-raw" else "#4b6a88" for n in names]
        places = range(len(names))
        axis.barh([p + 0.2 for p in places], [every[n] for n in names], 0.4, color=colours)
        axis.barh([p - 0.2 for p in places], [one.get(n, 0) for n in names], 0.4, color=colours, alpha=0.5)
        axis.set_yticks(list(places), [LABELS[n].replace("*", "") for n in names])
        axis.set_title(title, fontsize=10)
        axis.set_xlabel(f"images/s on {results['cpus']} CPUs (lighter: on one)")
        axis.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    for path in paths:
        figure.savefig(path, dpi=110, metadata={"Date": None} if str(path).endswith("svg") else None)


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as f:
        read = json.load(f)
    print(table(read))
    if sys.argv[2:]:
        chart(read, *sys.argv[2:])
