#!/usr/bin/env python3
"""Names follow .clang-tidy: runs clang-tidy 14 on the headers, a folder at a time, and with --all
also on each main file, which takes minutes; in parallel, and only on what changed since it last
passed; exit 1 on a wrong name."""
import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from checks import common  # noqa: E402

SKIPPED = 77  # ctest's SKIP_RETURN_CODE of these tests
FLAGS = ["-xc++", "-std=c++20", "-I.", "-Ifairlead/systems/mpi",
         "-isystem", "/usr/lib/llvm-14/include"]


def clang_tidy():
    for name in ("clang-tidy-14", "clang-tidy"):
        path = shutil.which(name)
        if path and " 14." in subprocess.run([path, "--version"], capture_output=True, text=True,
                                             check=False).stdout:
            return path
    return None


def is_main(name):
    """Code of the library, apps and tools. Tests follow the same names by habit; C files are
    programs as users write them."""
    path = Path(name)
    return (path.parts[0] in ("fairlead", "apps", "bench", "tools") and path.suffix == ".cc"
            and not path.stem.endswith(("_test", "_bench")))


def header_units(root):
    """One file per folder of fairlead/, which includes all headers of that folder."""
    folders = {}
    for name in common.cpp_files(root):
        if name.startswith("fairlead/") and name.endswith(".h"):
            folders.setdefault(Path(name).parent, []).append(name)
    made = []
    for folder, headers in sorted(folders.items()):
        unit = Path("build/check/naming_units") / ("_".join(folder.parts) + ".cc")
        path = Path(root) / unit
        path.parent.mkdir(parents=True, exist_ok=True)
        text = "".join(f'#include "{name}"\n' for name in headers)
        if not path.is_file() or path.read_text() != text:
            path.write_text(text)
        made.append(str(unit))
    return made


def main():
    parser = common.add_arguments(argparse.ArgumentParser(description=__doc__))
    parser.add_argument("--all", action="store_true", help="main files too")
    arguments = parser.parse_args()
    tool = clang_tidy()
    if tool is None:
        print("naming: skipped, clang-tidy 14 is missing; scripts/install-deps brings it")
        return SKIPPED
    rules = (Path(arguments.root) / ".clang-tidy").read_text()
    units = header_units(arguments.root)
    if arguments.all:
        units += [n for n in common.cpp_files(arguments.root) if is_main(n)]
    todo = {n: [tool, "--quiet", n, "--", *FLAGS] for n in units}
    results = common.run_cached(arguments.root, "naming", todo, rules, arguments.jobs)
    failed = False
    said = set()
    for name, passed, text in results:
        lines = [l for l in text.splitlines() if re.search(r": (error|warning): ", l)]
        if not passed and not lines:
            lines = [f"{name}: clang-tidy failed:\n{text}"]
        failed = failed or not passed
        # A header's name is found once per file that includes it.
        said |= {l.replace(str(arguments.root.resolve()) + "/", "").removeprefix("./")
                 for l in lines}
    print("\n".join(sorted(said)) if said else f"naming: {len(todo)} units in order")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
