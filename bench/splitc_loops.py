#!/usr/bin/env python3
"""Compares an access through a global pointer, in C++ and in Split-C's own syntax, with a loop over
the mapped memory: all in turn, medians, and ratios beside their bars.

  bench/splitc_loops.py                 2 ranks, shared memory, 9 rounds
  bench/splitc_loops.py --rounds 15 --json
"""
import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
JOB_TIMEOUT_S = 120
# Ratio, its two figures, and what it is to be at most.
RATIOS = (("C++ read / loop", "read_ns", "raw_read_ns", 1.2),
          ("C++ write / loop", "write_ns", "raw_write_ns", 1.2),
          ("Split-C's syntax / C++, read", "sc_read_ns", "read_ns", 1.1),
          ("Split-C's syntax / C++, write", "sc_write_ns", "write_ns", 1.1))


def figures_of(options, program):
    command = [str(options.build / "bin/fairlead"), "run", "-n", "2", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=JOB_TIMEOUT_S,
                          check=False)
    if done.returncode != 0:
        sys.exit(f"splitc_loops: {' '.join(command)}: {done.stdout}{done.stderr}")
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    seen = {}
    with tempfile.TemporaryDirectory() as work:
        translated = Path(work) / "loops"
        subprocess.run([str(options.build / "bin/fairlead-splitcc"), "-O2",
                        str(ROOT / "bench/splitc_loops.sc"), "-o", str(translated)], check=True)
        for _ in range(options.rounds):
            for name, value in figures_of(options, options.build / "bin/splitc_loops").items():
                seen.setdefault(name, []).append(value)
            for name, value in figures_of(options, translated).items():
                seen.setdefault("sc_" + name, []).append(value)
    median = {name: statistics.median(values) for name, values in seen.items() if "sum" not in name}
    for name, value in median.items():
        if not options.json:
            print(f"{name:14} {value:7.3f}")
    for name, over, under, bar in RATIOS:
        ratio = median[over] / median[under]
        if options.json:
            print(json.dumps({"ratio": name, "value": round(ratio, 3), "bar": bar}))
        else:
            print(f"{name:32} {ratio:5.2f}  at most {bar}{'' if ratio <= bar else '  missed'}")


if __name__ == "__main__":
    main()
