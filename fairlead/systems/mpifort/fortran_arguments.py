"""What each parameter of a call is for Fortran: its declarations, and the C++ that converts it."""
import re

from generate_table import LARGE, PLAIN

HANDLE = re.compile(r"^(const )?MPI_(Comm|Errhandler|File|Group|Info|Message|Op|Request|Session|"
                    r"Datatype|Win)(\*?)$")
# A handle that a call reads and writes; elsewhere what is behind MPI_Name* is written only.
READ_AND_WRITTEN = re.compile(r"^(\w+_free|Type_commit|Wait|Test|Start|Cancel|File_close|"
                              r"Comm_disconnect|Session_finalize)$")
# How long an array of handles is, by the call's and the array's names; the first rule that fits.
LENGTHS = ((r"\w+\.array_of_requests", ("*count", "*incount")),
           (r"Type_create_struct\.array_of_types", ("*count",)),
           (r"I?neighbor_alltoallw\w*\.sendtypes", ("neighbours({comm}).destinations",)),
           (r"I?neighbor_alltoallw\w*\.recvtypes", ("neighbours({comm}).sources",)),
           (r"\w*lltoallw\w*\.(send|recv)types", ("members({comm})",)))
# The room for a string that a call writes, by the call's and the string's names.
ROOM = (("Get_library_version.version", "MPI_MAX_LIBRARY_VERSION_STRING"),
        ("Get_processor_name.name", "MPI_MAX_PROCESSOR_NAME"),
        ("Error_string.string", "MPI_MAX_ERROR_STRING"),
        ("Info_get_nthkey.key", "MPI_MAX_INFO_KEY"),
        ("Info_get.value", "MPI_MAX_INFO_VAL + 1"),
        ("File_get_view.datarep", "MPI_MAX_DATAREP_STRING"),
        (".port_name", "MPI_MAX_PORT_NAME"),
        (".pset_name", "MPI_MAX_PSET_NAME_LEN"),
        ("_name", "MPI_MAX_OBJECT_NAME"))
KINDS = {"MPI_Aint": "MPI_ADDRESS_KIND", "MPI_Count": "MPI_COUNT_KIND",
         "MPI_Offset": "MPI_OFFSET_KIND"}
# The table's names that are others in Fortran: keywords of mpi_f08.
FORTRAN_NAMES = {"indx": "index"}
# int* that say how something is, not how much.
LOGICAL_ANSWERS = re.compile(r"flag|is_set|weighted|commute")


class Argument:
    """One parameter of one form of a call.

    parameter: the C++ parameter of the entry; before, after: statements around the call; always:
    whether `after` follows a failed call, too; passed: what the C call gets; hidden: a string's
    length. fortran: the name in Fortran; integer, typed: how `use mpi` and `use mpi_f08` declare
    it, without the name; intent; ignore: any type may be passed; shape: "", "(*)" or the like.
    """

    def __init__(self, call, parameter, form):
        self.call, self.name, self.form = call, parameter.name, form
        self.fortran = FORTRAN_NAMES.get(self.name, self.name)
        self.where = f"{call.name}.{parameter.name}"
        self.type = parameter.written(form).rsplit(" ", 1)[0]
        self.kind, self.array = parameter.kind, parameter.array
        self.before, self.after, self.always = "", "", False
        self.hidden, self.ignore, self.callback = None, False, False
        self.shape = {"": "", "[][3]": "(3, *)"}.get(self.array, "(*)")
        writes = self.type.endswith("*") or self.array != ""
        self.intent = "out" if writes and not self.type.startswith("const") else "in"
        self.typed = self.integer = None
        self.sort()
        if self.typed is None:
            self.typed = self.integer

    def sort(self):
        handle = HANDLE.match(self.type)
        if self.type.endswith("_function*") or self.type.endswith("_function_c*"):
            self.function()
        elif handle:
            self.handle(*handle.groups())
        elif "MPI_Status*" in self.type:
            self.status()
        elif "char" in self.type:
            self.string()
        elif self.type in ("void*", "const void*"):
            self.memory()
        else:
            self.number()

    def pass_as(self, parameter, passed):
        self.parameter, self.passed = f"{parameter} {self.name}", passed

    def function(self):
        self.callback = True
        self.typed = f"procedure({self.type[:-1]})"
        self.integer = "external"
        self.pass_as("void*", self.name)

    def handle(self, const, name, pointer):
        self.integer, self.typed = "integer", f"type(MPI_{name})"
        handle = f"MPI_{name}"
        if self.array:
            self.handles(handle, const)
        elif not pointer:
            self.pass_as("int*", f"made<{handle}>(*{self.name})")
        else:
            both = READ_AND_WRITTEN.match(self.call.name) or (handle == "MPI_Message" and
                                                              "mrecv" in self.call.name.lower())
            self.intent = "inout" if both else "out"
            made = f" answer_{self.name}({self.name})" if both else f" answer_{self.name}"
            self.before = f"  Answer<{handle}>{made};\n"
            self.pass_as("int*", f"answer_{self.name}.address()")
            self.after, self.always = f"answer_{self.name}.tell({self.name});", bool(both)

    def handles(self, handle, const):
        rule = next((r for r in LENGTHS if re.fullmatch(r[0], self.where)), None)
        if rule is None:
            self.parameter, self.passed = f"int* {self.name}", "nullptr"
            return
        names = [p.name for p in self.call.parameters]
        length = next(each for each in rule[1] if not each.startswith("*") or each[1:] in names)
        length = length.format(comm="made<MPI_Comm>(*comm)")
        if self.name == "sendtypes":  # an operation in place does not look at them
            length = f"buffer_of(sendbuf) == MPI_IN_PLACE ? 0 : {length}"
        self.before = f"  Handles<{handle}> all_{self.name}({self.name}, {length});\n"
        self.pass_as("int*", f"all_{self.name}.all()")
        if not const:
            self.intent = "inout"
            self.after, self.always = f"all_{self.name}.tell({self.name});", True

    def status(self):
        several = "array" in self.name
        self.integer, self.typed = "integer", "type(MPI_Status)"
        self.integer_shape = "(MPI_STATUS_SIZE, *)" if several else "(MPI_STATUS_SIZE)"
        self.shape = "(*)" if several else ""
        if not self.type.startswith("const"):  # it may be MPI_STATUS_IGNORE
            self.intent = "inout" if self.call.name.startswith("Status_set") else None
        self.pass_as("int*", f"status_of({self.name})")

    def string(self):
        self.integer, self.shape = "character(len=*)", ""
        if self.type.count("*") > 1 or "**" in self.type or (self.array and "*" in self.type):
            self.integer = None  # arrays of strings: no binding
            self.pass_as("void*", "nullptr")
            return
        self.hidden = f"std::size_t length_{self.name}"
        if self.type.startswith("const"):
            blanks = ", Blanks::leading_go" if self.call.name.startswith("Info_") else ""
            self.pass_as("const char*",
                         f"text_of({self.name}, length_{self.name}{blanks}).c_str()")
            return
        self.intent = "out"
        room = next((room for name, room in ROOM if name in self.where), "MPI_MAX_PORT_NAME")
        self.before = f"  char text_{self.name}[{room}] = \"\";\n"
        self.pass_as("char*", f"text_{self.name}")
        self.after = f"tell_text({self.name}, length_{self.name}, text_{self.name});"
        if "flag" in [p.name for p in self.call.parameters]:
            self.after = f"if (*flag != 0) {self.after}"

    def memory(self):
        if self.name in ("attribute_val", "extra_state"):
            old = self.call.name.startswith(("Attr_", "Keyval_"))
            self.integer = "integer" if old else "integer(kind=MPI_ADDRESS_KIND)"
            self.intent = "out" if "_get" in self.call.name else "in"
            self.pass_as("void*", self.name)
        elif self.name in ("baseptr", "buffer_addr"):
            self.integer, self.typed, self.intent = "ignore", "type(c_ptr)", "out"
            self.pass_as("void*", self.name)
        else:
            self.integer, self.ignore, self.intent = "ignore", True, None
            self.pass_as("void*", f"buffer_of({self.name})")

    def number(self):
        scalar = self.type.replace("const ", "").rstrip("*").strip()
        pointer = self.type.endswith("*")
        kind = KINDS.get(scalar)
        self.integer = f"integer(kind={kind})" if kind else "integer"
        logical = self.kind == "logical" or (pointer and LOGICAL_ANSWERS.fullmatch(self.name))
        if logical:
            self.integer = "logical"
        if self.array:
            passed = f"weights_of({self.name})" if "weights" in self.name else self.name
            if self.array == "[][3]":
                passed = f"reinterpret_cast<int(*)[3]>({self.name})"
                self.intent = "in"
            self.pass_as(f"{scalar}*", passed)
            if self.name == "array_of_indices":
                self.after, self.always = "tell_places(array_of_indices, outcount);", True
            elif self.where == "Dims_create.dims":
                self.intent = "inout"
        elif pointer:
            self.pass_as(f"{scalar}*", self.name)
            if (self.kind == "position" or self.name == "buflen" or
                    self.call.name.lower().endswith(("keyval_free", "free_keyval"))):
                self.intent = "inout"
            if logical:
                self.after = f"tell_logical({self.name});"
            elif self.name == "outcount":
                self.before = "  *outcount = MPI_UNDEFINED;\n"
            elif self.name == "indx":
                self.before = "  *indx = MPI_UNDEFINED;\n"
                self.after, self.always = "tell_place(indx);", True
        else:
            self.pass_as(f"{scalar}*", f"*{self.name} != 0" if logical else f"*{self.name}")


def form_of(name, form):
    """A call with a name of its own for 64 bits counts as that form."""
    return LARGE if name.endswith("_c") else form


def arguments(call, form):
    """Those that Fortran has of a call: the command line is none of them."""
    if call.name in ("Init", "Init_thread", "Info_create_env"):
        return [Argument(call, p, form) for p in call.parameters if not p.name.startswith("arg")]
    return [Argument(call, p, form) for p in call.parameters if p.type != "..."]


# No binding in Fortran: C only, the tool interface, and what has no Fortran argument.
def has_binding(call):
    return not (call.name.startswith(("T_", "Abi_get_fortran_bool", "Abi_set_fortran_bool")) or
                call.name.endswith(("_toint", "_fromint")))


# Written by hand, in special.cc and callbacks.cc.
BY_HAND = re.compile(r"Init|Init_thread|Pcontrol|Wtime|Wtick|Aint_add|Aint_diff|\w+_create_keyval|"
                     r"Keyval_create|(Comm|Type|Win)_[gs]et_attr|Attr_(get|put)|"
                     r"(Comm|Win)_create_errhandler|Op_create|Grequest_start|"
                     r"(Buffer_detach|\w+_detach_buffer)|Info_create_env|Info_get_string|"
                     r"Type_get_contents(_c)?")
# What this library does not have and whose arguments have no C form here: the entry only answers.
ANSWERS_ONLY = re.compile(r"Comm_spawn(_multiple)?|Register_datarep|"
                          r"(File|Session)_create_errhandler|Session_get_nth_pset")
