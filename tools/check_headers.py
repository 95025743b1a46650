#!/usr/bin/env python3
"""Every header under fairlead/ compiles alone; failures print the compiler's words; exit 1.

A header that some source file includes before anything else has been compiled alone once that file
is built; only the others are compiled here, or with --all every one.

The standard library is read once, precompiled: it is nearly all of what compiling a header takes.
What a header uses of it is looked up in its text instead (tools/checks/std_names.py): each name of
std is declared by a standard header that it includes, or that one of its includes does.
"""
import argparse
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from checks import common, std_names  # noqa: E402

FLAGS = ["-std=c++20", "-Wall", "-Wextra", "-Werror", "-I."]
FIRST_INCLUDE = re.compile(r'^\s*#\s*include\s*(\S+)', re.MULTILINE)
# Headers of C, which programs in C read too: they get nothing that is precompiled.
OF_C = {"stdint.h", "stddef.h", "stdlib.h"}


def headers_of(root):
    return [n for n in common.cpp_files(root) if n.startswith("fairlead/") and n.endswith(".h")]


def read_first(root):
    """What the tree's source files in C++ include before all else."""
    sources = [Path(root) / name for name in common.cpp_files(root) if name.endswith(".cc")]
    found = [FIRST_INCLUDE.search(source.read_text(errors="replace")) for source in sources]
    return {include.group(1).strip('"') for include in found if include}


def commands(headers, compiler, precompiled=None):
    """{header: command that compiles it alone}; `precompiled` goes in front of all but C's."""
    def command(name, included):
        before = [] if precompiled is None or included & OF_C else ["-include", str(precompiled)]
        return [compiler, *FLAGS, "-fsyntax-only", *before,
                "-x", "c++", "-include", name, "/dev/null"]
    return {name: command(name, included) for name, included in headers.items()}


def precompile(root, compiler):
    """The standard library as one precompiled header: where to include it from, or None."""
    folder = Path(root) / "build" / "check" / "std"
    folder.mkdir(parents=True, exist_ok=True)
    header = folder / "std.h"
    text = "".join(f"#include <{name}>\n" for name in std_names.HEADERS)
    made = folder / "std.h.gch"
    if not made.is_file() or header.read_text() != text:
        header.write_text(text)
        done = subprocess.run([compiler, *FLAGS, "-x", "c++-header", str(header), "-o", str(made)],
                              check=False, cwd=root)
        if done.returncode != 0:
            return None
    return header.relative_to(root)


def standard_includes(root, headers):
    """{header: the standard headers that it includes, itself or by others of the tree}."""
    closure = common.Closure(root)
    angled = {}

    def of(name):
        if name not in angled:
            angled[name] = set(std_names.ANGLED.findall((Path(root) / name).read_text()))
        return angled[name]
    return {name: set().union(*(of(member) for member in closure.of(name))) for name in headers}


def missing_names(root, headers):
    """Faults "header: std::name: what to include"."""
    return [f"{name}: std::{what}: {why}"
            for name, included in headers.items()
            for what, why in std_names.missing(
                std_names.used((Path(root) / name).read_text()), included)]


def main():
    parser = common.add_arguments(argparse.ArgumentParser(description=__doc__))
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--all", action="store_true", help="those that a build compiles, too")
    arguments = parser.parse_args()
    headers = standard_includes(arguments.root, headers_of(arguments.root))
    faults = missing_names(arguments.root, headers)
    built = set() if arguments.all else read_first(arguments.root)
    alone = {name: included for name, included in headers.items() if name not in built}
    todo = commands(alone, arguments.compiler, precompile(arguments.root, arguments.compiler))
    results = common.run_cached(arguments.root, "headers", todo, "2", arguments.jobs)
    faults += [f"{name}: does not compile alone\n{text}" for name, passed, text in results
               if not passed]
    for fault in faults:
        print(fault)
    if not faults:
        print(f"headers: {len(results)} compile alone, "
              f"{len(headers) - len(results)} begin a source file")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
