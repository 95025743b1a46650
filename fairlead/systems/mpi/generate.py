#!/usr/bin/env python3
"""Turns calls.txt and constants.txt into what depends on them; FOLDER holds the two tables.

generate.py FOLDER entries OUT.cc     the exported MPI_/PMPI_ functions (library mpi_abi)
generate.py FOLDER write DOCS.md      rewrites mpi.h, calls.h and watch/calls.inc in FOLDER, and
                                      DOCS.md
generate.py FOLDER check DOCS.md      fails when they are not up to date
generate.py FOLDER bad_arguments OUT  a test's table of calls with an argument that is wrong
generate.py FOLDER names              prints every exported name
"""
import pathlib
import sys

from generate_docs import docs
from generate_header import header, wrapped
from generate_table import PLAIN, read_calls, read_constants
from generate_tests import bad_arguments
from generate_watch import call_table, is_watched, watched


def argument(parameter, form):
    """What an entry passes to the work for a parameter of its."""
    name = parameter.name
    if parameter.is_view():
        return f"fairlead::mpi::Counts({name})"
    if "%" in parameter.type:
        return f"fairlead::mpi::UserFunction({name})"
    if parameter.narrows() and form == PLAIN:
        return f"{name} == nullptr ? nullptr : &wide_{name}"
    return name


def working(call, form):
    """Calls the work. A plain form narrows what comes back through a COUNT*: MPI_UNDEFINED when it
    is too large; what goes in by it, too, is widened first."""
    narrow = [p for p in call.parameters if p.narrows() and form == PLAIN]
    passed = ", ".join(argument(p, form) for p in call.parameters if p.type != "...")
    work = f"fairlead::mpi::api::{call.name.lower()}({passed})"
    if is_watched(call):
        work = f"fairlead::mpi::is_watched() ? watched_{call.name.lower()}({passed}) : {work}"
    if not narrow:
        return f"  return {work};\n"
    text = ""
    for p in narrow:
        first = f"{p.name} == nullptr ? 0 : *{p.name}" if p.kind == "position" else "0"
        text += f"  {'MPI_Aint' if 'DISP' in p.type else 'MPI_Count'} wide_{p.name} = {first};\n"
    text += f"  const int error = {work};\n"
    for p in narrow:
        text += (f"  if (error == MPI_SUCCESS) *{p.name} = wide_{p.name} > INT_MAX ? MPI_UNDEFINED "
                 f": static_cast<int>(wide_{p.name});\n")
    return text + "  return error;\n"


def unsupported(call, name, form):
    """A body that says so. The first communicator or error handler decides who hears it, the file
    where the call is about files, even if it names none yet, or a communicator too."""
    about_files = call.name.startswith("File_") or call.name == "Register_datarep"
    kinds = ("file",) if about_files else ("comm", "errhandler")
    judge = next((p for p in call.parameters if p.kind in kinds), None)
    types = ", ".join(p.written(form) if p is judge or p.type == "..." else
                      p.written(form).replace(f" {p.name}", " ", 1).rstrip()
                      for p in call.parameters)
    tool = "tool_" if call.name.startswith("T_") else ""
    hearer = judge.name if judge else "MPI_FILE_NULL" if about_files else ""
    told = f"\"MPI_{name}\"" + (f", {hearer}" if hearer else "")
    return types or "void", f"  return fairlead::mpi::{tool}unsupported({told});\n"


def entry(call, name, form):
    parameters, body = call.parameter_list(form), ""
    if call.state == "yes":
        body = working(call, form)
    else:
        parameters, body = unsupported(call, name, form)
    return (f"{call.answer} PMPI_{name}({parameters}) {{\n{body}}}\n"
            f"{call.answer} MPI_{name}({parameters}) "
            f"__attribute__((weak, alias(\"PMPI_{name}\")));\n")


def entries(calls):
    """MPI_ names are weak: a profiling tool defines its own and calls the PMPI_ ones."""
    text = ('#include <climits>\n\n#include "fairlead/systems/mpi/calls.h"\n'
            '#include "fairlead/systems/mpi/unsupported.h"\n'
            '#include "fairlead/systems/mpi/watch/watched_call.h"\n\n')
    text += "".join(watched(c) for c in calls if is_watched(c)) + 'extern "C" {\n'
    return text + "".join(entry(c, name, form) for c in calls for name, form in c.forms()) + "}\n"


def declarations(calls):
    text = ("// The functions that do the work of the MPI calls, on MPI_Count. Written by "
            "generate.py.\n// clang-format off\n"
            '#pragma once\n#include "fairlead/systems/mpi/arguments.h"\n'
            '#include "fairlead/systems/mpi/mpi.h"\n\nnamespace fairlead::mpi::api {\n')
    for call in calls:
        if call.state == "yes":
            taken = ", ".join(p.for_work() for p in call.parameters if p.type != "...")
            text += wrapped(f"{call.answer} {call.name.lower()}({taken or 'void'});")
    return text + "}  // namespace fairlead::mpi::api\n"


def main():
    folder, verb = pathlib.Path(sys.argv[1]), sys.argv[2]
    calls = read_calls(folder / "calls.txt")
    if verb == "names":
        print("\n".join(p + n for c in calls for n, _ in c.forms() for p in ("MPI_", "PMPI_")))
        return
    if verb in ("entries", "bad_arguments"):
        text = entries(calls) if verb == "entries" else bad_arguments(calls)
        pathlib.Path(sys.argv[3]).write_text(text, encoding="utf-8")
        return
    made = {folder / "mpi.h": header(calls, read_constants(folder / "constants.txt")),
            folder / "calls.h": declarations(calls),
            folder / "watch/calls.inc": call_table(calls), pathlib.Path(sys.argv[3]): docs(calls)}
    for path, text in made.items():
        old = path.read_text(encoding="utf-8") if path.exists() else ""
        if verb == "check" and old != text:
            sys.exit(f"{path.name} is behind the tables: python3 fairlead/systems/mpi/generate.py "
                     "fairlead/systems/mpi write docs/mpi.md")
        if verb == "write" and old != text:
            path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
