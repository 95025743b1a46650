#!/usr/bin/env python3
"""Turns calls.txt into what depends on the list of MPI calls.

generate.py calls.txt entries OUT.cc    exported MPI_/PMPI_ functions (library mpi_abi)
generate.py calls.txt declarations OUT.h    the functions that do the work, on MPI_Count
generate.py calls.txt header mpi.h      rewrites the prototypes between the markers of mpi.h
generate.py calls.txt check mpi.h       fails when they are not up to date
generate.py calls.txt names             prints every exported name
"""
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


def prototypes(calls):
    lines = []
    for prefix in ("MPI_", "PMPI_"):
        for call in calls:
            for name, count in call.forms():
                text = f"{call.answer} {prefix}{name}({call.parameter_list(count)});"
                # Break after commas only: "~" holds the other blanks together.
                text = text.replace(" ", "~").replace(",~", ", ")
                wrapped = textwrap.wrap(text, 100, subsequent_indent=" " * 4)
                lines += [line.replace("~", " ") for line in wrapped]
    return "\n".join(lines) + "\n"


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
    text = '#include <climits>\n\n#include "mpi_calls.h"\n\nextern "C" {\n'
    for call in calls:
        for name, count in call.forms():
            text += entry(call, name, count)
    return text + "}\n"


def declarations(calls):
    text = ('#pragma once\n#include "fairlead/systems/mpi/mpi.h"\n\n'
            "namespace fairlead::mpi::api {\n")
    for call in calls:
        text += f"{call.answer} {call.name.lower()}({call.parameter_list('MPI_Count')});\n"
    return text + "}  // namespace fairlead::mpi::api\n"


def with_prototypes(path, calls):
    with open(path, encoding="utf-8") as source:
        text = source.read()
    head, rest = text.split(BEGIN)
    tail = rest.split(END)[1]
    return text, head + BEGIN + prototypes(calls) + END + tail


def main():
    calls, verb, out = read(sys.argv[1]), sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else None
    if verb == "names":
        print("\n".join(p + n for c in calls for n, _ in c.forms() for p in ("MPI_", "PMPI_")))
        return
    if verb in ("header", "check"):
        old, new = with_prototypes(out, calls)
        if verb == "check" and old != new:
            sys.exit("mpi.h is behind calls.txt: run generate.py calls.txt header mpi.h")
        if verb == "check":
            return
    else:
        new = {"entries": entries, "declarations": declarations}[verb](calls)
    with open(out, "w", encoding="utf-8") as target:
        target.write(new)


if __name__ == "__main__":
    main()
