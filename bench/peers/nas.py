#!/usr/bin/env python3
"""The NAS Parallel Benchmarks (NPB 3.4, MPI) with Fairlead and the MPIs of the system, 2 ranks on
shared memory, run in turn: run times as NPB tells them, and the time that the ranks are inside of
MPI (time_in_mpi.c). NPB is built beforehand, once with each one's wrappers: FOLDER has is.A.x and
so on.

  bench/peers/nas.py --ours FOLDER --openmpi FOLDER --mpich FOLDER
"""
import argparse
import sys
import tempfile
from pathlib import Path

import inside_mpi
import peers

KERNELS = ("is", "ep", "cg", "mg")
MOST_RUN, MOST_INSIDE = 1.03, 0.8  # of the better peer's
RANKS = 2
# What a run that is right prints.
TOLD = r"Time in seconds *= *([0-9.]+)[\s\S]*SUCCESSFUL"


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
        timer = inside_mpi.Timer(Path(name))
        inside_mpi.print_head()
        for kernel in KERNELS:
            program = f"{kernel}.{arguments.size}"
            runs = {one: timer.command(one, places[one.name].resolve() / f"{program}.x", RANKS)
                    for one in found}
            rows = inside_mpi.medians(timer, runs, arguments.rounds, TOLD)
            missed |= inside_mpi.print_row(program, rows, MOST_RUN,
                                           None if kernel == "ep" else MOST_INSIDE)
    print(f"! over {MOST_RUN} x the better peer's run time, or {MOST_INSIDE} x its time in MPI")
    return 1 if missed else 0


sys.exit(main())
