"""fairlead-splitcc: programs in Split-C's own syntax give the same results on every place, and what
the language does not allow is refused with file, line and reason."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "command"))
from command import BIN, fairlead  # noqa: E402

PROGRAMS = Path(__file__).resolve().parent / "programs"
WORK = tempfile.TemporaryDirectory()
BEGIN = "#include <split-c/split-c.h>\nint x; double d; int *global g; int A[PROCS][2]::[4];\n"


def compiled(*arguments):
    return subprocess.run([str(BIN / "fairlead-splitcc"), *map(str, arguments)], text=True,
                          capture_output=True, timeout=100, cwd=WORK.name, check=False)


class Programs(unittest.TestCase):
    PLACES = (["shm"], 3), (["udp"], 2), (["myrinet-p3"], 3)

    def built(self, name):
        program = Path(WORK.name) / name
        answer = compiled("-O1", PROGRAMS / f"{name}.sc", "-o", program)
        self.assertEqual((answer.returncode, answer.stderr), (0, ""))
        return program

    def run_it(self, program, on, ranks, *arguments):
        answer = fairlead("run", "-n", str(ranks), "--on", *on, str(program), *arguments)
        self.assertEqual(answer.returncode, 0, answer.stdout + answer.stderr)
        return answer.stdout

    def same_everywhere(self, name, expected, also, *arguments):
        program = self.built(name)
        for on, ranks in (*self.PLACES, (also, 2)):
            self.assertEqual(self.run_it(program, on, ranks, *arguments), expected, f"{on} {ranks}")

    def test_language(self):
        program = self.built("language")
        for on, ranks in (*self.PLACES, (["shm"], 1), (["udp", "--splitc", "via"], 2),
                          (["shm", "--splitc", "amvia-shm"], 3)):
            lines = self.run_it(program, on, ranks, "one", "two").splitlines()
            # Expect: every rank came to the end.
            self.assertEqual(sorted(lines), [f"rank {rank}: all checks passed"
                                             for rank in range(ranks)], f"{on} {ranks}")

    def test_memory(self):
        """Blocks of malloc, automatic variables and bit-fields of other processors."""
        program = self.built("memory")
        for on, ranks in (*self.PLACES, (["shm"], 1), (["shm", "--splitc", "amvia"], 2),
                          (["shm", "--splitc", "amvia-shm"], 3), (["udp", "--splitc", "via"], 2),
                          (["shm", "--splitc", "via-unreliable"], 2),
                          (["udp", "--splitc", "direct+aggregate"], 2)):
            lines = self.run_it(program, on, ranks).splitlines()
            self.assertEqual(sorted(lines), [f"rank {rank}: all checks passed"
                                             for rank in range(ranks)], f"{on} {ranks}")

    def test_em3d(self):
        self.same_everywhere("em3d", "em3d: 1887.14599609\n", ["shm", "--splitc", "amvia"],
                             "50", "3")

    def test_histogram(self):
        self.same_everywhere("histogram", "histogram: 24 19 21 20 22 18 20\n",
                             ["udp", "--splitc", "amvia"], "12")

    def test_sort(self):
        self.same_everywhere("sort", "sort: 0 out of place, 1885424\n",
                             ["shm", "--splitc", "via"], "300")


class Bad(unittest.TestCase):
    """What is refused."""

    def refused(self, *statements):
        """Statements, one a line from line 5 on, each with the reason why it is refused."""
        source = Path(WORK.name) / "bad.sc"
        source.write_text(BEGIN + "int splitc_main() {\n\n" +
                          "".join(f"  {statement}\n" for statement, _ in statements) + "}\n")
        answer = compiled(source, "-C")
        self.assertEqual(answer.returncode, 1)
        said = answer.stderr.splitlines()
        self.assertEqual(len(said), len(statements), answer.stderr)
        for i, (line, (_, reason)) in enumerate(zip(said, statements)):
            self.assertRegex(line, f"bad.sc:{i + 5}: error: .*{reason}")

    def test_accesses(self):
        self.refused(("x := 3;", "neither side of `:=` is a global place"),
                     ("*g := g[1];", "both sides of `:=` are global"),
                     ("d := *g;", "'double' and 'int' are laid out differently"),
                     ("x :- 3;", "`:-` stores into a global place"),
                     ("{ int *spread s; s = g; }", "a cast says so"),
                     ("g = A[0];", "2 indices left of `::`, here are only 1"),
                     ("g = (int *global)(A + 1);", "several indices"))

    def test_pointers_of_other_memory(self):
        self.refused(("{ int *p = g; }", "mixes a global and a local pointer"),
                     ("g = &x;", "mixes a global and a local pointer"))

    def test_declarations(self):
        self.refused(("{ static int s[PROCS]::; }", "static in a function"))
        self.refused(("{ int s[]::[2]; }", "how many blocks"))
        self.refused(("x = x :: 3;", "not behind the name"))

    def test_a_place_that_is_nowhere(self):
        source = Path(WORK.name) / "nowhere.sc"
        source.write_text(BEGIN + "int splitc_main() {\n  return *(int *global)toglobal(1, "
                          "(void *)64) + *(int *global)toglobal(0, (void *)64);\n}\n")
        program = Path(WORK.name) / "nowhere"
        self.assertEqual(compiled(source, "-o", program).returncode, 0)
        answer = fairlead("run", "-n", "2", str(program))
        # Expect: rank, address and operation.
        self.assertNotEqual(answer.returncode, 0)
        self.assertRegex(answer.stderr, "Split-C: read of 4 bytes at address 0x40 of rank [01]: it "
                         "is not in its global variables, its heap or its stack")

    def test_stores_into_bit_fields(self):
        self.refused(("{ struct { int b : 3; } *global s = 0; s->b :- 1; }",
                      "no bytes of its own that its target could count"))

    def test_a_stack_without_end(self):
        source = Path(WORK.name) / "deep.sc"
        source.write_text(BEGIN + "int deep(int n) { volatile char all[4096]; all[0] = n;\n"
                          "  return n == 0 ? 0 : deep(n + 1) + all[0]; }\n"
                          "int splitc_main() { return deep(1); }\n")
        program = Path(WORK.name) / "deep"
        self.assertEqual(compiled(source, "-o", program).returncode, 0)
        answer = fairlead("run", "-n", "1", str(program))
        # Expect: it ends there, and no other memory is written to.
        self.assertNotEqual(answer.returncode, 0)
        self.assertIn("SIGSEGV", answer.stderr)


class Command(unittest.TestCase):
    def test_steps(self):
        folder = Path(WORK.name)
        (folder / "one.sc").write_text(BEGIN + "extern int two();\nint splitc_main() {\n"
                                       "  A[MYPROC][0][0] = NUMBER;\n"
                                       "  return two() - *(int *global)A[MYPROC][0];\n}\n")
        (folder / "two.c").write_text("int two(void) { return 2; }\n")
        self.assertEqual(compiled("-c", "-DNUMBER=2", "one.sc").returncode, 0)
        answer = compiled("one.o", "two.c", "-o", "both")
        self.assertEqual((answer.returncode, answer.stderr), (0, ""))
        self.assertEqual(fairlead("run", "-n", "2", str(folder / "both")).returncode, 0)
        # Expect: the outcome says where its lines come from.
        self.assertEqual(compiled("-C", "-D", "NUMBER=2", "one.sc", "-o", "one.c").returncode, 0)
        self.assertIn('"one.sc"', (folder / "one.c").read_text())
        answer = compiled("none.sc")
        self.assertEqual(answer.returncode, 1)
        self.assertIn("none.sc: there is no such file", answer.stderr)


if __name__ == "__main__":
    unittest.main()
