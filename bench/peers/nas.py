#!/usr/bin/env python3
"""The NAS Parallel Benchmarks (NPB 3.4, MPI) with Fairlead and the MPIs of the system, 2 ranks on
shared memory, run in turn: run times as NPB tells them, and the time that the ranks are inside of
MPI (time_in_mpi.c). NPB is built beforehand, once with each one's wrappers: FOLDER has is.A.x and
so on.

  bench/peers/nas.py --ours FOLDER --openmpi FOLDER --mpich FOLDER
"""
import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import peers
from figures import Job

KERNELS = ("is", "ep", "cg", "mg")
MOST_RUN, MOST_INSIDE = 1.03, 0.8  # of the better peer's
RANKS = 2


def run(one, program, timer, folder):
    """(run time, seconds inside of MPI of all ranks)"""
    told = folder / "told"
    told.unlink(missing_ok=True)
    command = one.command(str(program), Job("nas", RANKS))
    # Only the program is to have the timer, not what starts it.
    at = command.index(str(program))
    command[at:at] = ["env", f"LD_PRELOAD={timer}", f"TIME_IN_MPI={told}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False,
                          timeout=peers.JOB_TIMEOUT_S, env=peers.environment(),
                          stdin=subprocess.DEVNULL)
    seconds = re.search(r"Time in seconds *= *([0-9.]+)", done.stdout)
    if done.returncode != 0 or "SUCCESSFUL" not in done.stdout or not seconds:
        sys.exit(f"nas: {' '.join(command)}: exit {done.returncode}: {done.stderr[-400:]}")
    inside = [float(line) for line in told.read_text().split()]
    if len(inside) != RANKS:
        sys.exit(f"nas: {' '.join(command)}: {len(inside)} ranks told their time in MPI")
    return float(seconds.group(1)), sum(inside)


def medians(samples):
    return [statistics.median(values) for values in zip(*samples)]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=peers.ROOT / "build/release")
    for name in ("ours", "openmpi", "mpich"):
        parser.add_argument(f"--{name}", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--class", dest="size", default="A")
    parser.add_argument("--rounds", type=int, default=5)
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    peers.take_two_processors()
    found = peers.find_implementations({peers.OURS: arguments.build.resolve()})
    places = {peers.OURS: arguments.ours, "openmpi": arguments.openmpi, "mpich": arguments.mpich}
    missed = False
    with tempfile.TemporaryDirectory(prefix="fairlead-nas-") as name:
        folder = Path(name)
        timer = folder / "time_in_mpi.so"
        subprocess.run([os.environ.get("CC", "cc"), "-O2", "-shared", "-fPIC",
                        str(peers.ROOT / "bench/peers/time_in_mpi.c"), "-o", str(timer)],
                       check=True)
        print(f"{'':6}{'run, s: ours':>14}{'openmpi':>9}{'mpich':>9}{'to better':>11}"
              f"{'in MPI, s: ours':>18}{'openmpi':>9}{'mpich':>9}{'to better':>11}")
        for kernel in KERNELS:
            samples = {one.name: [] for one in found}
            for _ in range(arguments.rounds):
                for one in found:
                    program = places[one.name].resolve() / f"{kernel}.{arguments.size}.x"
                    samples[one.name].append(run(one, program, timer, folder))
            times = {name: medians(values) for name, values in samples.items()}
            ratios = [times[peers.OURS][i] / min(times[name][i] for name in times
                                                 if name != peers.OURS) for i in range(2)]
            late = ratios[0] > MOST_RUN
            much = kernel != "ep" and ratios[1] > MOST_INSIDE
            missed = missed or late or much
            row = f"{kernel}.{arguments.size:3}"
            for i, wide, verdict in ((0, 14, late), (1, 18, much)):
                row += f"{times[peers.OURS][i]:{wide}.3f}{times['openmpi'][i]:9.3f}"
                row += f"{times['mpich'][i]:9.3f}{ratios[i]:9.2f} {'!' if verdict else ' '}"
            print(row, flush=True)
    print(f"! over {MOST_RUN} x in run time, or {MOST_INSIDE} x inside of MPI")
    return 1 if missed else 0


sys.exit(main())
