#!/usr/bin/env python3
"""simulate_limits.py SIMULATE - where only one thing limits a job, `simulate read|pack` says what anybody can compute.

Exit status 0, or 1 with what differs by more than the share of the begin, of the end and of uneven images.
"""
import subprocess
import sys

READ = {"images": 200000, "image_bytes": 100e3, "cpu_us": 500}
PACK = {"images": 20000, "image_bytes": 100e3, "packed_bytes": 30e3, "cpu_us": 2000, "tasks": 128}


def cases():
    """kind, ranks, keys, images a second, what limits, allowed difference."""
    yield "read", 1, READ, 2000, "CPUs", 0.02
    yield "read", 1, {**READ, "cores": 8}, 16000, "CPUs", 0.02
    yield "read", 16, {**READ, "lockstep": 0}, 32000, "CPUs", 0.02
    yield "read", 16, READ, 32000, "CPUs", 0.08  # each step waits for the slowest batch
    yield "read", 16, {**READ, "storage": 1e9}, 10000, "storage", 0.02
    yield "read", 16, {**READ, "nic": 50e6}, 8000, "NIC", 0.08
    yield "read", 4, {**READ, "trainer": 700}, 2800, "waiting", 0.02
    yield "pack", 1, PACK, 500, "CPUs", 0.02
    yield "pack", 16, PACK, 8000, "CPUs", 0.1  # the last tasks do not end together
    yield "pack", 16, {**PACK, "storage": 2.6e8}, 2000, "storage", 0.05  # 100 kB in, 30 kB out
    yield "pack", 16, {**PACK, "plan_us": 500, "cpu_us": 800}, 1000000 / (500 + 50), "plan and finish", 0.05


def simulate(program, kind, ranks, keys):
    words = [f"{name}={value:g}" for name, value in keys.items()]
    said = subprocess.run([program, kind, f"ranks={ranks}", *words], check=True, stdout=subprocess.PIPE, text=True).stdout
    row = said.splitlines()[1].split("\t")
    return float(row[1]), row[-1]


def main(program):
    bad = 0
    for kind, ranks, keys, want, limit, allowed in cases():
        rate, why = simulate(program, kind, ranks, keys)
        if abs(rate / want - 1) > allowed or why != limit:
            bad += 1
            print(f"{kind}, {ranks} ranks, {keys}: {rate:.0f} images/s, limited by {why}; wanted {want:.0f}, {limit}")
    refused = subprocess.run([program, "read", "ranks=0"], check=False, capture_output=True).returncode
    unknown = subprocess.run([program, "read", "cores=x"], check=False, capture_output=True).returncode
    if (refused, unknown) != (2, 2):
        bad += 1
        print(f"wrong words end with {refused} and {unknown}, not 2")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
