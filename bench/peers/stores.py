#!/usr/bin/env python3
"""MPI by stores, the half round trip of two ranks (pingpong.c) in turn, medians of rounds' ratios:
the rsm device forced on shared memory beside the direct device, that with single copies turned off,
and the peers; and, with --nodes, one file as the memory of two nodes (network namespaces), with
buffers of the program's own and of MPI_Alloc_mem ("given memory"), beside shared memory of one
node, the same without single copies ("two copies"), and MPICH's tcp between the two. --nodes needs
root and iproute2.

  bench/peers/stores.py --rounds 7
  bench/peers/stores.py --rounds 7 --nodes
"""
import argparse
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import nodes
import peers

SMALL = ("latency", 8)
LARGE = ("latency", 1 << 20)
# What, figure, beside whom (best_peer: the faster one), and at most so many times as long.
DEVICE_BARS = (("rsm", SMALL, "direct", 1.3), ("rsm", SMALL, "best peer", 0.8),
               ("rsm", LARGE, "no single copy", 1 / 0.9))
NODES_BARS = (("memory", SMALL, "direct", 1.1), ("memory", LARGE, "direct", 1.1),
              ("memory", LARGE, "two copies", 1.1), ("given memory", LARGE, "direct", 1.1),
              ("memory", SMALL, "tcp", 0.2))


def device_sides(build, folder):
    """{who: (command, what its environment has besides)}"""
    ours = [str(build / "bin/fairlead"), "run", "-n", "2"]
    program = str(folder / "pingpong.fairlead")
    sides = {"direct": (ours + [program], {}),
             "no single copy": (ours + [program], {"FAIRLEAD_SINGLE_COPY": "never"}),
             "rsm": (ours + ["--mpi-device", "rsm", program], {})}
    for one in peers.find_implementations({peers.OURS: build}):
        if not one.is_ours:
            bound = (["--bind-to", "core"] if one.name == "openmpi" else ["-bind-to", "core"])
            sides[one.name] = ([one.launcher, *bound, "-n", "2",
                                str(folder / f"pingpong.{one.name}")], {})
    return sides


def nodes_sides(build, folder):
    table = nodes.commands(build, folder, ("pingpong",), 1, nodes.NETWORKS[:1])
    program = str(folder / "pingpong.fairlead")
    ours = [str(build / "bin/fairlead"), "run"]
    places = ",".join(f"{name}:1" for name in nodes.NAMES)
    pool = ours + ["--nodes", places, "--memory", str(folder / "memory"), program]
    return {"direct": (ours + ["-n", "2", program], {}),
            "two copies": (ours + ["-n", "2", program], {"FAIRLEAD_SINGLE_COPY": "never"}),
            "memory": (pool, {}),
            "given memory": (pool + ["alloc_mem"], {}),
            "tcp": (table["mpich"][0], {})}


def run(command, more):
    done = subprocess.run(command, env={**peers.environment(), **more}, stdin=subprocess.DEVNULL,
                          timeout=180, stdout=subprocess.PIPE, text=True, check=True)
    return peers.read_figures(done.stdout, "")


def show(rounds, bars):
    """Prints a line for each bar. Returns whether all are met."""
    sides = list(rounds[0])
    peers_here = [side for side in sides if side in ("openmpi", "mpich")]
    good = True
    for who, figure, beside, most in bars:
        if beside == "best peer":
            if not peers_here:
                continue
            beside = min(peers_here,
                         key=lambda side: statistics.median(one[side][figure][0] for one in rounds))
        ours = [one[who][figure][0] for one in rounds]
        theirs = [one[beside][figure][0] for one in rounds]
        ratio = statistics.median(a / b for a, b in zip(ours, theirs))
        good &= ratio <= most
        print(f"{who}, {figure[1]} bytes: {statistics.median(ours):.4g} us, {beside} "
              f"{statistics.median(theirs):.4g}: {ratio:.2f} x (aim {most:.2f}) "
              f"{'met' if ratio <= most else 'MISSED'}")
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=peers.ROOT / "build/release")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--nodes", action="store_true", help="a file as two nodes' memory")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    peers.take_two_processors()
    made = ["fairlead", "mpich"] + ([] if arguments.nodes else ["openmpi"])
    # Where memory has a file system of its own: the file is the job's memory.
    with tempfile.TemporaryDirectory(prefix="fairlead-stores-", dir="/dev/shm") as name:
        folder = Path(name)
        (folder / "reach").write_text(nodes.REACH)
        (folder / "reach").chmod(0o755)
        nodes.compile_all(build, folder, ("pingpong",), made)
        if arguments.nodes:
            nodes.namespaces("up")
        try:
            sides = (nodes_sides if arguments.nodes else device_sides)(build, folder)
            rounds = [{side: run(*how) for side, how in sides.items()}
                      for _ in range(arguments.rounds)]
        finally:
            if arguments.nodes:
                nodes.namespaces("down")
    return 0 if show(rounds, NODES_BARS if arguments.nodes else DEVICE_BARS) else 1


if __name__ == "__main__":
    sys.exit(main())
