#!/usr/bin/env python3
"""Turns calls.txt into what depends on the list of MPI calls.

generate.py calls.txt entries OUT.cc    the exported MPI_/PMPI_ functions (library mpi_abi)
generate.py calls.txt headers DIR       rewrites calls.h, and the prototypes of mpi.h, in DIR
generate.py calls.txt check DIR         fails when they are not up to date
generate.py calls.txt names             prints every exported name
"""
import pathlib
import re
import sys
import textwrap

BEGIN = "/* Prototypes: written by generate.py from calls.txt. */\n/* clang-format off */\n"
END = "/* clang-format on */\n"
PROTOTYPE = re.compile(r"^(int|double) (\w+)\((.*)\)$")


class Call:
    def __init__(self, line):
        match = PROTOTYPE.match(line)
        if not match:
            sys.exit(f"calls.txt: not a prototype: {line}")
        self.answer, self.name, text = match.groups()
        self.parameters = [] if text == "void" else [p.strip() for p in text.split(",")]
        self.has_count = "COUNT" in text

    def forms(self):
        yield self.name, "int"
        if self.has_count:
            yield self.name + "_c", "MPI_Count"

    def parameter_list(self, count):
        return ", ".join(p.replace("COUNT", count) for p in self.parameters) or "void"


def argument(parameter):
    return re.search(r"(\w+)(\[\])?$", parameter).group(1)


def read(path):
    with open(path, encoding="utf-8") as source:
        lines = (line.strip() for line in source)
        return [Call(line) for line in lines if line and not line.startswith("#")]


def wrapped(text):
    """Lines of at most 100 columns, broken after commas only: "~" holds the other blanks."""
    text = text.replace(" ", "~").replace(",~", ", ")
    lines = textwrap.wrap(text, 100, subsequent_indent=" " * 4)
    return "".join(line.replace("~", " ") + "\n" for line in lines)


def prototypes(calls):
    return "".join(wrapped(f"{call.answer} {prefix}{name}({call.parameter_list(count)});")
                   for prefix in ("MPI_", "PMPI_") for call in calls
                   for name, count in call.forms())


def entry(call, name, count):
    """An int form narrows what the work answers through a COUNT*: MPI_UNDEFINED when too large."""
    body, arguments, narrow = [], [], None
    for parameter in call.parameters:
        word = argument(parameter)
        if parameter.startswith("COUNT*") and count == "int":
            narrow = word
            arguments.append(f"{word} == nullptr ? nullptr : &wide")
        else:
            arguments.append(word)
    work = f"fairlead::mpi::api::{call.name.lower()}({', '.join(arguments)})"
    if narrow is None:
        body.append(f"  return {work};")
    else:
        body += ["  MPI_Count wide = 0;", f"  const int error = {work};",
                 f"  if (error == MPI_SUCCESS) *{narrow} = wide > INT_MAX ? MPI_UNDEFINED : "
                 "static_cast<int>(wide);", "  return error;"]
    return (f"{call.answer} PMPI_{name}({call.parameter_list(count)}) {{\n" + "\n".join(body) +
            f"\n}}\n{call.answer} MPI_{name}({call.parameter_list(count)}) "
            f"__attribute__((weak, alias(\"PMPI_{name}\")));\n")


def entries(calls):
    """MPI_ names are weak: a profiling tool defines its own and calls the PMPI_ ones."""
    text = '#include <climits>\n\n#include "fairlead/systems/mpi/calls.h"\n\nextern "C" {\n'
    for call in calls:
        for name, count in call.forms():
            text += entry(call, name, count)
    return text + "}\n"


def declarations(calls):
    text = ("// The functions that do the work of the MPI calls, on MPI_Count. Written by "
            "generate.py.\n// clang-format off\n"
            '#pragma once\n#include "fairlead/systems/mpi/mpi.h"\n\n'
            "namespace fairlead::mpi::api {\n")
    for call in calls:
        text += wrapped(f"{call.answer} {call.name.lower()}({call.parameter_list('MPI_Count')});")
    return text + "}  // namespace fairlead::mpi::api\n"


def with_prototypes(text, calls):
    head, rest = text.split(BEGIN)
    return head + BEGIN + prototypes(calls) + END + rest.split(END)[1]


def headers(calls, folder, write):
    """The headers that depend on the table: writes them, or answers whether they are as it says."""
    fresh = True
    for name, make in (("mpi.h", with_prototypes), ("calls.h", lambda _, c: declarations(c))):
        path = pathlib.Path(folder, name)
        old = path.read_text(encoding="utf-8") if path.exists() else ""
        new = make(old, calls)
        fresh = fresh and old == new
        if write:
            path.write_text(new, encoding="utf-8")
    return fresh


def main():
    calls, verb = read(sys.argv[1]), sys.argv[2]
    if verb == "names":
        print("\n".join(p + n for c in calls for n, _ in c.forms() for p in ("MPI_", "PMPI_")))
    elif verb == "entries":
        pathlib.Path(sys.argv[3]).write_text(entries(calls), encoding="utf-8")
    elif not headers(calls, sys.argv[3], write=verb == "headers") and verb == "check":
        sys.exit("mpi.h or calls.h is behind calls.txt: run generate.py calls.txt headers DIR")


if __name__ == "__main__":
    main()
