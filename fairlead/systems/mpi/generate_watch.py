"""What watches the calls (watch/): the functions that entries go by when somebody watches, each of
which says what its call was given, and the table of the calls."""

# Calls that tell nothing of a program, and those outside MPI_Init and MPI_Finalize.
UNWATCHED = ("Starting, ending, versions, time", "Statuses", "Handles as integers")
# By heading: what a call of it is, if its parameters do not say more.
COLLECTIVE = {"Collectives": "collective", "Nonblocking collectives": "collective",
              "Persistent collectives": "collective", "Neighbourhood collectives": "neighbour"}
# All members of the communicator call these, too.
MAKERS = ("Comm_dup", "Comm_dup_with_info", "Comm_split", "Comm_split_type", "Comm_create",
          "Cart_create", "Cart_sub", "Graph_create", "Dist_graph_create",
          "Dist_graph_create_adjacent", "Win_create", "Win_allocate", "Win_allocate_shared",
          "Win_create_dynamic")
# Accesses are over at a target, at all of them, or here, once these return.
COMPLETIONS = ("Win_complete", "Win_unlock", "Win_unlock_all", "Win_flush", "Win_flush_all",
               "Win_flush_local", "Win_flush_local_all")
# Their handles are not for the program to free.
LENT = ("Type_commit", "Type_create_f90_complex", "Type_create_f90_integer",
        "Type_create_f90_real", "Type_match_size", "Type_get_value_index")
# What the standard calls `dest` in this call is where the message comes from.
RECEIVING = "Precv_init"
OBJECTS = ("comm", "group", "datatype", "op", "win", "info", "errhandler", "message")


def is_watched(call):
    if call.state != "yes" or call.answer != "int":
        return False
    return call.name == "Finalize" or call.heading.text not in UNWATCHED


def nature(call):
    names = [p.name for p in call.parameters]
    if call.name in ("Finalize", "Start", "Startall", "Comm_free", "Request_free"):
        return call.name.lower()
    if call.heading.text in COLLECTIVE:
        return COLLECTIVE[call.heading.text]
    if call.name in MAKERS:
        return "maker"
    if call.name in ("Win_fence", "Win_free"):
        return "fence" if call.name == "Win_fence" else "win_free"
    if call.name in COMPLETIONS:
        return "completion"
    if "target_rank" in names:
        return "access"
    sends = "dest" in names and call.name != RECEIVING
    receives = "source" in names or names[:1] == ["buf"]
    if sends and "source" in names:
        return "exchange"
    if sends:
        return "send"
    return "receive" if receives and "buf" in names else "other"


def form(call):
    if call.name.endswith("_init"):
        return "persistent"
    begins = any(p.name == "request" and p.type == "MPI_Request*" for p in call.parameters)
    return "begun" if begins and not takes_requests(call) else "at_once"


def shape(call):
    """What moves in a collective, by the name of its blocking form without v or w."""
    if call.heading.text not in COLLECTIVE:
        return "none"
    name = call.name.removesuffix("_init").lower()
    name = name.removeprefix("i").removeprefix("neighbor_")
    if name in ("reduce", "allreduce", "scan", "exscan"):
        return "reduce"
    return name.rstrip("vw") if name not in ("reduce_scatter", "reduce_scatter_block") else name


def takes_requests(call):
    return call.heading.text == "Requests" and call.name != "Grequest_start" or \
        call.name in ("Start", "Startall")


def first(names, *wanted):
    return next((name for name in wanted if name in names), None)


def buffer(names, at, count, datatype, displacements):
    """C++ for one side's data; None: the call has no such."""
    if at is None or datatype is None:
        return None
    arrays = count is not None and count.endswith("counts")
    if not arrays:
        return f"{{{at}, {count or 1}, {datatype}}}"
    types = f"{datatype}, nullptr" if not datatype.endswith("s") else f"nullptr, {datatype}"
    return f"{{{at}, {count}, {displacements or 'fairlead::mpi::no_counts()'}, {types}}}"


def sides(call):
    """(out, in) as C++, or None each."""
    names = {p.name: p for p in call.parameters}

    def displacements(*wanted):
        name = first(names, *wanted)
        if name is None or names[name].is_view():
            return name
        return f"fairlead::mpi::Counts({name})"

    if "origin_addr" in names:
        own = buffer(names, "origin_addr", first(names, "origin_count"),
                     first(names, "origin_datatype", "datatype"), None)
        if "result_addr" not in names:
            return (None, own) if call.name in ("Get", "Rget") else (own, None)
        return own, buffer(names, "result_addr", first(names, "result_count"),
                           first(names, "result_datatype", "datatype"), None)
    if "sendbuf" in names:
        displs_out = displacements("sdispls", *(["displs"] if "sendcounts" in names else []))
        displs_in = displacements("rdispls", *(["displs"] if "recvcounts" in names else []))
        return (buffer(names, "sendbuf",
                       first(names, "sendcounts", "sendcount", "count", "recvcounts", "recvcount"),
                       first(names, "sendtypes", "sendtype", "datatype"), displs_out),
                buffer(names, "recvbuf", first(names, "recvcounts", "recvcount", "count"),
                       first(names, "recvtypes", "recvtype", "datatype"), displs_in))
    if "count" not in names or "datatype" not in names:
        return None, None
    if "buffer" in names:
        both = buffer(names, "buffer", "count", "datatype", None)
        return both, both
    if "buf" not in names:
        return None, None
    own = buffer(names, "buf", "partitions * count" if "partitions" in names else "count",
                 "datatype", None)
    receives = "source" in names or "message" in names or call.name == RECEIVING
    sends = "dest" in names and call.name != RECEIVING
    return (own if sends else None), (own if receives else None)


def given(call):
    """C++ statements that say what the call was given."""
    names = {p.name: p for p in call.parameters}
    lines = []

    def note(member, *wanted, kind=None):
        name = first(names, *wanted)
        if name is not None and (kind is None or names[name].kind == kind):
            lines.append(f"given.{member} = {name};")

    communicator = first(names, "comm", "comm_old")
    if communicator is not None and names[communicator].type == "MPI_Comm":
        note("comm", communicator)
    note("win", "win", kind="win")
    if call.name == RECEIVING:
        note("from", "dest")
    else:
        note("to", "dest", "target_rank", *(["rank"] if call.name in COMPLETIONS else []))
    note("modes", *(["assert"] if call.name == "Win_fence" else []))
    note("from", "source")
    note("out_tag", "sendtag", "tag")
    note("in_tag", "recvtag", "tag")
    note("root", "root", kind="root")
    note("op", "op", kind="op")
    for member, data in zip(("out", "in"), sides(call)):
        if data is not None:
            lines.append(f"given.{member} = {data};")
    if "target_disp" in names:
        lines.append(f"given.far = {{target_disp, {first(names, 'target_count') or 1}, "
                     f"{first(names, 'target_datatype', 'datatype')}}};")
    for p in call.parameters:
        if p.type == "MPI_Request*" or p.name == "array_of_requests":
            count = first(names, "count", "incount") if p.array else "1"
            requests = p.name if not p.type.startswith("const") else "nullptr"
            lines.append(f"given.requests = {{{requests}, {count}}};")
            continue
        kind = next((k for k in OBJECTS if p.type.lower() == f"mpi_{k}*"), None)
        if kind is not None and not p.array and call.name not in LENT:
            lines.append(f"given.object = {{fairlead::mpi::ObjectKind::{kind}, {p.name}}};")
    if call.name.endswith("_free") or call.name in ("Mrecv", "Imrecv"):
        lines.append("given.takes_object = true;")
    if takes_requests(call):
        lines.append("given.takes_requests = true;")
    return lines


def watched(call):
    """The function that an entry goes by when somebody watches."""
    taken = ", ".join(p.for_work().replace("Counts ", "fairlead::mpi::Counts ")
                      .replace("UserFunction ", "fairlead::mpi::UserFunction ")
                      for p in call.parameters if p.type != "...")
    passed = ", ".join(p.name for p in call.parameters if p.type != "...")
    body = "".join(f"  {line}\n" for line in given(call))
    return (f"[[gnu::cold, gnu::noinline]] static int watched_{call.name.lower()}"
            f"({taken or 'void'}) {{\n  fairlead::mpi::Given given;\n{body}"
            f"  fairlead::mpi::WatchedCall call(fairlead::mpi::CallId::{call.name}, given);\n"
            "  if (call.error() != MPI_SUCCESS) return call.error();\n"
            f"  return call.end(fairlead::mpi::api::{call.name.lower()}({passed}));\n}}\n")


def call_table(calls):
    text = ("// FAIRLEAD_WATCHED_CALL(name, nature, form, shape) of the calls that can be watched "
            "(watch/calls.h).\n// Written by generate.py.\n// clang-format off\n")
    return text + "".join(f"FAIRLEAD_WATCHED_CALL({c.name}, {nature(c)}, {form(c)}, {shape(c)})\n"
                          for c in calls if is_watched(c))
