#!/usr/bin/env python3
"""A rail that goes and comes back under load: two nodes of this machine with two rails (network
namespaces, veth), one rank each, a stream of 64 KiB messages; the first rail is taken down for a
while. By each of --lci: the rate with both rails, with one and with both again, the longest time in
which nothing came, and how long after the rail's return the rate is nine tenths of what it was.
Medians of so many runs. Needs root and iproute2.

  bench/peers/rail_loss.py --rounds 5
  bench/peers/rail_loss.py --port 1gbit,128kb --lci nirx      ports of both rails hold so much
"""
import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import nodes
import peers

SECONDS = 6.0
DOWN_AT = 2.0
UP_AT = 4.0
SETTLED = 0.5  # rates count from so long after a change
SLICES = 10  # of 5 ms, that the rate after the return is looked at in
GAP_MS_MAX = 200
RETURN_S_MAX = 1


def set_rail(change):
    subprocess.run(["ip", "-n", nodes.NAMES[0], "link", "set", "rail0", change], check=True)
    return time.monotonic()


def rate(slices, begin, end):
    """MB/s between two moments."""
    return sum(bytes_ for at, bytes_ in slices if begin <= at < end) / (end - begin) / 1e6


def return_time(slices, up, whole):
    """Seconds from the rail's return until the rate has come back; None: it has not."""
    moment, step = up, 0.005
    while moment < slices[-1][0] - SLICES * step:
        if rate(slices, moment, moment + SLICES * step) >= 0.9 * whole:
            return moment - up
        moment += step
    return None


def run_once(build, program, lci):
    command = [str(build / "bin/fairlead"), "run", "--address", ",".join(nodes.NETWORKS), "--nodes",
               ",".join(f"{name}:1" for name in nodes.NAMES), "--lci", lci, str(program),
               str(SECONDS)]
    with subprocess.Popen(command, env=peers.environment(), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, text=True) as job:
        time.sleep(DOWN_AT)
        down = set_rail("down")
        time.sleep(UP_AT - DOWN_AT)
        up = set_rail("up")
        out, _ = job.communicate(timeout=120)
        if job.returncode != 0:
            sys.exit(f"rail_loss: {' '.join(command)}: exit {job.returncode}")
    lines = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    slices = [(line["at"], line["bytes"]) for line in lines if "at" in line]
    end = lines[-1]
    whole = rate(slices, slices[0][0] + SETTLED, down)
    return {"both_MBps": whole, "one_MBps": rate(slices, down + SETTLED, up),
            "again_MBps": rate(slices, up + 2 * SETTLED, slices[-1][0]),
            "gap_ms": end["longest_gap_ms"], "return_s": return_time(slices, up, whole),
            "wrong": end["wrong"]}


def show(lci, runs):
    values = {key: [run[key] for run in runs] for key in runs[0]}
    if None in values["return_s"]:
        values["return_s"] = [float("inf")]
    median = {key: statistics.median(of) for key, of in values.items()}
    met = median["gap_ms"] <= GAP_MS_MAX and median["return_s"] <= RETURN_S_MAX
    print(f"{lci}: both rails {median['both_MBps']:.4g} MB/s, one {median['one_MBps']:.4g}, both "
          f"again {median['again_MBps']:.4g}; longest gap {median['gap_ms']:.3g} ms (most "
          f"{max(values['gap_ms']):.3g}; aim {GAP_MS_MAX}), the rate is back after "
          f"{median['return_s']:.3g} s (aim {RETURN_S_MAX}); wrong or twice: "
          f"{sum(values['wrong'])} {'met' if met else 'MISSED'}")
    return met and sum(values["wrong"]) == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=peers.ROOT / "build/release")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--lci", default="hrx,nirx", help="one or several (hrx,nirx)")
    parser.add_argument("--port", type=nodes.port_of, metavar="RATE,QUEUE",
                        help="limit the ports of both rails")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    names = arguments.lci.split(",")
    with tempfile.TemporaryDirectory(prefix="fairlead-rails-") as folder:
        nodes.compile_all(build, Path(folder), ("rail_loss",), ("fairlead",))
        nodes.namespaces("up")
        try:
            for rail in (0, 1) if arguments.port else ():
                nodes.limit_ports(rail, *arguments.port[:2])
            runs = {lci: [] for lci in names}
            for _ in range(arguments.rounds):
                for lci in names:
                    runs[lci].append(run_once(build, Path(folder) / "rail_loss.fairlead", lci))
        finally:
            nodes.namespaces("down")
    good = [show(lci, runs[lci]) for lci in names]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
