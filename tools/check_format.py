#!/usr/bin/env python3
"""Every C and C++ file is as clang-format 14 leaves it; exit 1 with the files to format."""
import argparse
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from checks import common  # noqa: E402

SKIPPED = 77  # ctest's SKIP_RETURN_CODE of these tests


def clang_format():
    """Another major version formats differently, so only 14 (Debian 12's) may judge."""
    for name in ("clang-format-14", "clang-format"):
        path = shutil.which(name)
        if path and " 14." in subprocess.run([path, "--version"], capture_output=True, text=True,
                                             check=False).stdout:
            return path
    return None


def main():
    arguments = common.add_arguments(argparse.ArgumentParser(description=__doc__)).parse_args()
    tool = clang_format()
    if tool is None:
        print("format: skipped, clang-format 14 is missing; scripts/install-deps brings it")
        return SKIPPED
    files = common.cpp_files(arguments.root)
    style = (Path(arguments.root) / ".clang-format").read_text()
    todo = {n: [tool, "--dry-run", "-Werror", n] for n in files}
    results = common.run_cached(arguments.root, "format", todo, style, arguments.jobs,
                                lambda names: [tool, "--dry-run", "-Werror", *names])
    failed = [(name, text) for name, passed, text in results if not passed]
    for _, text in failed:
        print("\n".join(text.splitlines()[:3]))
    if failed:
        print("format: run clang-format -i " + " ".join(name for name, _ in failed))
    else:
        print(f"format: {len(files)} files in order")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
