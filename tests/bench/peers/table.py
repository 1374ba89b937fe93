"""The tables of what `run` measured: table.py RESULTS.json."""
import json
import sys
import textwrap

LABELS = {"imrec": "**imrec**", "mxnet": "MXNet ImageRecordIter", "dali": "DALI, .rec", "dali-files": "DALI, files",
          "ffcv": "FFCV, jpg", "ffcv-raw": "FFCV, *raw pixels*", "torchvision": "torchvision, Pillow",
          "torchvision-v2": "torchvision, v2 on tensors", "tf.data": "tf.data, TFRecord", "webdataset": "WebDataset",
          "simplejpeg": "simplejpeg, OpenCV, threads"}
WORKLOADS = {"w1": "W1: packed at 256 px, random crop", "w2": "W2: images of 500 px, RandomResizedCrop"}


def best(results, workload, threads):
    """Images/s of the fastest of the others that read JPEG."""
    return max((r["images_per_s"] for r in results["figures"] if r["workload"] == workload and r["threads"] == threads
                and not r["name"].startswith("imrec") and r["name"] != "ffcv-raw"), default=0)


def versus(results):
    """imrec on all CPUs versus the best other that reads JPEG, in words."""
    cpus, found = results["cpus"], []
    for workload in WORKLOADS:
        ours = [r["images_per_s"] for r in results["figures"]
                if (r["name"], r["workload"], r["threads"]) == ("imrec", workload, cpus)]
        other = best(results, workload, cpus)
        if ours and other:
            found.append(f"{ours[0] / other:.2f} × on {workload.upper()}")
    return f" imrec versus the fastest other that reads JPEG, on {cpus} CPUs: {', '.join(found)}." if found else ""


def note(words):
    return textwrap.fill(words, 118, break_long_words=False, break_on_hyphens=False)


def machine(results):
    """And whether it had other work."""
    busy = results.get("load_before", 0)
    return f"{results['machine']}." + (f" The machine had other work: load {busy:.0f} before." if busy > 1 else "")


def where(results):
    """Machine and versions."""
    return f"{machine(results)} " + ", ".join(f"{k} {v}" for k, v in sorted(results["versions"].items()))


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
        other = best(results, workload, every)
        cells.append(f"{r['images_per_s'] / other:.2f}" if other and r["threads"] == every else "–")
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
        lines += [f"| {title} | images/s, one CPU | {cpus} CPUs | versus the fastest other of JPEG | CPU time per image | "
                  "first batch | memory | packing, images/s |", "|---|---|---|---|---|---|---|---|",
                  *rows(results, workload), ""]
    if results["missing"]:
        lines += ["Not measured: " + "; ".join(f"{n} ({why})" for n, why in results["missing"].items()) + ".", ""]
    lines.append(note(f"{where(results)}. {results['images']:,} images, 3×224×224 float32 batches of {results['batch']}, "
                 f"shuffled, with labels. Medians of {results['rounds']} turns of {results['seconds']} s, ± half their range; "
                 f"CPU time, first batch and memory on {cpus} CPUs.{versus(results)}"))
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
    lines += ["", note("W1: images packed at 256 px, random crop. W2: images of 500 px, RandomResizedCrop. Both mirrored "
                       f"and normalized, 3×224×224 float32 batches of {results['batch']}.{versus(results)} {machine(results)} "
                       "[All figures and versions](docs/performance.md#compare-with-other-loaders).")]
    return "\n".join(lines)


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as f:
        read = json.load(f)
    print(table(read))
