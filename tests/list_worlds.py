#!/usr/bin/env python3
"""list_worlds.py PROGRAM PREFIX OUT: registers the tests of a gtest program with ctest.

Tests that take a world as their parameter (NAME/WORLD) become one test a world, PREFIX.WORLD, which
runs all of them in one process: starting a process for each takes longer than most of them do. The
others become PREFIX.others. Worlds on libfabric are left out (they run in shards).
"""
import re
import subprocess
import sys


def worlds_of(listing):
    """{world: number of tests} of `--gtest_list_tests`; None for those of no world."""
    count = {}
    for line in listing.splitlines():
        if line.startswith("  "):
            name = line.split("#")[0].strip()
            world = name.rsplit("/", 1)[1] if "/" in name else None
            count[world] = count.get(world, 0) + 1
    return count


def main():
    program, prefix, out = sys.argv[1:]
    listing = subprocess.run([program, "--gtest_list_tests"], check=True, capture_output=True,
                             text=True).stdout
    count = {world: n for world, n in worlds_of(listing).items()
             if world is None or not world.startswith("ofi")}
    with open(out, "w", encoding="utf-8") as file:
        for world, tests in count.items():
            name = f"{prefix}.{world or 'others'}"
            chosen = "-*/*.*/*" if world is None else f"*/{world}"
            assert re.fullmatch(r"[\w.]+", name), name
            file.write(f'add_test("{name}" "{program}" "--gtest_filter={chosen}")\n'
                       f'set_tests_properties("{name}" PROPERTIES LABELS system TIMEOUT 300 '
                       f'COST {tests})\n')


if __name__ == "__main__":
    main()
