#!/usr/bin/env python3
"""Writes Fortran's side of MPI from the tables of systems/mpi.

generate.py MPI_FOLDER OUT_FOLDER     mpi_fortran_entries.cc, mpif.h and the modules' sources
generate.py MPI_FOLDER names          prints every name that the entries are to export
"""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "mpi"))

from fortran_arguments import has_binding  # noqa: E402
from generate_entries import entries, names  # noqa: E402
from generate_modules import modules  # noqa: E402
from generate_mpif import mpif  # noqa: E402
from generate_table import LARGE, read_calls, read_constants  # noqa: E402


def exported(calls):
    for call in calls:
        if has_binding(call):
            for name, form in call.forms():
                strong, others = names(name, LARGE if name.endswith("_c") else form)
                yield from (strong, *others)


def main():
    tables = pathlib.Path(sys.argv[1])
    calls = read_calls(tables / "calls.txt")
    if sys.argv[2] == "names":
        print("\n".join(exported(calls)))
        return
    constants = read_constants(tables / "constants.txt")
    made = {"mpi_fortran_entries.cc": entries(calls), "mpif.h": mpif(calls, constants),
            **modules(calls, constants)}
    for name, text in made.items():
        path = pathlib.Path(sys.argv[2]) / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
