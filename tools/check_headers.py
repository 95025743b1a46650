#!/usr/bin/env python3
"""Every header under fairlead/ compiles alone; failures print the compiler's words; exit 1."""
import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from checks import common  # noqa: E402


def commands(root, compiler):
    flags = ["-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-I."]
    headers = [n for n in common.cpp_files(root) if n.startswith("fairlead/") and n.endswith(".h")]
    return {n: [compiler, *flags, "-x", "c++", "-include", n, "/dev/null"] for n in headers}


def main():
    parser = common.add_arguments(argparse.ArgumentParser(description=__doc__))
    parser.add_argument("--compiler", default="g++")
    arguments = parser.parse_args()
    todo = commands(arguments.root, arguments.compiler)
    results = common.run_cached(arguments.root, "headers", todo, "1", arguments.jobs)
    failed = [(name, text) for name, passed, text in results if not passed]
    for name, text in failed:
        print(f"{name}: does not compile alone\n{text}")
    if not failed:
        print(f"headers: {len(results)} compile alone")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
