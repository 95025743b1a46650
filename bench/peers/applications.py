#!/usr/bin/env python3
"""The MPI applications of the LCI paper (asp, qr, sor, at the paper's sizes) with Fairlead and the
MPIs of the system, the same sources compiled with each one's wrapper, 2 ranks on shared memory, run
in turn: run times, and the time that the ranks are inside of MPI (time_in_mpi.c).

  bench/peers/applications.py
  bench/peers/applications.py --rounds 3 --only qr
"""
import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import inside_mpi
import peers

APPLICATIONS = {
    "asp": ("--paper",),
    "qr": ("--paper",),
    "sor": ("--rows", "1536", "--columns", "1536", "--iterations", "100", "--tolerance", "1e-200"),
}
MOST_RUN, MOST_INSIDE = 1.02, 0.8  # of the better peer's
RANKS = 2
TOLD = r'"seconds": ?([0-9.e+-]+)'


def compile_it(one, name, folder):
    """The application's program for an implementation; its wrapper for C++ is beside that for C."""
    compiler = one.compiler.replace("mpicc", "mpicxx")
    program = folder / f"{name}.{one.name}"
    sources = sorted(str(path) for path in (peers.ROOT / "apps" / name).glob("*.cc"))
    # Loops lie alike in all of them: a short one across two lines of the cache takes longer.
    subprocess.run([compiler, "-O2", "-std=c++20", "-falign-loops=64", f"-I{peers.ROOT}", *sources,
                    "-o", str(program)], check=True)
    return program


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=peers.ROOT / "build/release")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", default=",".join(APPLICATIONS))
    arguments = parser.parse_args()
    names = arguments.only.split(",")
    unknown = set(names) - set(APPLICATIONS)
    if unknown:
        parser.error(f"no application {', '.join(sorted(unknown))}; there are "
                     f"{', '.join(APPLICATIONS)}")
    peers.take_two_processors()
    found = peers.find_implementations({peers.OURS: arguments.build.resolve()})
    missed = False
    with tempfile.TemporaryDirectory(prefix="fairlead-applications-") as folder:
        timer = inside_mpi.Timer(Path(folder))
        inside_mpi.print_head()
        for name in names:
            commands = {one: timer.command(one, compile_it(one, name, Path(folder)), RANKS,
                                           (*APPLICATIONS[name], "--json")) for one in found}
            times = inside_mpi.medians(timer, commands, arguments.rounds, TOLD)
            missed |= inside_mpi.print_row(name, times, MOST_RUN, MOST_INSIDE)
    print(f"! over {MOST_RUN} x the better peer's run time, or {MOST_INSIDE} x its time in MPI")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
