#!/usr/bin/env python3
"""Figures 12 and 16 of the LCI paper in the real world: what its applications pay for reliability
(figure 12), and for multicast by hosts or by messages of MPI (figure 16), on shared memory and UDP.
Each application runs by all ways in turn; medians of its own times, and of the ratios to the first
way of the same place.

  bench/lci_figures.py                                 both figures, 2, 4 and 8 ranks, 5 rounds
  bench/lci_figures.py --figure 16 -n 4 --on udp
  bench/lci_figures.py --only leq,radix --rounds 15 --json

Figure 12: shm's direct assumes that memory loses nothing, as I-sdma does of Myrinet; hrx
acknowledges and keeps packets on the host, nirx on the network interface (here the engine of a
node, one process). Figure 16: nirx multicasts by the engine, hrx by the hosts; binary and binomial
are MPI_Bcast by messages of the same implementation.
"""
import argparse
import json
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
JOB_TIMEOUT_S = 300


@dataclass(frozen=True)
class App:
    program: str
    arguments: tuple  # sizes that take some tenths of a second
    mpi: bool = False


APPS = {
    "asp": App("asp", ("--vertices", "512"), mpi=True),
    "awari": App("awari", ("--stones", "7")),
    "barnes": App("barnes", ("--bodies", "2048")),
    "leq": App("leq", ("--equations", "500")),
    "puzzle-4": App("puzzle", ("--scramble", "60", "--seed", "3", "--jobs", "4", "--all")),
    "puzzle-64": App("puzzle", ("--scramble", "60", "--seed", "3", "--jobs", "64", "--all")),
    "qr": App("qr", ("--size", "512"), mpi=True),
    "radix": App("radix", ("--keys", "500000")),
    "sor": App("sor", ("--rows", "768", "--columns", "768"), mpi=True),
}


@dataclass(frozen=True)
class Way:
    """How an application's data go; what it is compared with is the first way of its place."""
    place: str
    lci: str
    broadcast: str = "multicast"  # of MPI programs, on Panda as in the paper

    def __str__(self):
        return " ".join([self.place, self.lci] + (
            [self.broadcast] if self.broadcast != "multicast" else []))


FIGURES = {
    12: (tuple(APPS), (Way("shm", "direct"), Way("shm", "hrx"), Way("udp", "hrx"),
                       Way("udp", "nirx"))),
    16: (("asp", "qr", "leq", "radix"), (
        Way("shm", "direct"), Way("shm", "direct", "binary"), Way("shm", "direct", "binomial"),
        Way("udp", "nirx"), Way("udp", "hrx"), Way("udp", "nirx", "binary"),
        Way("udp", "nirx", "binomial"))),
}


def seconds_of(options, app, way, ranks):
    """What the program says it took."""
    command = [str(options.build / "bin/fairlead"), "run", "-n", str(ranks), "--on", way.place,
               "--lci", way.lci]
    if app.mpi:
        command += ["--mpi-device", "panda", "--mpi-bcast", way.broadcast]
    command += [str(options.build / "bin" / app.program), *app.arguments, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=JOB_TIMEOUT_S,
                          check=False)
    if done.returncode != 0:
        sys.exit(f"lci_figures: {' '.join(command)}: {done.stdout}{done.stderr}")
    (result,) = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return result["seconds"]


def measure(options, figure, name, ranks):
    """One row for each way that is there for the application."""
    app = APPS[name]
    ways = [way for way in FIGURES[figure][1] if way.place in options.on.split(",")
            and (app.mpi or way.broadcast == "multicast")]
    taken = {way: [] for way in ways}
    for _ in range(options.rounds):
        for way in ways:
            taken[way].append(seconds_of(options, app, way, ranks))
    for way in ways:
        first = next(other for other in ways if other.place == way.place)
        ratios = [ours / base for ours, base in zip(taken[way], taken[first])]
        yield {"figure": figure, "app": name, "ranks": ranks, "way": str(way),
               "seconds": statistics.median(taken[way]), "of": str(first),
               "ratio": statistics.median(ratios), "rounds": options.rounds}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--figure", type=int, choices=FIGURES, help="one of them alone")
    parser.add_argument("--on", default="shm,udp")
    parser.add_argument("-n", "--ranks", default="2,4,8")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default=",".join(APPS))
    parser.add_argument("--json", action="store_true", help="one object a line")
    options = parser.parse_args()
    unknown = set(options.only.split(",")) - set(APPS)
    if unknown:
        parser.error(f"no application {', '.join(sorted(unknown))}; there are {', '.join(APPS)}")

    line = "{:>6}  {:<10} {:>5}  {:<20} {:>9}  {:>6}"
    if not options.json:
        print(line.format("figure", "app", "ranks", "way", "seconds", "ratio"))
    for figure in [options.figure] if options.figure else FIGURES:
        for name in [name for name in FIGURES[figure][0] if name in options.only.split(",")]:
            for ranks in map(int, options.ranks.split(",")):
                for row in measure(options, figure, name, ranks):
                    print(json.dumps(row) if options.json else line.format(
                        row["figure"], row["app"], row["ranks"], row["way"],
                        f"{row['seconds']:.4f}", f"{row['ratio']:.2f}"), flush=True)


if __name__ == "__main__":
    main()
