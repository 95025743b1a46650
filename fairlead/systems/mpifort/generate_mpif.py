"""mpif.h: constants from constants.txt; from calls.txt interfaces that let any argument pass."""
import sys

from fortran_arguments import ANSWERS_ONLY, arguments, has_binding
from generate_constants import (BLOCK, CONVERSIONS, FUNCTIONS, LOGICALS, PLACES, handles,
                                integers)
from generate_table import PLAIN

HEAD = """\
! mpif.h of Fairlead, for fixed and for free source form: no statement
! is longer than a fixed line. Written by generate.py from
! constants.txt and calls.txt.
"""
FIXED_LINE = 72 - 6
RESULTS = (("WTIME", "DOUBLE PRECISION"), ("WTICK", "DOUBLE PRECISION"),
           ("AINT_ADD", "INTEGER(KIND=8)"), ("AINT_DIFF", "INTEGER(KIND=8)"))
# Calls that only Fortran has, and those of MPI-1 (removed.cc), with their numbers of arguments.
OTHERS = (("F_SYNC_REG", 1), ("ADDRESS", 3), ("TYPE_STRUCT", 6), ("TYPE_HINDEXED", 6))
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def statement(text):
    if len(text) > FIXED_LINE:
        sys.exit(f"mpif.h: longer than a fixed line: {text}")
    return f"      {text}\n"


def takes_anything(call):
    """Whether programs pass arguments of several types or shapes: buffers, and arrays, for which
    they give an element or a variable, too."""
    given = arguments(call, PLAIN)
    return any(a.ignore or a.integer == "ignore" or a.array or "MPI_Status*" in a.type
               for a in given) and not any(a.callback for a in given)


def interface(name, are_strings):
    """An interface body that checks how many arguments there are, and nothing else; gfortran then
    has no calls to compare, whose arguments differ. A string keeps its length; others are targets
    for the reason that any_buffer has."""
    letters = LETTERS[:len(are_strings)]
    text = statement(f"SUBROUTINE MPI_{name}({','.join(letters)})")
    anything = [letter for letter, is_string in zip(letters, are_strings) if not is_string]
    strings = [letter for letter, is_string in zip(letters, are_strings) if is_string]
    for some in (anything[:8], anything[8:]):
        if some:
            text += statement("INTEGER " + ",".join(f"{letter}(*)" for letter in some))
    text += statement(f"TARGET {','.join(anything)}")
    text += f"!GCC$ ATTRIBUTES NO_ARG_CHECK::{','.join(anything)}\n"
    if strings:
        text += statement("CHARACTER(LEN=*) " + ",".join(strings))
    return text + statement("END SUBROUTINE")


def interfaces(calls):
    bodies = [interface(c.name.upper(),
                        [a.hidden is not None for a in arguments(c, PLAIN)] + [False])
              for c in calls
              if has_binding(c) and not c.name.endswith("_c") and
              not ANSWERS_ONLY.fullmatch(c.name) and takes_anything(c)]
    bodies += [interface(name, [False] * count) for name, count in OTHERS]
    return statement("INTERFACE") + "".join(bodies) + statement("END INTERFACE")


def mpif(calls, constants):
    lines = []
    for name, value in [*integers(constants), *((n, v) for _, n, v in handles(constants))]:
        lines += [f"INTEGER {name}", f"PARAMETER ({name}={value})"]
    for name in LOGICALS:
        lines += [f"LOGICAL {name}", f"PARAMETER ({name}=.FALSE.)"]
    lines += ["INTEGER(KIND=8) MPI_DISPLACEMENT_CURRENT",
              "PARAMETER (MPI_DISPLACEMENT_CURRENT=-1)"]
    for name, shape, kind in PLACES:
        written = {"status": "INTEGER", "integer": "INTEGER"}.get(kind, "CHARACTER(LEN=4)")
        lines.append(f"{written} {name}{shape}")
    lines += [f"COMMON /{BLOCK}/ {name}" for name, _, _ in PLACES]
    lines.append(f"SAVE /{BLOCK}/")
    lines += [f"EXTERNAL {name}" for name in FUNCTIONS + CONVERSIONS]
    for name, kind in RESULTS:
        for prefix in ("MPI_", "PMPI_"):
            lines += [f"{kind} {prefix}{name}", f"EXTERNAL {prefix}{name}"]
    return HEAD + "".join(map(statement, lines)) + interfaces(calls)
