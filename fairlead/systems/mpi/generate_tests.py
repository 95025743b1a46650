"""A test's table of bad arguments: every call there is, with one argument wrong at a time."""

# By kind: a value that is right, in a job of one rank.
RIGHT = {"comm": "right.grid", "count": "1", "rank": "0", "root": "0", "tag": "0",
         "datatype": "MPI_INT", "op": "MPI_SUM", "group": "MPI_GROUP_EMPTY", "win": "right.win",
         "info": "right.info", "errhandler": "MPI_ERRORS_RETURN", "counts": "right.ones",
         "displacements": "right.zeros", "status": "&right.status", "string": "right.text",
         "logical": "0", "size": "4", "ndims": "1", "order": "MPI_ORDER_C"}
# A right argument by type, where the kind does not tell.
RIGHT_BY_TYPE = {"const void*": "right.in", "void*": "right.out", "char*": "right.long_text",
                 "MPI_Status*": "&right.status", "const MPI_Status*": "&right.status",
                 "int*": "&right.number", "MPI_Count*": "&right.count", "MPI_Aint*": "&right.count",
                 "MPI_Comm*": "&right.comm", "MPI_Request*": "&right.request",
                 "MPI_Datatype*": "&right.type", "MPI_Group*": "&right.group",
                 "MPI_Info*": "&right.new_info", "MPI_Win*": "&right.new_win",
                 "MPI_Op*": "&right.op", "MPI_Errhandler*": "&right.handler",
                 "MPI_Message*": "&right.message"}
# An array's elements.
RIGHT_ARRAYS = {"MPI_Request": "right.requests", "const int": "right.ones", "int": "right.numbers",
                "const MPI_Datatype": "right.types", "const MPI_Aint": "right.wide",
                "const MPI_Count": "right.wide"}
# By call and kind: what is right where not any is.
RIGHT_HERE = {("Graph_neighbors", "comm"): "right.graph",
              ("Graph_neighbors_count", "comm"): "right.graph",
              ("Intercomm_create_from_groups", "group"): "right.members"}
# What is wrong, and the standard's class for it.
WRONG = {"comm": ("MPI_COMM_NULL", "MPI_ERR_COMM"), "count": ("-1", "MPI_ERR_COUNT"),
         "rank": ("99", "MPI_ERR_RANK"), "root": ("99", "MPI_ERR_ROOT"),
         "tag": ("-7", "MPI_ERR_TAG"), "datatype": ("MPI_DATATYPE_NULL", "MPI_ERR_TYPE"),
         "op": ("MPI_OP_NULL", "MPI_ERR_OP"), "group": ("MPI_GROUP_NULL", "MPI_ERR_GROUP"),
         "win": ("MPI_WIN_NULL", "MPI_ERR_WIN"), "counts": ("right.negative", "MPI_ERR_COUNT"),
         "errhandler": ("MPI_ERRHANDLER_NULL", "MPI_ERR_ERRHANDLER")}


def right(parameter, form_type):
    if parameter.kind == "displacements" and form_type == "const MPI_Aint":
        return RIGHT_ARRAYS[form_type]
    if parameter.kind in RIGHT:
        return RIGHT[parameter.kind]
    if parameter.array == "[][3]":
        return "right.ranges"
    if parameter.array:
        return RIGHT_ARRAYS.get(form_type, "nullptr")
    return RIGHT_BY_TYPE.get(form_type, "nullptr" if form_type.endswith("*") else "0")


def bad_arguments(calls):
    """Lines BAD_ARGUMENT(call, parameter, class, expression), of the plain forms."""
    text = ""
    for call in calls:
        if call.state != "yes" or call.name.endswith(("_toint", "_fromint")):
            continue
        given = [right(p, p.written(0).rsplit(" ", 1)[0]) for p in call.parameters]
        given = [RIGHT_HERE.get((call.name, p.kind), g) for g, p in zip(given, call.parameters)]
        for i, p in enumerate(call.parameters):
            if p.kind not in WRONG:
                continue
            value, error = WRONG[p.kind]
            passed = ", ".join(given[:i] + [value] + given[i + 1:])
            text += f"BAD_ARGUMENT({call.name}, {p.name}, {error}, MPI_{call.name}({passed}))\n"
    return text
