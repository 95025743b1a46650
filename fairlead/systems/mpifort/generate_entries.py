"""The entries that Fortran calls: C++ functions with gfortran's names, over mpi.h."""
from fortran_arguments import ANSWERS_ONLY, BY_HAND, arguments, has_binding
from generate_table import LARGE

HEAD = '''\
// Fortran entries of the MPI calls. Written by generate.py from calls.txt.
#include "fairlead/systems/mpifort/conversions.h"

using namespace fairlead::mpifort;

extern "C" {
'''


def names(name, form):
    """The strong name, and the weak ones: MPI_ for profiling tools, and those of mpi_f08."""
    lower = name.lower()
    if form == LARGE:
        return f"pmpi_{lower}_f08_", [f"mpi_{lower}_f08_"]
    return f"pmpi_{lower}_", [f"mpi_{lower}_", f"pmpi_{lower}_f08_", f"mpi_{lower}_f08_"]


def aliases(answer, others, parameters, strong):
    return "".join(f"{answer} {other}({parameters}) __attribute__((weak, alias(\"{strong}\")));\n"
                   for other in others)


def body(call, name, given):
    text = "".join(a.before for a in given)
    text += f"  const int mpi_error = MPI_{name}({', '.join(a.passed for a in given)});\n"
    for argument in given:
        if argument.after:
            condition = "" if argument.always else "if (mpi_error == MPI_SUCCESS) "
            text += f"  {condition}{argument.after}\n"
    return text + "  tell(ierror, mpi_error);\n"


def answers_only(call, name, given):
    """Nothing is read but the error's place and the communicator that hears of it."""
    numbers = ("int", "MPI_Count", "MPI_Aint", "MPI_Offset")
    passed = ", ".join("made<MPI_Comm>(*comm)" if a.name == "comm" else
                       "0" if a.type in numbers else "nullptr" for a in given)
    parameters = ", ".join([f"int* {a.name}" if a.name == "comm" else "void*" for a in given] +
                           ["int* ierror"])
    return parameters, f"  tell(ierror, MPI_{name}({passed}));\n"


def entry(call, name, form):
    given = arguments(call, form)
    if ANSWERS_ONLY.fullmatch(call.name):
        parameters, text = answers_only(call, name, given)
    else:
        parameters = ", ".join([a.parameter for a in given] + ["int* ierror"] +
                               [a.hidden for a in given if a.hidden])
        text = body(call, name, given)
    strong, others = names(name, form if not name.endswith("_c") else LARGE)
    text = f"void {strong}({parameters}) {{\n{text}}}\n"
    return text + aliases("void", others, parameters, strong)


def entries(calls):
    text = HEAD
    for call in calls:
        if has_binding(call) and not BY_HAND.fullmatch(call.name):
            text += "".join(entry(call, name, form) for name, form in call.forms())
    return text + "}  // extern \"C\"\n"
