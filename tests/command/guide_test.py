"""The user guide's program compiles, each command of its sh blocks runs as written, and what the
guide shows as printed is what the commands print: virtual times to the last digit, wall times by
their form."""
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from command import BIN, SOURCE, environment

BLOCK = re.compile(r"^```(\w+)(?: file=(\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = r"[0-9][0-9.e+]*"
WALL_TIME = re.compile(NUMBER + r"(?= (?:us|ms|s)\b)")


def is_modelled(command):
    return "--on myrinet" in command


def form_of(line, command):
    """What a printed line must match."""
    if is_modelled(command):
        return re.escape(line)
    return NUMBER.join(re.escape(part) for part in WALL_TIME.split(line))


def missing(shown, printed, command):
    """The first of the lines shown that is not among those printed, in this order; or None."""
    left = iter(printed.splitlines())
    for line in shown:
        form = re.compile(form_of(line, command))
        if not any(form.fullmatch(one.rstrip()) for one in left):
            return line
    return None


def commands_of(blocks):
    """(command, lines shown as printed) in the guide's order. A text block is what the last command
    before it prints; of a console block, what follows a '$ ' line. Console blocks that show nothing
    are for machines that are not here."""
    found = []
    for kind, name, text in blocks:
        lines = text.splitlines()
        if kind == "sh":
            found += [(line, []) for line in lines if line]
        elif kind == "text":
            found[-1][1].extend(lines)
        elif kind == "console" and any(not line.startswith(("$ ", "# ")) for line in lines):
            for line in lines:
                if line.startswith("$ "):
                    found.append((line[2:], []))
                else:
                    found[-1][1].append(line)
    return found


def without(blocks, word):
    """Leaves out the sh blocks that have `word`, and what they print."""
    kept, leaving = [], False
    for kind, name, text in blocks:
        leaving = word in text if kind == "sh" else leaving and kind == "text"
        if not leaving:
            kept.append((kind, name, text))
    return kept


class Guide(unittest.TestCase):
    def test_guide(self):
        blocks = BLOCK.findall((SOURCE / "docs/user-guide.md").read_text())
        # A build without gfortran has no wrapper for it.
        if not (BIN / "fairlead-mpifort").exists():
            blocks = without(blocks, "fairlead-mpifort")
        files = [(name, text) for _, name, text in blocks if name]
        commands = commands_of(blocks)
        # Expect: there is something to test.
        self.assertTrue(files)
        self.assertGreater(len(commands), 8)
        self.assertGreaterEqual(sum(bool(shown) for _, shown in commands), 3)
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "bench").symlink_to(SOURCE / "bench")
            for name, text in files:
                # Expect: a first program below 60 lines.
                self.assertLess(len(text.splitlines()), 60)
                (Path(folder) / name).write_text(text)
            for command, shown in commands:
                done = subprocess.run(command, shell=True, cwd=folder, env=environment(),
                                      capture_output=True, text=True, timeout=120, check=False)
                # Expect: success without a word of complaint.
                self.assertEqual(done.returncode, 0, f"{command}\n{done.stderr}")
                self.assertNotIn("fairlead:", done.stderr, command)
                # Expect: what the guide shows.
                printed = done.stdout + done.stderr
                lost = missing(shown, printed, command)
                self.assertIsNone(lost, f"{command}\nshown: {lost}\nprinted:\n{printed}")

    def test_shown_lines(self):
        run = "fairlead run -n 2 ./a"
        self.assertIsNone(missing(["took 7.4 us by it"], "x\ntook 1.2e+03 us by it\n", run))
        # Expect: other words, other numbers and another order are seen
        self.assertEqual(missing(["took 7.4 us"], "takes 7.4 us\n", run), "took 7.4 us")
        self.assertEqual(missing(["2 ranks"], "3 ranks\n", run), "2 ranks")
        self.assertEqual(missing(["a", "b"], "b\na\n", run), "b")
        modelled = run + " --on myrinet-p3"
        self.assertEqual(missing(["took 7.4 us"], "took 7.5 us\n", modelled), "took 7.4 us")
        self.assertEqual(without([("sh", "", "a b"), ("text", "", "c"), ("c", "", "b"),
                                  ("text", "", "d")], "b"), [("c", "", "b"), ("text", "", "d")])
        self.assertEqual(commands_of([("sh", "", "one\ntwo\n"), ("text", "", "x\n"),
                                      ("console", "", "$ no\n"), ("console", "", "$ yes\ny\n")]),
                         [("one", []), ("two", ["x"]), ("yes", ["y"])])


if __name__ == "__main__":
    unittest.main()
