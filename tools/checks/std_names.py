"""Which standard header declares a name: tells a missing include where headers are precompiled."""
import re

HEADERS = {
    "algorithm": "adjacent_find all_of any_of clamp copy copy_n count count_if equal fill fill_n "
                 "find find_if max max_element min min_element minmax minmax_element none_of "
                 "reverse rotate sort stable_sort unique lower_bound upper_bound",
    "array": "array to_array",
    "atomic": "atomic atomic_ref atomic_flag atomic_signal_fence atomic_thread_fence memory_order "
              "memory_order_relaxed memory_order_acquire memory_order_release memory_order_acq_rel "
              "memory_order_seq_cst",
    "bit": "bit_cast bit_ceil bit_floor bit_width countl_zero countr_zero endian has_single_bit "
           "popcount rotl rotr",
    "bitset": "bitset",
    "charconv": "from_chars to_chars from_chars_result",
    "chrono": "chrono",
    "cmath": "llround lround round sqrt pow floor ceil fabs isnan",
    "complex": "complex",
    "concepts": "convertible_to derived_from floating_point integral invocable same_as "
                "signed_integral unsigned_integral",
    "condition_variable": "condition_variable",
    "cstdint": "int8_t int16_t int32_t int64_t intptr_t uint8_t uint16_t uint32_t uint64_t "
               "uintptr_t",
    "cstdio": "FILE fread fwrite",
    "cstdlib": "abort exit free getenv malloc strtoull",
    "cstring": "memchr memcmp memcpy memmove memset strcmp strlen",
    "deque": "deque",
    "filesystem": "filesystem",
    "functional": "bit_and bit_or bit_xor function greater hash invoke less minus multiplies plus "
                  "reference_wrapper",
    "iterator": "back_inserter distance next prev",
    "istream": "istream",
    "limits": "numeric_limits",
    "list": "list",
    "map": "map multimap",
    "memory": "allocator construct_at destroy_at enable_shared_from_this make_shared make_unique "
              "make_unique_for_overwrite shared_ptr unique_ptr weak_ptr addressof",
    "mutex": "lock_guard mutex once_flag recursive_mutex scoped_lock unique_lock",
    "new": "align_val_t bad_alloc launder nothrow",
    "numeric": "accumulate iota gcd lcm",
    "optional": "nullopt optional",
    "ostream": "ostream",
    "set": "set multiset",
    "span": "as_bytes as_writable_bytes span",
    "string": "stoi stoul stoull string to_string",
    "string_view": "string_view",
    "system_error": "errc error_code",
    "thread": "thread this_thread",
    "tuple": "apply tie tuple",
    "type_traits": "bool_constant conditional_t decay_t enable_if_t false_type invoke_result_t "
                   "is_arithmetic_v is_class_v is_floating_point_v is_function_v is_integral_v "
                   "is_object_v is_pointer_v is_reference_v is_same_v is_signed_v "
                   "is_standard_layout_v is_trivially_copyable_v is_void_v make_unsigned "
                   "remove_cvref_t true_type type_identity type_identity_t underlying_type_t",
    "unordered_map": "unordered_map",
    "unordered_set": "unordered_set",
    "utility": "as_const exchange forward in_place in_place_index index_sequence "
               "make_index_sequence move pair swap to_underlying",
    "variant": "get_if monostate variant visit",
    "vector": "vector",
}
# Names that any of several headers declares.
SHARED = {
    "byte": ["cstddef"],
    "size_t": ["cstddef", "cstdio", "cstdlib", "cstring", "ctime"],
    "ptrdiff_t": ["cstddef"],
    "max_align_t": ["cstddef"],
    "nullptr_t": ["cstddef"],
    "abs": ["cstdlib", "cmath", "complex"],
    "erase_if": "deque list map set string unordered_map unordered_set vector".split(),
    "get": ["array", "tuple", "utility", "variant"],
    "tuple_size_v": ["array", "tuple", "utility"],
}
# Declared by every header of a container, and so by whatever gave the reader one to use them on.
EVERYWHERE = {"begin", "end", "size", "data", "initializer_list"}
# What one header brings by the standard's own words.
BRINGS = {"charconv": ["system_error"]}

COMMENT_OR_STRING = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.S)
NAME = re.compile(r"\bstd::(\w+)")
ANGLED = re.compile(r"^\s*#\s*include\s*<([^>]+)>", re.M)

HEADERS_OF = {name: [header] for header, names in HEADERS.items() for name in names.split()}
HEADERS_OF.update(SHARED)


def used(text):
    """Names of std that the text uses, comments and strings left out."""
    return set(NAME.findall(COMMENT_OR_STRING.sub("", text))) - EVERYWHERE


def missing(names, included):
    """The `names` that none of the `included` standard headers declares, each as (name, why)."""
    have = set(included)
    for header in included:
        have.update(BRINGS.get(header, []))
    for name in sorted(names):
        headers = HEADERS_OF.get(name)
        if headers is None:
            yield name, "no header is known for it; add it to tools/checks/std_names.py"
        elif not have.intersection(headers):
            yield name, "include <" + "> or <".join(headers) + ">"
