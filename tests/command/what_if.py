"""Holds what `fairlead compare` says of a program against runs on changed platform files. As a
program, with FAIRLEAD_BIN and FAIRLEAD_SOURCE in its environment:

what_if.py [-n RANKS] [--on PLATFORM,...] [--lci NAME,...] [--more OPTION]... [-j N] PROGRAM...

Each `why` must name a resource and a number, and no two that are not folded into one row may be
equal. Its what-if ("NI processor twice as fast: -19.0 %") is compared with a run on a copy of the
platform file in which every number of that resource is changed, rates doubled and times halved, by
the units in their names. Ends with 1 where a `why` is wrong, or more than one what-if in ten is off
by more than 3 percentage points."""
import argparse
import concurrent.futures
import json
import re
import sys
import tempfile
from pathlib import Path

from command import fairlead, json_lines

WITHIN = 3.0  # percentage points
SHARE = 0.9
TITLES = {"host processor": "host", "I/O bus": "bus", "host DMA engine": "dma",
          "NI processor": "ni", "links": "link", "host visibility": "visibility",
          "timers": "timer"}
TITLE = "|".join(re.escape(title) for title in TITLES)
LIMIT = re.compile(rf"({TITLE}) (\d+) % of the critical path")
WHAT_IF = re.compile(rf"(?:({TITLE}) )?twice as fast: ([+-]\d+\.\d) %")
KEY = re.compile(r"(\w+) = \{ value = ([-+.\de]+)(.*)", re.DOTALL)
# Delays that are a policy: no faster machine has shorter ones.
POLICIES = ("watchdog_us", "age_us")


def resource_of(section, key):
    """Which resource a number of a platform file is one of."""
    if section == "ni":
        return "dma" if key.startswith("dma_") else \
            "visibility" if key == "host_visible_us" else "ni"
    return {"host": "host", "bus": "bus", "network": "link"}.get(section)


def faster_file(text, resource):
    """The platform file with that resource twice as fast."""
    section, lines = "", []
    for line in text.splitlines(keepends=True):
        if line.startswith("["):
            section = line.strip("[]\n")
        match = KEY.fullmatch(line)
        if match and resource_of(section, match[1]) == resource and match[1] not in POLICIES:
            factor = 2 if match[1].endswith(("_MHz", "_MBps")) else \
                0.5 if match[1].endswith(("_us", "_ns")) else 1
            line = f"{match[1]} = {{ value = {float(match[2]) * factor!r}{match[3]}" \
                if factor != 1 else line
        lines.append(line)
    return "".join(lines)


def virtual_time_us(on, lci, options, program, folder):
    stats = Path(folder) / f"{Path(on).stem}-{lci}.json"
    done = fairlead("run", *options, "--on", on, "--lci", lci, f"--stats={stats}", *program)
    if done.returncode != 0:
        raise RuntimeError(f"--on {on} --lci {lci}: {done.stderr}")
    return json.loads(stats.read_text())["virtual_time_us"]


def wrong_whys(rows):
    """What is wrong with the texts themselves."""
    found, seen = [], {}
    for row in rows:
        if "error" in row or "same_as" in row or row["why"].startswith("sends nothing"):
            continue
        name = f"{row['on']} {row['lci']}"
        if not LIMIT.search(row["why"]):
            found.append(f"{name}: no resource with a number: {row['why']}")
        if row["why"] in seen:
            found.append(f"{name}: says what {seen[row['why']]} says: {row['why']}")
        seen[row["why"]] = name
    return found


class WhatIf:
    """One row's: what it said, and what the run on the changed file took."""

    def __init__(self, row, resource, said, measured):
        self.row, self.resource, self.said, self.measured = row, resource, said, measured

    def off(self):
        return abs(self.said - self.measured)

    def text(self):
        return (f"{self.row['on']:14} {self.row['lci']:14} {self.resource:10} said "
                f"{self.said:+6.1f} %, a changed file {self.measured:+6.1f} %")


def try_row(row, options, program):
    """A WhatIf; None: the row has none, as no resource has 5 % of the path."""
    match = WHAT_IF.search(row["why"])
    if match is None:
        return None
    resource = TITLES[match[1] or LIMIT.search(row["why"])[1]]
    with tempfile.TemporaryDirectory() as folder:
        shown = fairlead("platforms", "--show", row["on"]).stdout
        changed = Path(folder) / "changed.toml"
        changed.write_text(faster_file(shown, resource))
        us = virtual_time_us(str(changed), row["lci"], options, program, folder)
    measured = (us / (row["seconds"] * 1e6) - 1) * 100
    return WhatIf(row, resource, float(match[2]), measured)


def compare(options, on, lci, program):
    return json_lines(fairlead("compare", *options, "--on", on, "--lci", lci, "--json",
                               *program).stdout)


def try_rows(rows, options, program, at_once=1):
    """All what-ifs of rows that are not copies of others."""
    worth = [row for row in rows if "error" not in row and "same_as" not in row]
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        tried = pool.map(lambda row: try_row(row, options, program), worth)
        return [one for one in tried if one is not None]


def holds(tried):
    return sum(one.off() <= WITHIN for one in tried) >= SHARE * len(tried)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("-n", default="16")
    parser.add_argument("--on", default="myrinet-ppro,myrinet-p3")
    parser.add_argument("--lci", default="all")
    parser.add_argument("--more", action="append", default=[], help="a further option of both")
    parser.add_argument("-j", type=int, default=2, help="runs at once")
    parser.add_argument("program", nargs=argparse.REMAINDER)
    given = parser.parse_args()
    options = ["-n", given.n, *given.more]
    rows = compare(options, given.on, given.lci, given.program)
    wrong = wrong_whys(rows)
    tried = try_rows(rows, options, given.program, given.j)
    for one in tried:
        print(one.text())
    for row in rows:
        if "error" in row:
            print(f"{row['on']:14} {row['lci']:14} {row['error']}")
    for text in wrong:
        print(text)
    folded = sum("same_as" in row for row in rows)
    print(f"{len(rows)} runs, {folded} folded into another's row; of {len(tried)} what-ifs "
          f"{sum(one.off() <= WITHIN for one in tried)} within {WITHIN:g} points, the largest "
          f"{max((one.off() for one in tried), default=0):.2f} off; {len(wrong)} texts wrong")
    return 0 if tried and not wrong and holds(tried) else 1


if __name__ == "__main__":
    sys.exit(main())
