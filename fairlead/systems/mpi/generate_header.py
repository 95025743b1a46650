"""mpi.h from the tables."""
import textwrap

HEAD = """\
/* Fairlead's MPI: the header of the MPI 5.0 standard binary interface (chapter "Application Binary
 * Interface"): a program compiled against it runs on any library that exports the same interface,
 * and the other way round. It declares all of MPI; docs/mpi.md says what this library has of it,
 * and the other calls return MPI_ERR_UNSUPPORTED_OPERATION. Plain C (C99) and C++.
 *
 * Written by generate.py from calls.txt and constants.txt. */
/* clang-format off */
#ifndef FAIRLEAD_SYSTEMS_MPI_MPI_H
#define FAIRLEAD_SYSTEMS_MPI_MPI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MPI_VERSION 5
#define MPI_SUBVERSION 0
#define MPI_ABI_VERSION 1
#define MPI_ABI_SUBVERSION 0

typedef intptr_t MPI_Aint;
typedef int64_t MPI_Offset;
typedef int64_t MPI_Count;

/* 32 bytes; the internal part holds the size in bytes of what was received. */
typedef struct {
  int MPI_SOURCE;
  int MPI_TAG;
  int MPI_ERROR;
  int MPI_internal[5];
} MPI_Status;

/* Handles are pointers. Predefined ones are small integers below 0x400 (no object lives in the
 * zero page); the others come from the library. */
"""
# Handles that Fortran has, and the words for their types in the names of conversions.
FORTRAN_HANDLES = ("Comm", "Errhandler", "File", "Group", "Info", "Message", "Op", "Request",
                   "Session", "Type", "Win")
FORTRAN = """
/* Fortran: not of the binary interface, but what C programs that call Fortran, or are called by it,
 * use of the standard. An INTEGER handle is the handle's number. */
typedef int MPI_Fint;
{conversions}
/* Statuses: these functions and places are in libfairlead_mpifort (fairlead-mpifort links it). */
typedef struct {{
  MPI_Fint MPI_SOURCE;
  MPI_Fint MPI_TAG;
  MPI_Fint MPI_ERROR;
  MPI_Fint MPI_internal[5];
}} MPI_F08_status;
extern MPI_Fint* const MPI_F_STATUS_IGNORE;
extern MPI_Fint* const MPI_F_STATUSES_IGNORE;
extern MPI_F08_status* const MPI_F08_STATUS_IGNORE;
extern MPI_F08_status* const MPI_F08_STATUSES_IGNORE;
{statuses}"""
TAIL = """
#ifdef __cplusplus
}
#endif

#endif /* FAIRLEAD_SYSTEMS_MPI_MPI_H */
"""


def wrapped(text):
    """Lines of at most 100 columns, broken after commas only: "~" holds the other blanks."""
    text = text.replace(" ", "~").replace(",~", ", ")
    lines = textwrap.wrap(text, 100, subsequent_indent=" " * 4)
    return "".join(line.replace("~", " ") + "\n" for line in lines)


def cast(pointer, line):
    name, value = line.split()
    # A second name stands for the first one.
    return f"#define {name} {value if value.startswith('MPI_') else f'(({pointer}){value})'}\n"


def enumeration(lines, begin, end):
    values = (line.split() for line in lines)
    return begin + ",\n".join(f"  {name} = {value}" for name, value in values) + "\n" + end


def function_type(line):
    head, parameters = line.split("(", 1)
    answer, name = head.split()
    return wrapped(f"typedef {answer} ({name})({parameters};")


def section(heading, first, lines):
    text = "" if heading is None else f"\n/* {heading}. */\n"
    kind, _, type_name = first.partition(" ")
    if kind == "handle":
        text += f"typedef struct {type_name.replace('MPI_', 'MPI_ABI_', 1)}* {type_name};\n"
        text += "".join(cast(type_name, line) for line in lines)
    elif kind == "pointer":
        text += "".join(cast(type_name, line) for line in lines)
    elif kind == "values":
        text += enumeration(lines, "enum {\n", "};\n")
    elif kind == "enum":
        text += enumeration(lines, f"typedef enum {type_name} {{\n", f"}} {type_name};\n")
    elif kind == "macros":
        text += "".join(f"#define {line}\n" for line in lines)
    elif kind == "functions":
        text += "".join(function_type(line) for line in lines)
    else:
        text += "".join("typedef {1} {0};\n".format(*line.split()) for line in lines)
    return text


def prototypes(calls):
    text = ""
    groups = (("MPI_", "The calls"), ("PMPI_", "The calls once more, for profiling tools"))
    for prefix, title in groups:
        text += f"\n/* {title}. */\n"
        text += "".join(wrapped(f"{call.answer} {prefix}{name}({call.parameter_list(form)});")
                        for call in calls for name, form in call.forms())
    return text


def fortran():
    conversions, statuses = "", ""
    for prefix in ("MPI_", "PMPI_"):
        for name in FORTRAN_HANDLES:
            conversions += f"#define {prefix}{name}_c2f(handle) {prefix}{name}_toint(handle)\n"
            conversions += f"#define {prefix}{name}_f2c(number) {prefix}{name}_fromint(number)\n"
        kinds = (("c", "MPI_Status"), ("f", "MPI_Fint"), ("f08", "MPI_F08_status"))
        for source, given in kinds:
            for target, made in kinds:
                if source != target:
                    statuses += (f"int {prefix}Status_{source}2{target}(const {given}* "
                                 f"{source}_status, {made}* {target}_status);\n")
    return FORTRAN.format(conversions=conversions, statuses=statuses)


def header(calls, constants):
    text = HEAD + "".join(section(*each) for each in constants) + prototypes(calls)
    return text + fortran() + TAIL
