#!/usr/bin/env python3
"""dlio.py SET.rec [OPTIONS]: how many emulated H100s each loader feeds, as measured by DLIO of MLPerf Storage.

DLIO (dlio_benchmark) runs its workload resnet50_h100: each rank of MPI is an accelerator that takes a batch of 400 images, then sleeps for
0.224 s instead of training. The accelerator utilization (AU) is the share of the time that it sleeps; MLPerf Storage asks for 90 %. The
loaders are those of tests/bench/peers, as data loader classes of DLIO. They decode, crop at random, resize to 224 x 224, mirror and normalize
to float32; DLIO's own reader for this workload decodes nothing. A loader feeds one accelerator first, then one more as long as the median of
its AU is 90 % or more. Loaders take turns, and the workers are divided among the ranks. The first epoch fills the buffers, the second counts.

Installs into the environments of the peers, and one for DLIO and MPI, below IMREC_PEERS_CACHE (default ~/.cache/imrec-peers; PyTorch takes
6 GB). Needs the release build, and an index next to SET.rec.
"""
import argparse
import importlib.metadata
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

BENCH = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(BENCH / "peers"))
import venvs  # noqa: E402

BATCH, ENOUGH = 400, 90
STEP_S = {"h100": 0.224, "a100": 0.435}  # as DLIO's workloads resnet50_h100 and resnet50_a100 have it; both with this batch
#: name: script of the peer, class in peers/dlio_loader.py
LOADERS = {"imrec": ("imrec", "Imrec"), "dali": ("dali", "Dali"), "tf.data": ("tensorflow", "TfData"),
           "torchvision": ("torchvision", "Torchvision")}
VERSIONS = ("dlio-benchmark", "imrec", "nvidia-dali-cuda120", "tensorflow-cpu", "torchvision", "openmpi")
FRAMEWORK = "tensorflow"  # of the workload; DLIO imports it


def environments(names):
    """The loaders that can be installed; prints why the others cannot."""
    scripts = dict.fromkeys([FRAMEWORK, *(LOADERS[name][0] for name in names)])
    reasons = {script: why for script in [*scripts, "dlio"] if (why := venvs.make(script))}
    for script, why in reasons.items():
        print(f"{script}: {why}")
    if FRAMEWORK in reasons or "dlio" in reasons:
        sys.exit("dlio.py needs DLIO and TensorFlow")
    return [name for name in names if LOADERS[name][0] not in reasons]


def packages(names):
    """Where Python finds DLIO, these loaders and the framework."""
    return [venvs.site_packages(script) for script in dict.fromkeys(["dlio", *(LOADERS[name][0] for name in names), FRAMEWORK])]


def run(what, command, scratch, **environment):
    log = scratch / "run.log"
    with open(log, "w", encoding="utf-8") as out:
        ended = subprocess.run(list(map(str, command)), cwd=scratch, stdout=out, stderr=out, check=False,
                               env={**os.environ, **environment}).returncode
    if ended:
        sys.exit(f"{what} ended with status {ended}:\n{log.read_text(errors='replace')[-3000:]}")


def prepare(shard, names, scratch):
    """The peers' files of the set, and a folder of one file, whose samples DLIO counts."""
    (scratch / "w2.rec").symlink_to(shard)
    (scratch / "w2.idx").symlink_to(shard.with_suffix(".idx"))
    run("imrec export", [venvs.TREE / "build/release/tools/imrec", "export", shard, scratch / "w2"], scratch)
    for name in names:
        script = LOADERS[name][0]
        run(f"preparing {name}", [venvs.python(script), BENCH / f"peers/peer_{script}.py", "prepare", "--workload", "w2", "--data", scratch],
            scratch)
    for part in ("train", "valid"):
        (scratch / "counted" / part).mkdir(parents=True)
    (scratch / "counted/train/set.tfrecord").symlink_to(shard)


def command(o, name, ranks, scratch):
    settings = {"dataset.data_folder": scratch / "counted", "dataset.num_files_train": 1, "output.folder": scratch / "output",
                "dataset.num_samples_per_file": ranks * o.steps * BATCH, "train.epochs": 2,
                "reader.read_threads": -(-o.workers // ranks), "reader.data_loader_sampler": "iterative",
                "reader.data_loader_classname": f"dlio_loader.{LOADERS[name][1]}",
                "checkpoint.checkpoint_mechanism_classname": "dlio_loader.NoCheckpoint"}
    binaries = venvs.python("dlio").parent
    return [binaries / "mpirun", "-n", ranks, "--bind-to", "none", "--oversubscribe", "--allow-run-as-root",
            "--mca", "mpi_yield_when_idle", "1", binaries / "dlio_benchmark", f"workload=resnet50_{o.emulate}",
            f"hydra.run.dir={scratch / 'hydra'}", *(f"++workload.{key}={value}" for key, value in settings.items())]


def turn(o, name, ranks, scratch):
    """Of the second epoch: AU in percent, and CPU milliseconds an image."""
    path = os.pathsep.join(map(str, [BENCH / "peers", *packages([name])]))
    (scratch / "output/summary.json").unlink(missing_ok=True)
    run(f"DLIO with {name} and {ranks} ranks", command(o, name, ranks, scratch), scratch, PYTHONPATH=path)
    summary = json.loads((scratch / "output/summary.json").read_text())
    if summary["num_accelerators"] != ranks:
        sys.exit(f"DLIO counted {summary['num_accelerators']} accelerators, not {ranks}: is mpirun of the MPI that mpi4py found?")
    au = summary["metric"]["train_au_percentage"][-1]
    if au == 0:
        sys.exit(f"DLIO got no batch of {name} in the second epoch")
    costs = [json.loads((scratch / f"output/cpu-{rank}.json").read_text()) for rank in range(ranks)]
    return au, 1000 * sum(c["cpu_s"] for c in costs) / sum(c["images"] for c in costs)


def measure(o, names, scratch):
    """Name: what turn() gives for each number of ranks, in a list."""
    found, alive = {name: {} for name in names}, list(names)
    for ranks in range(1, o.accelerators + 1):
        for _ in range(o.turns):
            for name in alive:
                au, cpu_ms = turn(o, name, ranks, scratch)
                found[name].setdefault(ranks, []).append((au, cpu_ms))
                print(f"[{time.strftime('%H:%M:%S')}] {name}, {ranks} accelerators: AU {au:.1f} %, {cpu_ms:.3f} ms CPU an image",
                      file=sys.stderr, flush=True)
        alive = [name for name in alive if median_au(found[name][ranks]) >= ENOUGH]
    return found


def median_au(turns):
    return statistics.median(au for au, _ in turns)


def cell(turns, ranks, step_s):
    """AU, its range, and the images/s that the accelerators took."""
    aus = [au for au, _ in turns]
    return f"{median_au(turns):.1f} % ({min(aus):.1f}–{max(aus):.1f}), {median_au(turns) / 100 * ranks * BATCH / step_s:,.0f}"


def table(found, step_s):
    """CPU time is that of one accelerator: ranks that wait for another one burn it, too."""
    columns = range(1, max(max(by) for by in found.values()) + 1)
    print("| AU, its range, images/s | " + " | ".join(f"{n} accelerator{'s' if n > 1 else ''}" for n in columns)
          + " | fed at 90 % | CPU time per image |\n|---|" + "---|" * (len(columns) + 2))
    for name, by in found.items():
        fed = max((ranks for ranks, turns in by.items() if median_au(turns) >= ENOUGH), default=0)
        costs = [cost for _, cost in by[1]]
        print(f"| {name} | " + " | ".join(cell(by[n], n, step_s) if n in by else "–" for n in columns)
              + f" | {fed} | {statistics.median(costs):.2f} ms ({min(costs):.2f}–{max(costs):.2f}) |")


def where(o, names):
    """Machine and versions."""
    installed = {found.name.lower().replace("_", "-"): found.version
                 for found in importlib.metadata.distributions(path=list(map(str, packages(names))))}
    versions = ", ".join(f"{name} {installed[name]}" for name in VERSIONS if name in installed)
    cpu = re.search(r"model name\s*:\s*(.*)", pathlib.Path("/proc/cpuinfo").read_text())
    print(f"\n{cpu[1] if cpu else 'unknown CPU'}, {len(os.sched_getaffinity(0))} CPUs, {o.workers} workers; {versions}. "
          f"{o.turns} turns of {o.steps} steps.")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shard", type=pathlib.Path, help="with class labels, and an index")
    parser.add_argument("--emulate", choices=STEP_S, default="h100", help="accelerator [%(default)s]")
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)), help="of all accelerators together [%(default)s]")
    parser.add_argument("--only", default=",".join(LOADERS), help="loaders, separated by commas [%(default)s]")
    parser.add_argument("--accelerators", type=int, default=8, help="maximum [%(default)s]")
    parser.add_argument("--steps", type=int, default=12, help="of an epoch [%(default)s]")
    parser.add_argument("--turns", type=int, default=3, help="[%(default)s]")
    o = parser.parse_args()
    if o.steps < 2:
        parser.error("--steps must be 2 or more: DLIO leaves out the first step of an epoch")
    names = environments(o.only.split(","))
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        prepare(o.shard.resolve(), names, scratch)
        table(measure(o, names, scratch), STEP_S[o.emulate])
    where(o, names)


if __name__ == "__main__":
    main()
