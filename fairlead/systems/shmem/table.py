"""The calls of OpenSHMEM 1.5 as families: a pattern each, times the types it is there for. All that
is generated comes from here (generate.py)."""

# Name in a call -> C type. Those that C11 tells apart come first.
DISTINCT = {
    "float": "float", "double": "double", "longdouble": "long double", "char": "char",
    "schar": "signed char", "short": "short", "int": "int", "long": "long",
    "longlong": "long long", "uchar": "unsigned char", "ushort": "unsigned short",
    "uint": "unsigned int", "ulong": "unsigned long", "ulonglong": "unsigned long long",
}
FIXED = {
    "int8": "int8_t", "int16": "int16_t", "int32": "int32_t", "int64": "int64_t",
    "uint8": "uint8_t", "uint16": "uint16_t", "uint32": "uint32_t", "uint64": "uint64_t",
    "size": "size_t", "ptrdiff": "ptrdiff_t",
}
# Where long has 8 bytes.
SAME_AS = {"schar": "int8", "short": "int16", "int": "int32", "long": "int64", "uchar": "uint8",
           "ushort": "uint16", "uint": "uint32", "ulong": "uint64"}
COMPLEX = {"complexd": "SHMEM_COMPLEX_DOUBLE", "complexf": "SHMEM_COMPLEX_FLOAT"}
ALL = DISTINCT | FIXED


def pick(names):
    return {name: (ALL | COMPLEX)[name] for name in names.split()}


RMA = ALL
AMO = pick("int long longlong uint ulong ulonglong int32 int64 uint32 uint64 size ptrdiff")
AMO_EXTENDED = pick("float double") | AMO
AMO_BITS = pick("uint ulong ulonglong int32 int64 uint32 uint64")
SYNC = AMO | pick("short ushort")  # the short ones are deprecated
REDUCE_BITS = pick("uchar ushort uint ulong ulonglong int8 int16 int32 int64 uint8 uint16 uint32 "
                   "uint64 size")
REDUCE_ORDER = pick("char schar short int long longlong ptrdiff uchar ushort uint ulong ulonglong "
                    "int8 int16 int32 int64 uint8 uint16 uint32 uint64 size float double "
                    "longdouble")
REDUCE_SUM = REDUCE_ORDER | COMPLEX
TO_ALL_BITS = pick("short int long longlong")
TO_ALL_ORDER = TO_ALL_BITS | pick("float double longdouble")
TO_ALL_SUM = TO_ALL_ORDER | COMPLEX

# Names with a size in bits, and "mem": bytes an element.
SIZES = {"8": "1", "16": "2", "32": "4", "64": "8", "128": "16"}
WORDS = {"32": "4", "64": "8"}


class Family:
    """`name`, `parameters` and `body` hold {N} and {T} (a type's name and C type), {B} (bytes of an
    element). ctx: also there with a context in front. generic: the parameter by whose type C11
    chooses, counted without the context; const: also by a pointer to const."""

    def __init__(self, section, result, name, parameters, body, types=None, ctx=False,
                 generic=None, const=False, generic_name=None, deprecated=False):
        self.section, self.result, self.name = section, result, name
        self.parameters, self.body, self.types = parameters, body, types
        self.ctx, self.generic, self.const = ctx, generic, const
        self.generic_name = generic_name or name.replace("{N}_", "").replace("_{N}", "")
        self.deprecated = deprecated


class Call:
    """One function: its declaration and what it does."""

    def __init__(self, family, key, ctype, size, ctx):
        def fill(text):
            return (text.replace("{N}", key).replace("{T}", ctype).replace("{B}", size)
                    .replace("{ctx}", "ctx" if ctx else "SHMEM_CTX_DEFAULT"))
        self.family, self.ctx, self.key = family, ctx, key
        self.name = "shmem_" + ("ctx_" if ctx else "") + fill(family.name)
        context = ["shmem_ctx_t ctx"] if ctx else []
        own = [fill(family.parameters)] if family.parameters else []
        self.parameters = ", ".join(context + own) or "void"
        self.result = fill(family.result)
        self.body = fill(family.body)

    def declaration(self):
        return f"{self.result} {self.name}({self.parameters})"


def calls_of(family):
    types = family.types or {"": ""}
    for ctx in ([False, True] if family.ctx else [False]):
        for key, value in types.items():
            size = value if value.isdigit() else f"sizeof({value})"
            yield Call(family, key, value, size, ctx)


def with_sizes(section, result, name, parameters, body, types, sizes, ctx=True, generic=0,
               mem=True, const=False):
    """The typed form, those with a size in bits, and the one of bytes."""
    made = [Family(section, result, "{N}_" + name, parameters, body, types, ctx, generic, const,
                   name)]
    plain = parameters.replace("{T}", "void")
    head, *tail = (name.split("_", 1) + [""])[:2] if "_" in name else [name, ""]
    rest = "_" + tail[0] if tail and tail[0] else ""
    made.append(Family(section, result, head + "{N}" + rest, plain, body, sizes, ctx))
    if mem:
        made.append(Family(section, result, head + "mem" + rest, plain, body.replace("{B}", "1"),
                           None, ctx))
    return made


F = Family
FAMILIES = [
    # --- Library
    F("Library", "void", "init", "", "start(0, nullptr, __func__);"),
    F("Library", "int", "init_thread", "int requested, int* provided",
      "return start(requested, provided, __func__);"),
    F("Library", "void", "query_thread", "int* provided", "query_thread(provided, __func__);"),
    F("Library", "void", "finalize", "", "finish(__func__);"),
    F("Library", "void", "global_exit", "int status", "global_exit(status, __func__);"),
    F("Library", "int", "my_pe", "", "return running(__func__).self();"),
    F("Library", "int", "n_pes", "", "return running(__func__).size();"),
    F("Library", "int", "pe_accessible", "int pe",
      "return running(__func__).has(pe) ? 1 : 0;"),
    F("Library", "int", "addr_accessible", "const void* addr, int pe",
      "return running(__func__).reaches(addr, pe) ? 1 : 0;"),
    F("Library", "void*", "ptr", "const void* dest, int pe",
      "return running(__func__).pointer(dest, pe);"),
    F("Library", "void", "info_get_version", "int* major, int* minor",
      "*major = SHMEM_MAJOR_VERSION; *minor = SHMEM_MINOR_VERSION;"),
    F("Library", "void", "info_get_name", "char* name", "copy_name(name);"),
    # --- Memory
    F("Memory", "void*", "malloc", "size_t size", "return allocate(size, 0, false, __func__);"),
    F("Memory", "void*", "calloc", "size_t count, size_t size",
      "return allocate_zeroed(count, size, __func__);"),
    F("Memory", "void*", "align", "size_t alignment, size_t size",
      "return allocate_aligned(alignment, size, __func__);"),
    F("Memory", "void*", "malloc_with_hints", "size_t size, long",
      "return allocate(size, 0, false, __func__);"),
    F("Memory", "void*", "realloc", "void* ptr, size_t size",
      "return reallocate(ptr, size, __func__);"),
    F("Memory", "void", "free", "void* ptr", "release(ptr, __func__);"),
    # --- Contexts
    F("Contexts", "int", "ctx_create", "long options, shmem_ctx_t* ctx",
      "return create_ctx(SHMEM_TEAM_WORLD, options, ctx, __func__);"),
    F("Contexts", "void", "ctx_destroy", "shmem_ctx_t ctx", "destroy_ctx(ctx, __func__);"),
    F("Contexts", "int", "team_create_ctx", "shmem_team_t team, long options, shmem_ctx_t* ctx",
      "return create_ctx(team, options, ctx, __func__);"),
    F("Contexts", "int", "ctx_get_team", "shmem_ctx_t ctx, shmem_team_t* team",
      "return team_of_ctx(ctx, team, __func__);"),
    F("Contexts", "void", "session_start",
      "shmem_ctx_t ctx, long options, const shmem_session_config_t* config, long config_mask",
      "session_start(ctx, options, config, config_mask, __func__);"),  # of 1.6
    F("Contexts", "void", "session_stop", "shmem_ctx_t ctx",
      "session_stop(ctx, __func__);"),  # of 1.6
    # --- Teams
    F("Teams", "int", "team_my_pe", "shmem_team_t team", "return team_my_pe(team, __func__);"),
    F("Teams", "int", "team_n_pes", "shmem_team_t team", "return team_n_pes(team, __func__);"),
    F("Teams", "int", "team_get_config",
      "shmem_team_t team, long config_mask, shmem_team_config_t* config",
      "return team_get_config(team, config_mask, config, __func__);"),
    F("Teams", "int", "team_translate_pe",
      "shmem_team_t src_team, int src_pe, shmem_team_t dest_team",
      "return team_translate_pe(src_team, src_pe, dest_team, __func__);"),
    F("Teams", "int", "team_split_strided",
      "shmem_team_t parent_team, int start, int stride, int size, "
      "const shmem_team_config_t* config, long config_mask, shmem_team_t* new_team",
      "return team_split_strided(parent_team, start, stride, size, config, config_mask, new_team, "
      "__func__);"),
    F("Teams", "int", "team_split_2d",
      "shmem_team_t parent_team, int xrange, const shmem_team_config_t* xaxis_config, "
      "long xaxis_mask, shmem_team_t* xaxis_team, const shmem_team_config_t* yaxis_config, "
      "long yaxis_mask, shmem_team_t* yaxis_team",
      "return team_split_2d(parent_team, xrange, xaxis_config, xaxis_mask, xaxis_team, "
      "yaxis_config, yaxis_mask, yaxis_team, __func__);"),
    F("Teams", "void*", "team_ptr", "shmem_team_t team, const void* dest, int pe",
      "return team_ptr(team, dest, pe, __func__);"),  # of 1.6
    F("Teams", "void", "team_destroy", "shmem_team_t team", "team_destroy(team, __func__);"),
]

# --- Remote memory access
FAMILIES += with_sizes(
    "Remote memory access", "void", "put", "{T}* dest, const {T}* source, size_t nelems, int pe",
    "put({ctx}, dest, source, nelems * {B}, pe, __func__);", RMA, SIZES)
FAMILIES += with_sizes(
    "Remote memory access", "void", "get", "{T}* dest, const {T}* source, size_t nelems, int pe",
    "get({ctx}, dest, source, nelems * {B}, pe, __func__);", RMA, SIZES)
FAMILIES += [
    F("Remote memory access", "void", "{N}_p", "{T}* dest, {T} value, int pe",
      "put({ctx}, dest, &value, sizeof value, pe, __func__);", RMA, True, 0),
    F("Remote memory access", "{T}", "{N}_g", "const {T}* source, int pe",
      "{T} value = 0; get({ctx}, &value, source, sizeof value, pe, __func__); return value;", RMA,
      True, 0, True),
]
STRIDED = ("{T}* dest, const {T}* source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe")
FAMILIES += with_sizes(
    "Remote memory access", "void", "iput", STRIDED,
    "put_strided({ctx}, dest, source, dst, sst, nelems, {B}, pe, __func__);", RMA, SIZES, mem=False)
FAMILIES += with_sizes(
    "Remote memory access", "void", "iget", STRIDED,
    "get_strided({ctx}, dest, source, dst, sst, nelems, {B}, pe, __func__);", RMA, SIZES, mem=False)
BLOCKS = ("{T}* dest, const {T}* source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, "
          "size_t nblocks, int pe")  # of 1.6
FAMILIES += with_sizes(
    "Remote memory access", "void", "ibput", BLOCKS,
    "put_blocks({ctx}, dest, source, dst, sst, bsize, nblocks, {B}, pe, __func__);", RMA, SIZES,
    mem=False)
FAMILIES += with_sizes(
    "Remote memory access", "void", "ibget", BLOCKS,
    "get_blocks({ctx}, dest, source, dst, sst, bsize, nblocks, {B}, pe, __func__);", RMA, SIZES,
    mem=False)
FAMILIES += with_sizes(
    "Remote memory access", "void", "put_nbi",
    "{T}* dest, const {T}* source, size_t nelems, int pe",
    "put_nbi({ctx}, dest, source, nelems * {B}, pe, __func__);", RMA, SIZES)
FAMILIES += with_sizes(
    "Remote memory access", "void", "get_nbi",
    "{T}* dest, const {T}* source, size_t nelems, int pe",
    "get_nbi({ctx}, dest, source, nelems * {B}, pe, __func__);", RMA, SIZES)

# --- Atomics
for form, parameters in (("", ""), ("_nbi", "{T}* fetch, ")):
    result = "void" if form else "{T}"

    def fetching(op, a, b="0"):
        if form:
            return f"fetch_nbi({{ctx}}, {op}, fetch, dest, {a}, {b}, pe, __func__);"
        return f"return fetch({{ctx}}, {op}, dest, {a}, {b}, pe, __func__);"
    at = 1 if form else 0
    FAMILIES += [
        F("Atomics", result, "{N}_atomic_fetch" + form, parameters + "const {T}* source, int pe",
          fetching("Op::fetch", "0").replace("dest", "source"), AMO_EXTENDED, True, at,
          True),
        F("Atomics", result, "{N}_atomic_compare_swap" + form,
          parameters + "{T}* dest, {T} cond, {T} value, int pe",
          fetching("Op::compare_swap", "cond", "value"), AMO, True, at),
        F("Atomics", result, "{N}_atomic_swap" + form,
          parameters + "{T}* dest, {T} value, int pe",
          fetching("Op::swap", "value"), AMO_EXTENDED, True, at),
        F("Atomics", result, "{N}_atomic_fetch_inc" + form, parameters + "{T}* dest, int pe",
          fetching("Op::add", "1"), AMO, True, at),
        F("Atomics", result, "{N}_atomic_fetch_add" + form,
          parameters + "{T}* dest, {T} value, int pe",
          fetching("Op::add", "value"), AMO, True, at),
    ]
    FAMILIES += [
        F("Atomics", result, "{N}_atomic_fetch_" + op + form,
          parameters + "{T}* dest, {T} value, int pe",
          fetching("Op::bit_" + op, "value"), AMO_BITS, True, at) for op in ("and", "or", "xor")
    ]
FAMILIES += [
    F("Atomics", "void", "{N}_atomic_set", "{T}* dest, {T} value, int pe",
      "change({ctx}, Op::swap, dest, value, pe, __func__);", AMO_EXTENDED, True, 0),
    F("Atomics", "void", "{N}_atomic_inc", "{T}* dest, int pe",
      "change({ctx}, Op::add, dest, 1, pe, __func__);", AMO, True, 0),
    F("Atomics", "void", "{N}_atomic_add", "{T}* dest, {T} value, int pe",
      "change({ctx}, Op::add, dest, value, pe, __func__);", AMO, True, 0),
]
FAMILIES += [
    F("Atomics", "void", "{N}_atomic_" + op, "{T}* dest, {T} value, int pe",
      "change({ctx}, Op::bit_" + op + ", dest, value, pe, __func__);", AMO_BITS, True, 0)
    for op in ("and", "or", "xor")
]
# Deprecated names of before 1.4.
OLD = pick("int long longlong")
OLD_EXTENDED = OLD | pick("float double")
FAMILIES += [
    F("Deprecated atomics", "{T}", "{N}_fetch", "const {T}* source, int pe",
      "return fetch(SHMEM_CTX_DEFAULT, Op::fetch, source, 0, 0, pe, __func__);",
      OLD_EXTENDED, generic=0, const=True, deprecated=True),
    F("Deprecated atomics", "void", "{N}_set", "{T}* dest, {T} value, int pe",
      "change(SHMEM_CTX_DEFAULT, Op::swap, dest, value, pe, __func__);", OLD_EXTENDED,
      generic=0, deprecated=True),
    F("Deprecated atomics", "{T}", "{N}_swap", "{T}* dest, {T} value, int pe",
      "return fetch(SHMEM_CTX_DEFAULT, Op::swap, dest, value, 0, pe, __func__);", OLD_EXTENDED,
      generic=0, deprecated=True),
    F("Deprecated atomics", "{T}", "{N}_cswap", "{T}* dest, {T} cond, {T} value, int pe",
      "return fetch(SHMEM_CTX_DEFAULT, Op::compare_swap, dest, cond, value, pe, __func__);", OLD,
      generic=0, deprecated=True),
    F("Deprecated atomics", "{T}", "{N}_finc", "{T}* dest, int pe",
      "return fetch(SHMEM_CTX_DEFAULT, Op::add, dest, 1, 0, pe, __func__);", OLD,
      generic=0, deprecated=True),
    F("Deprecated atomics", "{T}", "{N}_fadd", "{T}* dest, {T} value, int pe",
      "return fetch(SHMEM_CTX_DEFAULT, Op::add, dest, value, 0, pe, __func__);", OLD,
      generic=0, deprecated=True),
    F("Deprecated atomics", "void", "{N}_inc", "{T}* dest, int pe",
      "change(SHMEM_CTX_DEFAULT, Op::add, dest, 1, pe, __func__);", OLD, generic=0,
      deprecated=True),
    F("Deprecated atomics", "void", "{N}_add", "{T}* dest, {T} value, int pe",
      "change(SHMEM_CTX_DEFAULT, Op::add, dest, value, pe, __func__);", OLD, generic=0,
      deprecated=True),
]

# --- Signals
SIGNAL = ", uint64_t* sig_addr, uint64_t signal, int sig_op, int pe"
for form in ("", "_nbi"):
    FAMILIES += with_sizes(
        "Signals", "void", "put_signal" + form,
        "{T}* dest, const {T}* source, size_t nelems" + SIGNAL,
        "put_signal({ctx}, dest, source, nelems * {B}, sig_addr, signal, sig_op, pe, __func__);",
        RMA, SIZES)
FAMILIES += [
    F("Signals", "void", "signal_" + name, "uint64_t* sig_addr, uint64_t signal, int pe",
      "change({ctx}, Op::" + op + ", sig_addr, signal, pe, __func__);", ctx=True)  # of 1.6
    for name, op in (("add", "add"), ("set", "swap"))
]
FAMILIES += [
    F("Signals", "uint64_t", "signal_fetch", "const uint64_t* sig_addr",
      "return signal_fetch(sig_addr, __func__);"),
    F("Signals", "uint64_t", "signal_wait_until", "uint64_t* sig_addr, int cmp, uint64_t cmp_value",
      "return signal_wait_until(sig_addr, cmp, cmp_value, __func__);"),
]

# --- Point-to-point synchronisation
MANY = "{T}* ivars, size_t nelems, "
FAMILIES += [
    F("Point-to-point synchronisation", "void", "{N}_wait_until",
      "{T}* ivar, int cmp, {T} cmp_value", "wait_until(ivar, cmp, cmp_value, __func__);", SYNC,
      generic=0),
    F("Point-to-point synchronisation", "void", "{N}_wait_until_all",
      MANY + "const int* status, int cmp, {T} cmp_value",
      "wait_until_all(ivars, nelems, status, cmp, Same<{T}>{cmp_value}, __func__);", SYNC,
      generic=0),
    F("Point-to-point synchronisation", "size_t", "{N}_wait_until_any",
      MANY + "const int* status, int cmp, {T} cmp_value",
      "return wait_until_any(ivars, nelems, status, cmp, Same<{T}>{cmp_value}, __func__);", SYNC,
      generic=0),
    F("Point-to-point synchronisation", "size_t", "{N}_wait_until_some",
      MANY + "size_t* indices, const int* status, int cmp, {T} cmp_value",
      "return wait_until_some(ivars, nelems, indices, status, cmp, Same<{T}>{cmp_value}, "
      "__func__);", SYNC, generic=0),
    F("Point-to-point synchronisation", "void", "{N}_wait_until_all_vector",
      MANY + "const int* status, int cmp, {T}* cmp_values",
      "wait_until_all(ivars, nelems, status, cmp, Each<{T}>{cmp_values}, __func__);", SYNC,
      generic=0),
    F("Point-to-point synchronisation", "size_t", "{N}_wait_until_any_vector",
      MANY + "const int* status, int cmp, {T}* cmp_values",
      "return wait_until_any(ivars, nelems, status, cmp, Each<{T}>{cmp_values}, __func__);", SYNC,
      generic=0),
    F("Point-to-point synchronisation", "size_t", "{N}_wait_until_some_vector",
      MANY + "size_t* indices, const int* status, int cmp, {T}* cmp_values",
      "return wait_until_some(ivars, nelems, indices, status, cmp, Each<{T}>{cmp_values}, "
      "__func__);", SYNC, generic=0),
    F("Point-to-point synchronisation", "int", "{N}_test", "{T}* ivar, int cmp, {T} cmp_value",
      "return test(ivar, cmp, cmp_value, __func__);", SYNC, generic=0),
    F("Point-to-point synchronisation", "int", "{N}_test_all",
      MANY + "const int* status, int cmp, {T} cmp_value",
      "return test_all(ivars, nelems, status, cmp, Same<{T}>{cmp_value}, __func__);", SYNC,
      generic=0),
    F("Point-to-point synchronisation", "size_t", "{N}_test_any",
      MANY + "const int* status, int cmp, {T} cmp_value",
      "return test_any(ivars, nelems, status, cmp, Same<{T}>{cmp_value}, __func__);", SYNC,
      generic=0),
    F("Point-to-point synchronisation", "size_t", "{N}_test_some",
      MANY + "size_t* indices, const int* status, int cmp, {T} cmp_value",
      "return test_some(ivars, nelems, indices, status, cmp, Same<{T}>{cmp_value}, __func__);",
      SYNC, generic=0),
    F("Point-to-point synchronisation", "int", "{N}_test_all_vector",
      MANY + "const int* status, int cmp, {T}* cmp_values",
      "return test_all(ivars, nelems, status, cmp, Each<{T}>{cmp_values}, __func__);", SYNC,
      generic=0),
    F("Point-to-point synchronisation", "size_t", "{N}_test_any_vector",
      MANY + "const int* status, int cmp, {T}* cmp_values",
      "return test_any(ivars, nelems, status, cmp, Each<{T}>{cmp_values}, __func__);", SYNC,
      generic=0),
    F("Point-to-point synchronisation", "size_t", "{N}_test_some_vector",
      MANY + "size_t* indices, const int* status, int cmp, {T}* cmp_values",
      "return test_some(ivars, nelems, indices, status, cmp, Each<{T}>{cmp_values}, __func__);",
      SYNC, generic=0),
    F("Point-to-point synchronisation", "void", "{N}_wait", "{T}* ivar, {T} cmp_value",
      "wait_until(ivar, SHMEM_CMP_NE, cmp_value, __func__);",
      pick("short int long longlong"), deprecated=True),
    F("Point-to-point synchronisation", "void", "wait_until",
      "long* ivar, int cmp, long cmp_value", "wait_until(ivar, cmp, cmp_value, __func__);",
      deprecated=True),
    F("Point-to-point synchronisation", "void", "wait", "long* ivar, long cmp_value",
      "wait_until(ivar, SHMEM_CMP_NE, cmp_value, __func__);", deprecated=True),
    F("Ordering", "void", "fence", "", "fence({ctx}, __func__);", ctx=True),
    F("Ordering", "void", "quiet", "", "quiet({ctx}, __func__);", ctx=True),
]

# --- Collectives
SET = ", int PE_start, int logPE_stride, int PE_size, "
FAMILIES += [
    F("Collectives", "void", "barrier_all", "", "barrier_all(__func__);"),
    F("Collectives", "void", "sync_all", "", "sync_all(__func__);"),
    F("Collectives", "int", "team_sync", "shmem_team_t team", "return team_sync(team, __func__);"),
    F("Active sets", "void", "barrier",
      "int PE_start, int logPE_stride, int PE_size, long* pSync",
      "barrier({PE_start, logPE_stride, PE_size, pSync}, __func__);", deprecated=True),
    F("Active sets", "void", "sync", "int PE_start, int logPE_stride, int PE_size, long* pSync",
      "sync_set({PE_start, logPE_stride, PE_size, pSync}, __func__);", deprecated=True),
    F("Active sets", "void", "broadcast{N}",
      "void* dest, const void* source, size_t nelems, int PE_root" + SET + "long* pSync",
      "broadcast_set(dest, source, nelems * {B}, PE_root, {PE_start, logPE_stride, PE_size, "
      "pSync}, __func__);", WORDS, deprecated=True),
]
for name in ("collect", "fcollect", "alltoall"):
    FAMILIES.append(
        F("Active sets", "void", name + "{N}",
          "void* dest, const void* source, size_t nelems" + SET + "long* pSync",
          name + "_set(dest, source, nelems * {B}, {PE_start, logPE_stride, PE_size, pSync}, "
          "__func__);", WORDS, deprecated=True))
FAMILIES.append(
    F("Active sets", "void", "alltoalls{N}",
      "void* dest, const void* source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems" + SET +
      "long* pSync",
      "alltoalls_set(dest, source, dst, sst, nelems, {B}, {PE_start, logPE_stride, PE_size, "
      "pSync}, __func__);", WORDS, deprecated=True))
TEAM = "shmem_team_t team, {T}* dest, const {T}* source, "


def team_collective(name, parameters, arguments):
    """The typed form and that of bytes."""
    body = f"return {name}(team, dest, source, {arguments}, __func__);"
    return [F("Collectives", "int", "{N}_" + name, TEAM + parameters, body, RMA, generic=1),
            F("Collectives", "int", name + "mem", TEAM.replace("{T}", "void") + parameters,
              body.replace("{B}", "1"))]


FAMILIES += team_collective("broadcast", "size_t nelems, int PE_root", "nelems * {B}, PE_root")
FAMILIES += team_collective("collect", "size_t nelems", "nelems * {B}")
FAMILIES += team_collective("fcollect", "size_t nelems", "nelems * {B}")
FAMILIES += team_collective("alltoall", "size_t nelems", "nelems * {B}")
FAMILIES += team_collective("alltoalls", "ptrdiff_t dst, ptrdiff_t sst, size_t nelems",
                            "dst, sst, nelems, {B}")
REDUCE_NAME = {"and": "bit_and", "or": "bit_or", "xor": "bit_xor", "max": "max", "min": "min",
               "sum": "sum", "prod": "prod"}
for operator, types, set_types in (
        ("and", REDUCE_BITS, TO_ALL_BITS), ("or", REDUCE_BITS, TO_ALL_BITS),
        ("xor", REDUCE_BITS, TO_ALL_BITS), ("max", REDUCE_ORDER, TO_ALL_ORDER),
        ("min", REDUCE_ORDER, TO_ALL_ORDER), ("sum", REDUCE_SUM, TO_ALL_SUM),
        ("prod", REDUCE_SUM, TO_ALL_SUM)):
    FAMILIES += [
        F("Reductions", "int", "{N}_" + operator + "_reduce", TEAM + "size_t nreduce",
          "return reduce<Reduce::" + REDUCE_NAME[operator] +
          ">(team, dest, source, nreduce, __func__);", types, generic=1),
        F("Active sets", "void", "{N}_" + operator + "_to_all",
          "{T}* dest, const {T}* source, int nreduce" + SET + "{T}*, long* pSync",
          "reduce_set<Reduce::" + REDUCE_NAME[operator] +
          ">(dest, source, nreduce, {PE_start, logPE_stride, "
          "PE_size, pSync}, __func__);", set_types, deprecated=True),
    ]

FAMILIES += [
    F("Scans", "int", "{N}_sum_" + name, TEAM + "size_t nelems",
      "return scan(team, dest, source, nelems, " + inclusive + ", __func__);", REDUCE_SUM,
      generic=1)  # of 1.6
    for name, inclusive in (("inscan", "true"), ("exscan", "false"))
]

# --- Locks, and what 1.x had for caches that are not coherent
FAMILIES += [
    F("Locks", "void", "set_lock", "long* lock", "set_lock(lock, __func__);"),
    F("Locks", "void", "clear_lock", "long* lock", "clear_lock(lock, __func__);"),
    F("Locks", "int", "test_lock", "long* lock", "return test_lock(lock, __func__);"),
    F("Caches", "void", "set_cache_inv", "", "", deprecated=True),
    F("Caches", "void", "clear_cache_inv", "", "", deprecated=True),
    F("Caches", "void", "set_cache_line_inv", "void*", "", deprecated=True),
    F("Caches", "void", "clear_cache_line_inv", "void*", "", deprecated=True),
    F("Caches", "void", "udcflush", "", "", deprecated=True),
    F("Caches", "void", "udcflush_line", "void*", "", deprecated=True),
]
CALLS = [call for family in FAMILIES for call in calls_of(family)]
