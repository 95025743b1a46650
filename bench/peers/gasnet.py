#!/usr/bin/env python3
"""Compares GASNet's own tests on Fairlead's Active Messages with the same tests on GASNet's own
conduits: in turn, medians, and ratios beside their bars.

  bench/peers/gasnet.py --smp SMP --udp UDP --ours OURS
  bench/peers/gasnet.py --smp SMP --udp UDP --ours OURS --rounds 9 --only shm,barrier --json

SMP, UDP and OURS are directories that have the programs testam and testbarrier, built unmodified:
with the smp-conduit (with PSHM), with the stock udp-conduit (without), and with the udp-conduit on
libfairlead_amudp (docs/gasnet.md says how).
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
JOB_TIMEOUT_S = 600
ROUND_TRIP = "AMShort     ping-pong roundtrip ReqRep"
FLOOD = "AMShort     flood     roundtrip ReqRep"
BARRIER = "Avg Anon. Barrier latency"


class Peers:
    """Who runs a test, and how: lines of output of a test on so many ranks."""

    def __init__(self, options):
        self.options = options

    def output_of(self, command, **variables):
        done = subprocess.run(command, capture_output=True, text=True, timeout=JOB_TIMEOUT_S,
                              check=False, env={**os.environ, **variables})
        if done.returncode != 0:
            sys.exit(f"gasnet: {' '.join(command)}: {done.stdout}{done.stderr}")
        return done.stdout

    def smp(self, test, ranks, *arguments):
        return self.output_of([str(self.options.smp / test), *arguments],
                              GASNET_PSHM_NODES=str(ranks))

    def udp(self, test, ranks, *arguments, loss=0.0):
        extra = {"GASNET_FAULT_RATE": str(loss)} if loss else {}
        return self.output_of([str(self.options.udp / test), str(ranks), *arguments],
                              GASNET_SPAWNFN="L", **extra)

    def ours(self, test, ranks, *arguments, on="shm", loss=0.0):
        faults = ["--faults", f"drop={loss}"] if loss else []
        return self.output_of([str(self.options.build / "bin/fairlead"), "run", "-n", str(ranks),
                               "--on", on, *faults, str(self.options.ours / test), *arguments])

    def flags(self, ranks):
        return json.loads(self.output_of([str(self.options.build / "bin/flag_barrier"),
                                          str(ranks)]))["barrier_us"]


def figure(output, name):
    """Microseconds in the line of a test's output that has the name."""
    for line in output.splitlines():
        if name in line:
            found = re.findall(r"([0-9.]+) us", line)
            if found:
                return float(found[-1])
    sys.exit(f"gasnet: no line '{name}' in: {output}")


def am(test_output):
    return {"round_trip": figure(test_output, ROUND_TRIP), "flood": figure(test_output, FLOOD)}


def comparisons(peers):
    """Group -> what to run, by whom, and (ratio, figure of ours, of theirs, bar, is_at_most).

    A flood's ratio is of rates, so that more is better."""
    turns, few = "20000", "2000"
    return {
        "shm": ({"ours": lambda: am(peers.ours("testam", 2, turns, "64", "A")),
                 "smp": lambda: am(peers.smp("testam", 2, turns, "64", "A"))},
                [("round trip, shm / smp-conduit", "round_trip", "smp", 0.7),
                 ("flood's rate, shm / smp-conduit", "flood", "smp", 1.5)]),
        "stock": ({"ours": lambda: am(peers.ours("testam", 2, turns, "64", "A")),
                   "udp": lambda: am(peers.udp("testam", 2, few, "64", "A"))},
                  [("round trip, shm / stock udp-conduit", "round_trip", "udp", 0.3)]),
        "udp": ({"ours": lambda: am(peers.ours("testam", 2, few, "64", "A", on="udp")),
                 "udp": lambda: am(peers.udp("testam", 2, few, "64", "A"))},
                [("round trip, udp / stock udp-conduit", "round_trip", "udp", 0.9)]),
        "loss": ({"ours": lambda: am(peers.ours("testam", 2, few, "64", "A", on="udp",
                                                loss=0.01)),
                  "udp": lambda: am(peers.udp("testam", 2, few, "64", "A", loss=0.01))},
                 [("round trip at 1 % loss, udp / stock", "round_trip", "udp", 0.05)]),
        "barrier": ({"ours": lambda: {"barrier": figure(peers.ours("testbarrier", 8, few),
                                                        BARRIER)},
                     "smp": lambda: {"barrier": figure(peers.smp("testbarrier", 8, few), BARRIER)},
                     "flags": lambda: {"barrier": peers.flags(8)}},
                    [("barrier of 8, shm / smp-conduit", "barrier", "smp", 1.0),
                     ("barrier of 8, shm / flags", "barrier", "flags", 1.5)]),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("smp", "udp", "ours"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="shm,stock,udp,loss,barrier")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    for folder in (options.smp, options.udp, options.ours):
        for test in ("testam", "testbarrier"):
            if not (folder / test).is_file():
                parser.error(f"{folder} has no program {test}: build it there (docs/gasnet.md), or "
                             "name the directory that it was built in")
    groups = comparisons(Peers(options))
    unknown = set(options.only.split(",")) - set(groups)
    if unknown:
        parser.error(f"no group {', '.join(sorted(unknown))}; there are {', '.join(groups)}")
    for group in options.only.split(","):
        who, ratios = groups[group]
        seen = {}
        for _ in range(options.rounds):
            for name, run in who.items():
                for what, value in run().items():
                    seen.setdefault((name, what), []).append(value)
        median = {key: statistics.median(values) for key, values in seen.items()}
        for name, what, beside, bar in ratios:
            ours, theirs = median["ours", what], median[beside, what]
            is_rate = what == "flood"
            ratio = theirs / ours if is_rate else ours / theirs
            reached = ratio >= bar if is_rate else ratio <= bar
            if options.json:
                print(json.dumps({"ratio": name, "value": round(ratio, 3), "bar": bar,
                                  "ours_us": ours, "beside_us": theirs}))
            else:
                print(f"{name:38} {ratio:6.3f}  at {'least' if is_rate else 'most'} {bar:<5}"
                      f"{ours:9.3f} us beside {theirs:.3f}{'' if reached else '  missed'}",
                      flush=True)


if __name__ == "__main__":
    main()
