#!/usr/bin/env python3
"""What the modelled Fire Link costs this machine: processor time for 1 MiB of stores (puts of the
Port, aim 400 us), and memory of jobs of MPI by stores: 192 ranks of firelink of which each has sent
to each (aim 1 GB), 8 KiB to each four times by one pool of 256 KiB for all receivers of a host
(MPI_RSM_SBPOOLSIZE; the program's own buffers are 0.6 GB of it), and a sum over 2,048 on 8 hosts of
256 processors (aim 4 GB). JSON lines.

  bench/store_cost.py                 the first two; a few minutes
  bench/store_cost.py --only ranks2048
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
STORES_US_MAX = 400
FEW, MANY = 20, 220  # rounds of 2 MiB, after a tenth as many; and 1 MiB each for the fences
# Ranks, ranks a node, call, bytes, times, the pool of a host or None, aim in MB.
JOBS = {"ranks192": (192, 24, "alltoall", 64, 2, None, 1000),
        "pools192": (192, 24, "alltoall", 192 * 8192, 4, "256KiB", 2000),
        "ranks2048": (2048, 256, "allreduce", 64, 2, None, 4000)}


def run(command, environment=None):
    """(processor time in s, largest memory in MB) of a command that succeeds."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          env=environment) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            sys.exit(f"store_cost: {' '.join(command)}: {process.stderr.read().decode()[-300:]}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def stores(fairlead, rounds):
    """us of processor time for 1 MiB, the median of so many pairs of runs."""
    def cost(repetitions):
        return run([fairlead, "bench", "remote", "-n", "2", "--on", "firelink", "--sizes",
                    "1048576", "--repetitions", str(repetitions)])[0]

    def puts(repetitions):
        return 2 * (repetitions + repetitions // 10 + 1) + repetitions
    return statistics.median((cost(MANY) - cost(FEW)) / (puts(MANY) - puts(FEW)) * 1e6
                             for _ in range(rounds))


def memory(build, name):
    ranks, each, call, size, times, pool, _ = JOBS[name]
    environment = dict(os.environ) | ({"MPI_RSM_SBPOOLSIZE": pool} if pool else {})
    return run([str(build / "bin/fairlead"), "run", "-n", str(ranks), "--on", "firelink",
                "--ranks-per-node", str(each), "--body", "fiber", "--mpi-device", "auto",
                str(build / "bin/collbench"), "--call", call, "--bytes", str(size), "--count",
                str(times)], environment)[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="stores,ranks192",
                        help="of stores, ranks192, pools192, ranks2048")
    arguments = parser.parse_args()
    good = True
    for name in re.split(",", arguments.only):
        if name == "stores":
            value = stores(str(arguments.build / "bin/fairlead"), arguments.rounds)
            aim, unit = STORES_US_MAX, "us of processor time for 1 MiB"
        elif name in JOBS:
            value, aim, unit = memory(arguments.build, name), JOBS[name][-1], "MB"
        else:
            parser.error(f"{name}: one of stores, {', '.join(JOBS)}")
        good &= value <= aim
        print(json.dumps({"bench": "store_cost", "what": name, "value": round(value, 1),
                          "unit": unit, "aim": aim, "met": value <= aim}), flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
