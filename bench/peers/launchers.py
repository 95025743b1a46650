#!/usr/bin/env python3
"""Start-up (MPI_Init, MPI_Finalize) under launchers that are not ours: programs of Fairlead and of
each launcher's own MPI in turn, and the launcher with a program that does nothing. Milliseconds of
whole jobs; medians, and the median of the rounds' ratios.

  bench/peers/launchers.py --rounds 7
"""
import argparse
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import peers

RANKS = (2, 32)
OPENMPI = ["--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"]


def milliseconds(command):
    begin = time.monotonic()
    subprocess.run(command, env=peers.environment(), stdin=subprocess.DEVNULL, timeout=60,
                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True)
    return (time.monotonic() - begin) * 1e3


def commands(implementations, folder, ranks):
    """{(launcher, program): command}"""
    table = {}
    for one in implementations:
        if one.name == peers.OURS:
            table["fairlead run", "fairlead"] = [one.launcher, "run", "-n", str(ranks),
                                                 str(folder / "startup.fairlead")]
            continue
        launch = [one.launcher, *(OPENMPI if one.name == "openmpi" else []), "-n", str(ranks)]
        for program in ("fairlead", one.name):
            table[one.name, program] = [*launch, str(folder / f"startup.{program}")]
        # Open MPI's mpirun can hang on many programs that end at once.
        if one.name != "openmpi" or ranks <= 2:
            table[one.name, "nothing"] = [*launch, "/bin/true"]
    return table


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=peers.ROOT / "build/release")
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    implementations = peers.find_implementations(arguments.build.resolve())
    with tempfile.TemporaryDirectory(prefix="fairlead-launchers-") as name:
        folder = Path(name)
        for one in implementations:
            subprocess.run([one.compiler, "-O2", str(peers.ROOT / "bench/peers/startup.c"), "-o",
                            str(folder / f"startup.{one.name}")], check=True)
        for ranks in RANKS:
            table = commands(implementations, folder, ranks)
            samples = {key: [] for key in table}
            for _ in range(arguments.rounds):
                for key, command in table.items():
                    samples[key].append(milliseconds(command))
            for (launcher, program), values in samples.items():
                line = (f"{ranks:3} ranks  {launcher:<13} {program:<9} "
                        f"{statistics.median(values):8.1f} ms")
                own = samples.get((launcher, launcher))
                if own is not None and own is not values:
                    ratio = statistics.median(a / b for a, b in zip(values, own))
                    line += f"  {ratio:.2f} x {launcher}'s own"
                print(line)


if __name__ == "__main__":
    main()
