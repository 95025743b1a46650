"""The constants of mpif.h and of the modules, from constants.txt."""

# What mpif.h and the modules leave out: C only, the tool interface, or said otherwise below.
SKIPPED = ("MPI_T_", "MPIX_", "MPI_F_", "MPI_CXX_", "MPI_BOTTOM", "MPI_IN_PLACE")
# The common block of places that are known by their addresses (conversions.h): name, shape, type.
PLACES = (("MPI_BOTTOM", "", "integer"), ("MPI_IN_PLACE", "", "integer"),
          ("MPI_BUFFER_AUTOMATIC", "", "integer"), ("MPI_UNWEIGHTED", "(1)", "integer"),
          ("MPI_WEIGHTS_EMPTY", "(1)", "integer"), ("MPI_ERRCODES_IGNORE", "(1)", "integer"),
          ("MPI_STATUS_IGNORE", "(8)", "status"), ("MPI_STATUSES_IGNORE", "(8,1)", "status"),
          ("MPI_ARGV_NULL", "(1)", "character(len=4)"),
          ("MPI_ARGVS_NULL", "(1,1)", "character(len=4)"))
BLOCK = "MPI_FAIRLEAD_PLACES"
FIXED = (("MPI_VERSION", 5), ("MPI_SUBVERSION", 0), ("MPI_STATUS_SIZE", 8), ("MPI_SOURCE", 1),
         ("MPI_TAG", 2), ("MPI_ERROR", 3), ("MPI_ADDRESS_KIND", 8), ("MPI_COUNT_KIND", 8),
         ("MPI_INTEGER_KIND", 4), ("MPI_OFFSET_KIND", 8))
LOGICALS = ("MPI_SUBARRAYS_SUPPORTED", "MPI_ASYNC_PROTECTS_NONBLOCKING")
# The standard's functions that programs hand over.
FUNCTIONS = [f"MPI_{kind}{name}_FN" for kind in ("", "COMM_", "TYPE_", "WIN_")
             for name in ("NULL_COPY", "DUP", "NULL_DELETE")]
CONVERSIONS = ["MPI_CONVERSION_FN_NULL", "MPI_CONVERSION_FN_NULL_C"]


def skipped(name):
    return name.startswith(SKIPPED)


def integers(constants):
    """(name, value) of every int constant. A string's length counts no final zero in Fortran."""
    for name, value in FIXED:
        yield name, value
    for _, first, lines in constants:
        kind = first.split(" ")[0]
        if kind not in ("values", "macros"):
            continue
        for name, value in (line.split() for line in lines):
            if not skipped(name):
                length = name.startswith("MPI_MAX_")
                yield name, int(value, 0) - (1 if length else 0)


def handles(constants):
    """(type, name, value) of every predefined handle."""
    for _, first, lines in constants:
        kind, _, handle = first.partition(" ")
        if kind != "handle" or handle.startswith("MPI_T_"):
            continue
        known = {}
        for name, value in (line.split() for line in lines):
            known[name] = known.get(value) if value in known else int(value, 0)
            if not skipped(name):
                yield handle, name, known[name]


def base_module(constants):
    """What both modules have: kinds, int constants, the types of handles and of statuses."""
    text = "! Written by generate.py from constants.txt.\n"
    text += "module mpi_fairlead_base\n  use, intrinsic :: iso_c_binding, only: c_int\n"
    text += "  implicit none\n  private :: c_int\n"
    for name, value in integers(constants):
        text += f"  integer, parameter :: {name} = {value}\n"
    for name in LOGICALS:
        text += f"  logical, parameter :: {name} = .false.\n"
    text += "  integer(kind=8), parameter :: MPI_DISPLACEMENT_CURRENT = -1_8\n"
    for handle in dict.fromkeys(h for h, _, _ in handles(constants)):
        text += f"  type, bind(C) :: {handle}\n    integer(c_int) :: MPI_VAL\n  end type {handle}\n"
    text += ("  type, bind(C) :: MPI_Status\n    integer(c_int) :: MPI_SOURCE, MPI_TAG, MPI_ERROR\n"
             "    integer(c_int) :: MPI_internal(5)\n  end type MPI_Status\n")
    return text + "end module mpi_fairlead_base\n"


def places(typed):
    text = ""
    for name, shape, kind in PLACES:
        if kind == "status":
            kind = "type(MPI_Status)" if typed else "integer"
            shape = shape.replace("(8)", "").replace("(8,1)", "(1)") if typed else shape
        text += f"  {kind} :: {name}{shape}\n"
    names = ", &\n    ".join(name for name, _, _ in PLACES)
    return text + f"  common /{BLOCK}/ {names}\n  save /{BLOCK}/\n"
