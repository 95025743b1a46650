"""The modules mpi and mpi_f08: an interface for each call, and what has to be written out."""
import re

from fortran_arguments import ANSWERS_ONLY, arguments, has_binding
from generate_constants import CONVERSIONS, FUNCTIONS, base_module, handles, places
from generate_table import LARGE, PLAIN

FUNCTION_RESULTS = {"Wtime": "double precision", "Wtick": "double precision",
                    "Aint_add": "integer(kind=MPI_ADDRESS_KIND)",
                    "Aint_diff": "integer(kind=MPI_ADDRESS_KIND)"}
CALLBACKS = (
    ("MPI_User_function", "invec, inoutvec, len, datatype",
     ("type(c_ptr), value :: invec, inoutvec", "integer :: len",
      "type(MPI_Datatype) :: datatype")),
    ("MPI_User_function_c", "invec, inoutvec, len, datatype",
     ("type(c_ptr), value :: invec, inoutvec", "integer(kind=MPI_COUNT_KIND) :: len",
      "type(MPI_Datatype) :: datatype")),
    ("MPI_Grequest_query_function", "extra_state, status, ierror",
     ("integer(kind=MPI_ADDRESS_KIND) :: extra_state", "type(MPI_Status) :: status",
      "integer :: ierror")),
    ("MPI_Grequest_free_function", "extra_state, ierror",
     ("integer(kind=MPI_ADDRESS_KIND) :: extra_state", "integer :: ierror")),
    ("MPI_Grequest_cancel_function", "extra_state, complete, ierror",
     ("integer(kind=MPI_ADDRESS_KIND) :: extra_state", "logical :: complete",
      "integer :: ierror")),
    ("MPI_Copy_function", "oldcomm, keyval, extra_state, attribute_val_in, "
     "attribute_val_out, flag, ierror",
     ("integer :: oldcomm, keyval, extra_state, attribute_val_in, attribute_val_out, ierror",
      "logical :: flag")),
    ("MPI_Delete_function", "comm, keyval, attribute_val, extra_state, ierror",
     ("integer :: comm, keyval, attribute_val, extra_state, ierror",)))


def attribute_callbacks():
    for kind, handle in (("Comm", "MPI_Comm"), ("Type", "MPI_Datatype"), ("Win", "MPI_Win")):
        wide = "integer(kind=MPI_ADDRESS_KIND) :: "
        yield (f"MPI_{kind}_copy_attr_function",
               "old, keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror",
               (f"type({handle}) :: old", "integer :: keyval, ierror",
                wide + "extra_state, attribute_val_in, attribute_val_out", "logical :: flag"))
        yield (f"MPI_{kind}_delete_attr_function",
               "object, keyval, attribute_val, extra_state, ierror",
               (f"type({handle}) :: object", "integer :: keyval, ierror",
                wide + "extra_state, attribute_val"))
    for kind in ("Comm", "Win"):
        yield (f"MPI_{kind}_errhandler_function", "object, error_code",
               (f"type(MPI_{kind}) :: object", "integer :: error_code"))


def predefined_callbacks():
    """The standard's functions that programs hand over, and how they are called."""
    for name, taken, lines in [*CALLBACKS, *attribute_callbacks()]:
        kind = re.match(r"MPI_(Comm_|Type_|Win_|)(copy|delete)_(attr_)?function$", name, re.I)
        if kind:
            words = ("NULL_DELETE",) if kind[2].lower() == "delete" else ("NULL_COPY", "DUP")
            yield from ((f"MPI_{kind[1].upper()}{word}_FN", taken, lines) for word in words)


def broken(line, indent):
    """A statement on lines of at most 100 columns."""
    out, rest = "", " " * indent + line
    while len(rest) > 96:
        cut = rest.rfind(", ", 0, 94) + 2
        out += rest[:cut] + "&\n"
        rest = " " * (indent + 4) + rest[cut:]
    return out + rest + "\n"


def imports(lines):
    return "".join(broken(line, 6) for line in lines)


def callback_interfaces(kind, callbacks):
    text = f"  {kind}\n"
    for name, taken, lines in callbacks:
        text += broken(f"subroutine {name}({taken})", 4)
        text += "      use, intrinsic :: iso_c_binding, only: c_ptr\n      import\n"
        text += imports(lines) + f"    end subroutine {name}\n"
    return text + "  end interface\n"


def any_buffer(name):
    """A buffer of any type. As a target it stays known to the library after the call, for gfortran,
    which else keeps a variable in a register while a nonblocking call receives it."""
    return [f"type(*), dimension(*), target :: {name}", f"!GCC$ ATTRIBUTES NO_ARG_CHECK :: {name}"]


def attributes_of(argument, typed):
    kind = argument.typed if typed else argument.integer
    shape = argument.shape
    if not typed and "MPI_Status*" in argument.type:
        shape = argument.integer_shape
    if kind == "external":
        return [f"external :: {argument.fortran}"]
    if kind == "ignore" or (argument.ignore and typed):
        return any_buffer(argument.fortran)
    intent = f", intent({argument.intent})" if (
        typed and argument.intent and not argument.callback) else ""
    return [f"{kind}{intent} :: {argument.fortran}{shape}"]


def procedure(call, specific, form, typed):
    """An interface body."""
    given = arguments(call, form)
    result = FUNCTION_RESULTS.get(call.name)
    names = [a.fortran for a in given] + ([] if result else ["ierror"])
    head = "function" if result else "subroutine"
    text = broken(f"{head} {specific}({', '.join(names)})", 4)
    text += "      use, intrinsic :: iso_c_binding, only: c_ptr\n      import\n"
    for argument in given:
        text += "".join(broken(line, 6) for line in attributes_of(argument, typed))
    if result:
        text += f"      {result} :: {specific}\n"
    else:
        text += f"      integer{', optional, intent(out)' if typed else ''} :: ierror\n"
    return text + f"    end {head} {specific}\n"


def overloads(call):
    """Whether the form for 64 bits can be told from the plain one by the kinds of arguments."""
    return any("COUNT" in p.type or "DISP" in p.type for p in call.parameters)


def bound(calls):
    return [c for c in calls if has_binding(c) and not ANSWERS_ONLY.fullmatch(c.name)]


def untyped_interfaces(calls):
    text = "  interface\n"
    for prefix in ("MPI_", "PMPI_"):
        for call in bound(calls):
            if not call.name.endswith("_c"):
                text += procedure(call, f"{prefix}{call.name}", PLAIN, False)
    return text + "  end interface\n"


def typed_interfaces(calls):
    generics = {}
    for call in bound(calls):
        for name, form in call.forms():
            own = form == LARGE and not overloads(call)
            generic = name if own or form == PLAIN else call.name
            if form == PLAIN and call.name.endswith("_c"):  # a line of the table of its own
                generic = call.name[:-2]
            generics.setdefault(generic, []).append((call, name, form))
    text = ""
    for prefix in ("MPI_", "PMPI_"):
        for generic, all_forms in generics.items():
            text += f"  interface {prefix}{generic}\n"
            for call, name, form in all_forms:
                text += procedure(call, f"{prefix}{name}_f08", form, True)
            text += f"  end interface {prefix}{generic}\n"
    return text


def sizeof():
    kinds = [f"{kind}({size})" for kind, sizes in (("integer", (1, 2, 4, 8)), ("real", (4, 8)),
                                                   ("complex", (4, 8)), ("logical", (1, 2, 4, 8)))
             for size in sizes] + ["character(len=*)"]
    generic = "  interface MPI_Sizeof\n"
    bodies = ""
    for i, kind in enumerate(kinds):
        name = f"mpi_fairlead_sizeof_{i}"
        generic += f"    module procedure {name}\n"
        bodies += (f"  subroutine {name}(x, size, ierror)\n    {kind}, intent(in) :: x(..)\n"
                   "    integer, intent(out) :: size\n"
                   "    integer, optional, intent(out) :: ierror\n"
                   "    size = int(storage_size(x) / 8)\n"
                   "    if (present(ierror)) ierror = MPI_SUCCESS\n"
                   f"  end subroutine {name}\n")
    return generic + "  end interface MPI_Sizeof\n", bodies


STATUS_NAMES = """\
  interface MPI_Status_f2f08
    module procedure mpi_fairlead_status_f2f08
  end interface MPI_Status_f2f08
  interface MPI_Status_f082f
    module procedure mpi_fairlead_status_f082f
  end interface MPI_Status_f082f
"""
STATUS_BODIES = """\
  subroutine mpi_fairlead_status_f2f08(f_status, f08_status, ierror)
    integer, intent(in) :: f_status(MPI_STATUS_SIZE)
    type(MPI_Status), intent(out) :: f08_status
    integer, optional, intent(out) :: ierror
    f08_status = transfer(f_status, f08_status)
    if (present(ierror)) ierror = MPI_SUCCESS
  end subroutine mpi_fairlead_status_f2f08
  subroutine mpi_fairlead_status_f082f(f08_status, f_status, ierror)
    type(MPI_Status), intent(in) :: f08_status
    integer, intent(out) :: f_status(MPI_STATUS_SIZE)
    integer, optional, intent(out) :: ierror
    f_status = transfer(f08_status, f_status)
    if (present(ierror)) ierror = MPI_SUCCESS
  end subroutine mpi_fairlead_status_f082f
"""


def sync_reg(ending):
    text = ""
    for name in ("MPI_F_sync_reg", "PMPI_F_sync_reg"):
        text += (f"  interface {name if ending else ''}\n    subroutine {name}{ending}(buf)\n"
                 + imports(any_buffer("buf")) +
                 f"    end subroutine {name}{ending}\n  end interface {name if ending else ''}\n")
    return text


def comparisons(types):
    text, bodies = "", ""
    for sign, word, rule in (("==", "same", ".eq."), ("/=", "other", ".ne.")):
        text += f"  interface operator({sign})\n"
        for kind in types:
            name = f"mpi_fairlead_{word}_{kind[4:].lower()}"
            text += f"    module procedure {name}\n"
            bodies += (f"  elemental logical function {name}(a, b)\n"
                       f"    type({kind}), intent(in) :: a, b\n"
                       f"    {name} = a%MPI_VAL {rule} b%MPI_VAL\n  end function {name}\n")
        text += "  end interface\n"
    return text, bodies


def module_mpi(calls, constants):
    names, bodies = sizeof()
    text = "module mpi\n  use mpi_fairlead_base\n  implicit none\n"
    for _, name, value in handles(constants):
        text += f"  integer, parameter :: {name} = {value}\n"
    text += places(False) + "".join(f"  external :: {name}\n" for name in FUNCTIONS + CONVERSIONS)
    text += untyped_interfaces(calls) + sync_reg("") + names + STATUS_NAMES
    return text + "contains\n" + bodies + STATUS_BODIES + "end module mpi\n"


def module_mpi_f08(calls, constants):
    names, bodies = sizeof()
    types = dict.fromkeys(handle for handle, _, _ in handles(constants))
    compared, comparing = comparisons(types)
    text = "module mpi_f08\n  use mpi_fairlead_base\n  implicit none\n"
    for handle, name, value in handles(constants):
        text += f"  type({handle}), parameter :: {name} = {handle}({value})\n"
    text += places(True)
    text += callback_interfaces("abstract interface", [*CALLBACKS, *attribute_callbacks()])
    text += callback_interfaces("interface", predefined_callbacks())
    text += "".join(f"  external :: {name}\n" for name in CONVERSIONS)
    text += typed_interfaces(calls) + sync_reg("_f08") + names
    text += STATUS_NAMES + compared
    return text + "contains\n" + bodies + STATUS_BODIES + comparing + "end module mpi_f08\n"


def modules(calls, constants):
    return {"mpi_fairlead_base.f90": base_module(constants),
            "mpi.f90": module_mpi(calls, constants),
            "mpi_f08.f90": module_mpi_f08(calls, constants)}
