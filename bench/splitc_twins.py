#!/usr/bin/env python3
"""Compares Split-C's applications with their MPI twins, which share their kernels: both in turn,
medians of their own times, and the ratios' geometric mean.

  bench/splitc_twins.py                                  2 ranks, shared memory, 7 rounds, a table
  bench/splitc_twins.py --on udp --splitc direct+aggregate
  bench/splitc_twins.py --only em3d,cg --rounds 15 --json
"""
import argparse
import json
import math
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
JOB_TIMEOUT_S = 300
# The Split-C program, its twin, and sizes that take some tenths of a second.
APPS = {
    "em3d": ("em3d", "em3d_mpi", ("--nodes", "2000", "--iterations", "1000")),
    "em3d-store": ("em3d", "em3d_mpi", ("--nodes", "2000", "--iterations", "1000")),
    "cg": ("cg", "cg_mpi", ("--grid", "256")),
    "cholesky": ("cholesky", "cholesky_mpi", ("--size", "768")),
    "fft3d": ("fft3d_splitc", "fft3d_mpi", ()),
    "raytrace": ("raytrace", "raytrace_mpi", ("--width", "384", "--height", "384")),
}
# Options that the Split-C program alone has.
MORE = {"em3d-store": ("--variant", "store")}


def run(options, program, arguments):
    """Seconds that the program says it took; those of its verification are not among them."""
    command = [str(options.build / "bin/fairlead"), "run", "-n", str(options.ranks), "--on",
               options.on, *(["--splitc", options.splitc] if options.splitc else []),
               str(options.build / "bin" / program), "--json", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=JOB_TIMEOUT_S,
                          check=False)
    if done.returncode != 0:
        sys.exit(f"splitc_twins: {' '.join(command)}: {done.stdout}{done.stderr}")
    (result,) = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return result["seconds"]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--on", default="shm")
    parser.add_argument("--splitc", default="")
    parser.add_argument("-n", "--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", default=",".join(APPS))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    unknown = set(options.only.split(",")) - set(APPS)
    if unknown:
        parser.error(f"no application {', '.join(sorted(unknown))}; there are {', '.join(APPS)}")

    names = [name for name in APPS if name in options.only.split(",")]
    times = {name: ([], []) for name in names}
    for turn in range(options.rounds):
        for name in names:
            splitc, mpi, arguments = APPS[name]
            sides = [(0, splitc, arguments + MORE.get(name, ())), (1, mpi, arguments)]
            # Each is first as often as the other. Who is verified in the first round is not again.
            for side, program, its in sides if turn % 2 == 0 else reversed(sides):
                its = its if turn == 0 else (*its, "--no-verify")
                times[name][side].append(run(options, program, its))

    ratios = []
    if not options.json:
        print(f"{'application':<12} {'Split-C, s':>11} {'MPI, s':>11} {'ratio':>7}")
    for name in names:
        splitc, mpi = (statistics.median(each) for each in times[name])
        # The median of runs beside each other, as other work on the machine comes and goes.
        ratio = statistics.median(a / b for a, b in zip(*times[name]))
        ratios.append(ratio)
        if options.json:
            print(json.dumps({"app": name, "on": options.on, "splitc": options.splitc or "direct",
                              "ranks": options.ranks, "splitc_s": splitc, "mpi_s": mpi,
                              "ratio": ratio}))
        else:
            print(f"{name:<12} {splitc:11.4f} {mpi:11.4f} {ratio:7.3f}")
    mean = math.exp(statistics.fmean(math.log(each) for each in ratios))
    print(json.dumps({"geometric_mean": mean}) if options.json
          else f"{'geometric mean':<36} {mean:7.3f}")


if __name__ == "__main__":
    main()
