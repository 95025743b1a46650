#!/usr/bin/env python3
"""What no formatter sees: unfinished-work marks, tabs, long lines, paths of one machine and
comments that begin with "Of" or "The same" are errors (exit 1); files above 600 lines and
functions above 70 are warnings."""
import argparse
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from checks import common  # noqa: E402

COLUMNS_MAX = 100
FILE_LINES_MAX = 600
FUNCTION_LINES_MAX = 70
# Written in pieces, so that this file passes its own check.
MARKS = re.compile(r"\b(" + "|".join(["TO" + "DO", "FIX" + "ME", "X" + "XX"]) + r")\b")
MACHINE_PATHS = re.compile(r"(?<![\w.}])(/wo" + r"rk/|/tmp/ba" + r"sh)")
# What stands behind the mark of a comment.
SLASHES = re.compile(r"(?<![:\"'])//[/!<]*\s*(.*)")
HASH = re.compile(r"(?:^|\s)#+\s+(.*)")
POOR_BEGINNING = re.compile(r"(Of|The same)\b")
HASH_SUFFIXES = {".py", ".cmake", ".sh"}
CODE_SUFFIXES = common.CPP_SUFFIXES | {".py", ".cmake", ".sh"}
TEXT_SUFFIXES = CODE_SUFFIXES | {".md", ".toml", ".json", ".txt", ".in", ".yml", ".yaml", ""}
EXEMPT = {"LICENSE"}
# Opens a block that is no function: a namespace, a type, an initializer, a lambda's caller is one.
NOT_A_FUNCTION = re.compile(
    r"^\s*(namespace|extern|(template\s*<.*>\s*)?(class|struct|union|enum)\b)|=\s*\{$")


def is_code(name):
    path = Path(name)
    return (path.suffix in CODE_SUFFIXES or path.name == "CMakeLists.txt" or
            path.parts[0] in ("scripts", ".ci"))


def comment_marks(name):
    """What a comment of this file looks like; None: it has none that this check knows."""
    path = Path(name)
    if path.suffix in common.CPP_SUFFIXES:
        return SLASHES
    return HASH if path.suffix in HASH_SUFFIXES or is_code(name) else None


def poor_comments(name, lines):
    """Comments that begin with words that tell a reader nothing before the third."""
    marks = comment_marks(name)
    found = []
    goes_on = False  # the line before is a comment that has its line alone
    for number, line in enumerate(lines, 1):
        comment = marks.search(line) if marks else None
        alone = comment is not None and not line[:comment.start()].strip()
        if comment and not (alone and goes_on):
            poor = POOR_BEGINNING.match(comment.group(1))
            if poor:
                found.append(f"{name}:{number}: comment that begins with \"{poor.group()}\"; "
                             "say what it is about in a whole sentence")
        goes_on = alone
    return found


def line_errors(name, lines):
    found = []
    for number, line in enumerate(lines, 1):
        where = f"{name}:{number}: "
        if MARKS.search(line):
            found.append(where + "mark of unfinished work; finish it or write the limit down")
        if MACHINE_PATHS.search(line):
            found.append(where + "path of one machine")
        if is_code(name) and "\t" in line:
            found.append(where + "tab")
        if is_code(name) and len(line) > COLUMNS_MAX:
            found.append(where + f"{len(line)} columns; at most {COLUMNS_MAX}")
    return found


def continues(line):
    """A statement goes on after this line."""
    return bool(line.strip()) and not line.rstrip().endswith((";", "{", "}", ":"))


def long_functions(name, lines):
    """Relies on clang-format: a block opened on a line of some indent closes at the same indent."""
    found = []
    number = 0
    while number < len(lines):
        line = lines[number]
        # The head of a statement broken over lines starts at the lesser indent.
        head = number
        while head > 0 and lines[head].startswith(" " * 4) and continues(lines[head - 1]):
            head -= 1
        text = " ".join(l.strip() for l in lines[head:number + 1])
        if line.endswith("{") and "(" in text and not NOT_A_FUNCTION.search(text):
            indent = re.match(r" *", lines[head]).group()
            close = next((i for i in range(number + 1, len(lines))
                          if re.match(indent + r"\}", lines[i])), number)
            length = close - head + 1
            if length > FUNCTION_LINES_MAX:
                found.append(f"{name}:{head + 1}: warning: function of {length} lines; "
                             f"aim at {FUNCTION_LINES_MAX}")
            number = max(close, number)
        number += 1
    return found


def check(root):
    errors, warnings = [], []
    for name in common.tree_files(root):
        if Path(name).suffix not in TEXT_SUFFIXES or name in EXEMPT:
            continue
        lines = (Path(root) / name).read_text(errors="replace").splitlines()
        errors += line_errors(name, lines) + poor_comments(name, lines)
        if is_code(name) and len(lines) > FILE_LINES_MAX:
            warnings.append(f"{name}: warning: {len(lines)} lines; aim at {FILE_LINES_MAX}")
        if Path(name).suffix in common.CPP_SUFFIXES:
            warnings += long_functions(name, lines)
    return errors, warnings


def main():
    arguments = common.add_arguments(argparse.ArgumentParser(description=__doc__)).parse_args()
    errors, warnings = check(arguments.root)
    for line in warnings + errors:
        print(line)
    if not errors:
        print("style: in order" + (f", {len(warnings)} warnings" if warnings else ""))
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
