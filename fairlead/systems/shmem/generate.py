#!/usr/bin/env python3
"""Turns table.py into what depends on it; FOLDER is where it lies.

generate.py FOLDER entries OUT.cc   the exported functions (library fairlead_shmem)
generate.py FOLDER write DOCS.md    rewrites shmem.h and pshmem.h in FOLDER, and DOCS.md
generate.py FOLDER check DOCS.md    fails when they are not up to date
generate.py FOLDER names            prints every exported name
"""
import pathlib
import sys
import textwrap

from table import CALLS, COMPLEX, DISTINCT, FAMILIES, SAME_AS, calls_of

MARK = "/* --- Written by generate.py from table.py, from here to the next such line. */\n"


def wrapped(text, indent="    "):
    """A column less than there is: pshmem.h has a letter more."""
    return "\n".join(textwrap.wrap(text, 99, subsequent_indent=indent, break_long_words=False,
                                   break_on_hyphens=False)) + "\n"


def branches(family, ctx):
    """What a type of the choosing parameter selects."""
    arms = []
    calls = {call.key: call for call in calls_of(family) if call.ctx == ctx}
    for key, ctype in (DISTINCT | COMPLEX).items():
        # Fixed-width types, where the family has no other name for them.
        call = calls.get(key) or calls.get(SAME_AS.get(key))
        if call is None:
            continue
        arms.append(f"{ctype}*: {call.name}")
        if family.const:
            arms.append(f"const {ctype}*: {call.name}")
    return ", ".join(arms)


def generic(family):
    """A macro that chooses by the type of a parameter, and by whether a context comes first."""
    nothing = "default: shmem_no_such_type_"
    at = family.generic
    plain = f"_Generic((SHMEM_ARG{at}_(__VA_ARGS__, 0, 0)), {branches(family, False)}, {nothing})"
    if not family.ctx:
        choice = plain
    else:
        with_ctx = (f"_Generic((SHMEM_ARG{at + 1}_(__VA_ARGS__, 0, 0)), {branches(family, True)}, "
                    f"{nothing})")
        choice = (f"_Generic((SHMEM_ARG0_(__VA_ARGS__, 0, 0)), shmem_ctx_t: {with_ctx}, "
                  f"default: {plain})")
    lines = textwrap.wrap(f"#define shmem_{family.generic_name}(...) {choice}(__VA_ARGS__)", 97,
                          subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    return " \\\n".join(lines) + "\n"


def declarations():
    text, section = "", ""
    for family in FAMILIES:
        if family.section != section:
            section = family.section
            text += f"\n/* {section} */\n"
        complexes = False
        for call in calls_of(family):
            is_complex = call.key.startswith("complex")
            if is_complex != complexes:
                text += "#ifdef SHMEM_COMPLEX_DOUBLE\n" if is_complex else "#endif\n"
                complexes = is_complex
            text += wrapped(f"{call.declaration()};")
        if complexes:
            text += "#endif\n"
    return text


def header(folder):
    old = (folder / "shmem.h").read_text()
    before, rest = old.split(MARK, 1)
    between, rest = rest.split(MARK, 1)
    middle, rest = rest.split(MARK, 1)
    _, after = rest.split(MARK, 1)
    made = {}
    for family in FAMILIES:
        if family.generic is not None:
            made[family.generic_name] = generic(family)
    return (before + MARK + declarations() + "\n" + MARK + middle + MARK + "".join(made.values()) +
            MARK + after)


def entries():
    """Strong names pshmem_*, and weak ones that profilers replace."""
    text = ("// Written by generate.py from table.py.\n"
            "#include \"fairlead/systems/shmem/api.h\"\n"
            "#include \"fairlead/systems/shmem/pshmem.h\"\n\n"
            "using namespace fairlead::shmem;\n\nextern \"C\" {\n")
    for call in CALLS:
        body = call.body.replace("__func__", f'"{call.name}"')
        declaration = call.declaration()
        text += f"{declaration.replace(call.name, 'p' + call.name, 1)} {{ {body} }}\n"
        text += f"{declaration} __attribute__((weak, alias(\"p{call.name}\")));\n"
    return text + "}  // extern \"C\"\n"


def profiling_header():
    return ("/* OpenSHMEM's profiling names: each call under a name that no profiler replaces.\n"
            " * Written by generate.py from table.py. */\n"
            "/* clang-format off */\n"
            "#ifndef FAIRLEAD_SYSTEMS_SHMEM_PSHMEM_H\n#define FAIRLEAD_SYSTEMS_SHMEM_PSHMEM_H\n"
            "#include \"fairlead/systems/shmem/shmem.h\"\n\n"
            "/* NOLINTBEGIN(readability-identifier-naming): the names are the standard's */\n"
            "#ifdef __cplusplus\nextern \"C\" {\n#endif\n" +
            declarations().replace(" shmem_", " pshmem_").replace("pshmem_ctx_t", "shmem_ctx_t")
            .replace("pshmem_team_t ", "shmem_team_t ").replace("pshmem_team_t*", "shmem_team_t*")
            .replace("pshmem_team_config_t", "shmem_team_config_t")
            .replace("pshmem_session_config_t", "shmem_session_config_t") +
            "#ifdef __cplusplus\n}\n#endif\n"
            "/* NOLINTEND(readability-identifier-naming) */\n#endif\n")


def docs(folder, path):
    old = path.read_text()
    mark = ("<!-- Written by fairlead/systems/shmem/generate.py from table.py: "
            "change it there. -->\n")
    text = old.split(mark, 1)[0] + mark
    section = ""
    for family in FAMILIES:
        if family.section != section:
            section = family.section
            text += f"\n### {section}\n\n| call | for | state |\n| --- | --- | --- |\n"
        forms = "`shmem_" + family.name.replace("{N}", "*") + "`"
        if family.ctx:
            forms += ", `shmem_ctx_" + family.name.replace("{N}", "*") + "`"
        for_what = ", ".join(family.types) if family.types else ""
        state = "there, deprecated by the standard" if family.deprecated else "there"
        text += f"| {forms} | {for_what} | {state} |\n"
    return text


def main():
    folder, what = pathlib.Path(sys.argv[1]), sys.argv[2]
    if what == "names":
        print("\n".join(call.name for call in CALLS))
    elif what == "entries":
        pathlib.Path(sys.argv[3]).write_text(entries())
    else:
        documents = pathlib.Path(sys.argv[3])
        made = {folder / "shmem.h": header(folder), folder / "pshmem.h": profiling_header(),
                documents: docs(folder, documents)}
        for path, text in made.items():
            if what == "write":
                path.write_text(text)
            elif path.read_text() != text:
                sys.exit(f"{path} is not up to date: generate.py FOLDER write DOCS.md")


main()
