"""The user guide's program compiles, each command of its sh blocks runs as written, and what the
guide shows as printed is what the commands print: virtual times to the last digit, wall times by
their form. So do the console examples of the manuals of parts."""
import json
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from command import BIN, SOURCE, environment, fairlead

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


def examples_of(blocks):
    """As commands_of, of a part's manual: all commands of its console blocks, those that show
    nothing as well, but for what stands for a program of the reader's."""
    found = []
    for kind, _, text in blocks:
        for line in text.splitlines() if kind == "console" else []:
            if line.startswith("$ "):
                found.append((line[2:], []))
            else:
                found[-1][1].append(line)
    return [(command, shown) for command, shown in found if "./program" not in command]


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
                                      capture_output=True, text=True, timeout=600, check=False)
                # Expect: success without a word of complaint.
                self.assertEqual(done.returncode, 0, f"{command}\n{done.stderr}")
                self.assertNotIn("fairlead:", done.stderr, command)
                # Expect: what the guide shows.
                printed = done.stdout + done.stderr
                lost = missing(shown, printed, command)
                self.assertIsNone(lost, f"{command}\nshown: {lost}\nprinted:\n{printed}")

    def test_manuals_of_parts(self):
        files = {name: text for _, name, text in
                 BLOCK.findall((SOURCE / "docs/user-guide.md").read_text()) if name}
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "ring.c").write_text(files["ring.c"])
            examples = [("fairlead-mpicc -O2 ring.c -o ring", [])]
            for part, worlds in (("rsm.md", ("--on firelink", "--on udp", "--on cxl-pool")),
                                 ("sisci.md", ("--on generic-hca",))):
                found = examples_of(BLOCK.findall((SOURCE / "docs" / part).read_text()))
                # Expect: both worlds are shown.
                for world in worlds:
                    self.assertTrue(any(world in command for command, _ in found), part)
                self.assertTrue(any("--on" not in command for command, _ in found), part)
                examples += found
            for command, shown in examples:
                done = subprocess.run(command, shell=True, cwd=folder, env=environment(),
                                      capture_output=True, text=True, timeout=600, check=False)
                # Expect: they do what they are shown to do.
                self.assertEqual(done.returncode, 0, f"{command}\n{done.stderr}")
                lost = missing(shown, done.stdout + done.stderr, command)
                self.assertIsNone(lost, f"{command}\nshown: {lost}\nprinted:\n{done.stdout}")

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
        self.assertEqual(examples_of([("sh", "", "no\n"), ("console", "", "$ one\n$ two\nx\n"),
                                      ("console", "", "$ three ./program\ny\n")]),
                         [("one", []), ("two", ["x"])])


# Sums until so many seconds have passed, and looks at the clock each time.
FOR_A_TIME = """
#include <fairlead/run/fairlead.h>
#include <mpi.h>
#include <stdlib.h>
FAIRLEAD_FIBER_PROGRAM;
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  double begin = MPI_Wtime(), passed = 0;
  while (passed < atof(argv[1])) {
    passed = MPI_Wtime() - begin;
    if (argc > 2) fairlead_work(1000, 0, 0);
    MPI_Bcast(&passed, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  }
  return MPI_Finalize();
}
"""


class ComputingTime(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        source = Path(cls.folder.name) / "for_a_time.c"
        source.write_text(FOR_A_TIME)
        cls.program = source.with_suffix("")
        subprocess.run([BIN / "fairlead-mpicc", source, "-o", cls.program], check=True, timeout=60)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def run_it(self, body, *arguments, options=()):
        return fairlead("run", "-n", "2", "--on", "myrinet-p3", "--body", body, *options,
                        str(self.program), *arguments)

    def test_what_is_said_of_it(self):
        for body in ("fiber", "process"):
            quiet = self.run_it(body, "0.005")
            # Expect: that there is none, and that the program polls a clock.
            self.assertEqual(quiet.returncode, 0, quiet.stderr)
            self.assertIn("computing: none declared, 0 s: pure communication", quiet.stderr)
            self.assertRegex(quiet.stderr, r"clock: rank [01] read it \d{3,} times, every")
            declared = self.run_it(body, "0.0002", "work", options=("--stats",))
            # Expect: nothing where the program declares some, but how much it is.
            self.assertNotIn("pure communication", declared.stderr)
            self.assertNotIn("clock:", declared.stderr)
            self.assertRegex(declared.stderr, r"computing declared: [\d.]+ us a rank, \d+ % of the")
            left_out = self.run_it(body, "0.0002", "work", options=("--compute", "none"))
            self.assertIn("computing: left out by --compute none, 0 s", left_out.stderr)

    def test_both_bodies_count_the_same(self):
        said = []
        for body in ("fiber", "process"):
            stats = Path(self.folder.name) / f"{body}.json"
            self.run_it(body, "0.0002", "work", options=(f"--stats={stats}",))
            said.append(json.loads(stats.read_text())["computing"])
        self.assertEqual(said[0], said[1])
        self.assertEqual(said[0]["how"], "declared")
        # Expect: a thousand operations each, one a cycle of 1 GHz.
        self.assertAlmostEqual(said[0]["us"], said[0]["declarations"])

    def test_how_far_it_came(self):
        far = r"virtual time [\d.]+ [um]s, \d+ events, 0 of 2 ranks done"
        for body in ("fiber", "process"):
            told = self.run_it(body, "0.05", options=("--progress", "0.001"))
            self.assertEqual(told.returncode, 0, told.stderr)
            self.assertRegex(told.stderr, f"(?m)^{far}, \\d+ events/s$")
            ended = self.run_it(body, "1e9", options=("--timeout", "0.5"))
            self.assertEqual(ended.returncode, 124, ended.stderr)
            self.assertRegex(ended.stderr, f"outlived its --timeout of 0.5 s.*; {far}")

    def test_compare_says_it_too(self):
        answer = fairlead("compare", "-n", "2", "--on", "myrinet-p3", "--lci", "pio",
                          "--no-what-if", str(self.program), "0.005")
        self.assertIn("computing: none declared", answer.stdout)
        self.assertIn("clock: rank", answer.stdout)


if __name__ == "__main__":
    unittest.main()
