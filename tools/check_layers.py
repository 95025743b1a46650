#!/usr/bin/env python3
"""Includes point one way (docs/ARCHITECTURE.md), and within a folder in no new cycle: prints
file:line of each that does not; exit 1.

The tables below are the allowed edges. A unit test or bench beside the code may also include what
its folder reaches indirectly, because it has to build the world its folder runs in.
"""
import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from checks import common, cycles  # noqa: E402

# Folder under fairlead/ -> folders it may include beside itself. "fabric/model" is a folder of its
# own here: the only place where the modelled world enters.
ALLOWED = {
    "base": set(),
    "sim": {"base"},
    "hw": {"base", "sim"},
    "proto": {"base"},
    "fabric": {"base"},
    "fabric/model": {"base", "fabric", "proto", "sim", "hw"},
    "lci": {"base", "proto", "fabric"},
    "run": {"base", "sim", "fabric", "lci"},
    "systems": {"base", "proto", "lci", "run"},
}
# Rooms of a folder, the lowest first -> rooms of it that they may include beside themselves and its
# ground floor (the files of the folder itself, which see no room).
ROOMS = {
    "lci": {
        "client": set(),
        "memory": set(),
        "group": {"memory"},
        "reliable": set(),
        "paths": set(),
        "direct": {"client", "memory", "group"},
        "ni": {"client", "memory", "group"},
        "endpoint": {"client", "direct", "ni", "paths", "reliable"},
    },
    "run": {
        "machine": set(),
        "wire": {"machine"},
        "node": {"machine", "wire"},
        "rank": {"machine", "wire", "node"},
        "job": {"machine", "wire", "node", "rank"},
        "model": {"wire", "node", "rank", "job"},
        "join": {"machine", "wire", "node", "rank", "job"},
        "hosts": {"machine", "wire", "node", "rank", "job", "join"},
        "launch": {"machine", "wire", "node", "rank", "job", "model", "join", "hosts"},
    },
}
# One system may build on another, through its public header only.
SYSTEM_EDGES = {("splitc", "am"), ("splitc", "via"), ("am", "via"), ("mpi", "panda"),
                ("mpi", "rsm"), ("mpi", "elan"), ("orca", "panda"), ("multigame", "panda"),
                ("shmem", "elan"), ("mpifort", "mpi"), ("amudp", "am")}
# Modules of a folder that include each other: how many the largest such cycle has, where there is
# any. Numbers here only ever fall.
CYCLES = {
    "systems/am": 2, "systems/orca": 2, "systems/panda": 2, "systems/dsm": 2,
    "systems/mpi": 6,
}
APPS_MAY_SEE = {"systems", "run"}
OUTER = {"apps", "bench", "tests", "tools"}


def reachable(folder):
    """Everything below a folder, through any number of edges."""
    seen, pending = set(), [folder]
    while pending:
        for lower in ALLOWED[pending.pop()]:
            if lower not in seen:
                seen.add(lower)
                pending.append(lower)
    # fabric/model is part of fabric for whoever sits above it.
    return seen | ({"fabric/model", "sim", "hw"} if "fabric" in seen else set())


def folder_of(name):
    """Layer folder of a path under fairlead/."""
    parts = Path(name).parts
    return "fabric/model" if parts[1:3] == ("fabric", "model") else parts[1]


# Public headers beside systems/NAME/NAME.h: another interface to the same system.
MORE_PUBLIC = {f"fairlead/systems/dsm/{name}.h"
               for name in ("tmk", "protocol", "handles", "allocator")}
MORE_PUBLIC |= {f"fairlead/systems/sisci/sisci_{name}.h" for name in ("api", "types", "error")}
MORE_PUBLIC |= {"fairlead/systems/rsm/rsmapi.h", "fairlead/systems/via/vipl.h",
                "fairlead/systems/elan/elan3.h", "fairlead/systems/elan/tports.h",
                "fairlead/systems/elan/receive.h"}


def is_public_header(name):
    parts = Path(name).parts  # fairlead systems <name> <name>.h
    return (len(parts) == 4 and parts[3] == parts[2] + ".h") or str(name) in MORE_PUBLIC


def room_of(name):
    """Room of a path under fairlead/FOLDER/, "" for the ground floor."""
    parts = Path(name).parts
    return parts[2] if len(parts) > 3 else ""


def room_problem(folder, name, target):
    """One file of a folder with rooms includes another."""
    rooms = ROOMS[folder]
    user, used = room_of(name), room_of(target)
    for room in (user, used):
        if room and room not in rooms:
            return f"{folder}/{room} is no room of {folder}; tools/check_layers.py lists them"
    # A test builds what its room runs in.
    if used in ("", user) or Path(name).stem.endswith(("_test", "_bench", "_fixture")):
        return None
    if not user:
        return f"the ground floor of {folder} may not include a room of it"
    if used in rooms[user]:
        return None
    may_see = ", ".join(sorted(rooms[user])) or "the ground floor alone"
    return f"{folder}/{user} may not include {folder}/{used}; it sees {may_see}"


def system_problem(name, target):
    """One file under fairlead/systems/ includes another."""
    if len(Path(name).parts) < 4 or len(Path(target).parts) < 4:
        return None
    user, used = Path(name).parts[2], Path(target).parts[2]
    if user == used:
        return None
    if (user, used) not in SYSTEM_EDGES:
        return f"system {user} may not include system {used}"
    if not is_public_header(target):
        return f"system {user} may include only the public header of {used}"
    return None


def library_problem(name, target):
    user, used = folder_of(name), folder_of(target)
    for folder in (user, used):
        if folder not in ALLOWED:
            return f"folder fairlead/{folder} is in no layer; tools/check_layers.py lists them"
    if user == used == "systems":
        return system_problem(name, target)
    beside = Path(name).stem.endswith(("_test", "_bench"))
    may_see = reachable(user) if beside else ALLOWED[user] | (
        {"fabric/model"} if "fabric" in ALLOWED[user] and user != "fabric/model" else set())
    if user == used and user in ROOMS:
        return room_problem(user, name, target)
    if user == used or used in may_see:
        return None
    return f"{user} may not include {used}; it sees {', '.join(sorted(may_see)) or 'nothing'}"


def app_problem(name, target):
    if not target.startswith("fairlead/"):
        return None
    used = folder_of(target)
    if used not in APPS_MAY_SEE:
        return f"apps may not include {used}; they see systems and run"
    if used == "systems" and not is_public_header(target):
        return "apps may include only the public header of a system"
    return None


def problem(name, target):
    """Why file `name` may not include "target", or None."""
    user, used = Path(name).parts[0], Path(target).parts[0]
    if used not in OUTER | {"fairlead"}:
        return "a quoted include names its file by full path (fairlead/<folder>/<file>.h)"
    if user == "fairlead":
        return library_problem(name, target) if used == "fairlead" else (
            f"the library may not include {used}/")
    if user == "apps":
        if used not in ("apps", "fairlead"):
            return f"apps may not include {used}/"
        return app_problem(name, target)
    return None


def check(root):
    found = []
    for name in common.cpp_files(root):
        if Path(name).parts[0] not in OUTER | {"fairlead"}:
            continue
        for line, target in common.includes(Path(root) / name):
            why = problem(name, target)
            if why:
                found.append(f'{name}:{line}: #include "{target}": {why}')
    return found


def folder_of_module(name):
    parts = Path(name).parts
    return "/".join(parts[1:3]) if parts[1] == "systems" else parts[1]


def check_cycles(root):
    files = {name: [target for _, target in common.includes(Path(root) / name)
                    if target.startswith("fairlead/")]
             for name in common.cpp_files(root)
             if name.startswith("fairlead/") and len(Path(name).parts) > 2
             and not Path(name).stem.endswith(("_test", "_bench"))}
    found = []
    for folder, groups in sorted(cycles.by_folder(files, folder_of_module).items()):
        allowed = CYCLES.get(folder, 1)
        found += [f"fairlead/{folder}: {len(group)} modules include each other, and at "
                  f"most {allowed} may: {', '.join(Path(one).name for one in group)}"
                  for group in groups if len(group) > allowed]
    return found


def main():
    arguments = common.add_arguments(argparse.ArgumentParser(description=__doc__)).parse_args()
    found = check(arguments.root) + check_cycles(arguments.root)
    print("\n".join(found) if found else "layers: every include points down")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
