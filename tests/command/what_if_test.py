"""compare's `why`: its own words for each row, and a what-if that a changed platform file gives."""
import subprocess
import tempfile
import unittest
from pathlib import Path

from command import BIN, SOURCE, environment, fairlead
from what_if import compare, faster_file, holds, try_rows, wrong_whys

SOR = [str(BIN / "sor"), "--rows", "32", "--columns", "256", "--iterations", "3"]


class WhatIf(unittest.TestCase):
    def check(self, program, on, lci):
        options = ["-n", "4"]
        rows = compare(options, on, lci, program)
        self.assertGreaterEqual(len(rows), 2)
        # Expect: each says what limits it, with a number, in its own words.
        self.assertEqual(wrong_whys(rows), [])
        tried = try_rows(rows, options, program, at_once=2)
        self.assertEqual(len(tried), sum("same_as" not in row for row in rows))
        self.assertTrue(holds(tried), "\n".join(one.text() for one in tried))

    def test_sor(self):
        self.check(SOR, "myrinet-ppro", "sdma,pio")

    def test_halo(self):
        with tempfile.TemporaryDirectory() as folder:
            halo = str(Path(folder) / "halo")
            subprocess.run([str(BIN / "fairlead-mpicc"), "-O2", str(SOURCE / "apps/halo/halo.c"),
                            "-o", halo, "-lm"], check=True, env=environment())
            self.check([halo, "64", "20"], "myrinet-p3", "sdma,nirx")

    def test_a_program_that_never_communicates_is_told_so(self):
        with tempfile.TemporaryDirectory() as folder:
            source, program = Path(folder) / "silent.c", str(Path(folder) / "silent")
            source.write_text("#include <mpi.h>\nint main(int n, char** of) {\n"
                              "  MPI_Init(&n, &of);\n  return MPI_Finalize();\n}\n")
            subprocess.run([str(BIN / "fairlead-mpicc"), str(source), "-o", program], check=True,
                           env=environment())
            answer = fairlead("compare", "-n", "2", "--on", "myrinet-p3", "--lci", "sdma,pio",
                              "--no-what-if", program)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        # Expect: each row and the last word say that what there is is the library's own.
        self.assertEqual(answer.stdout.count("sends no data;"), 2, answer.stdout)
        self.assertIn("It sends no data: these are the packets of its start, its end and barriers",
                      answer.stdout)

    def test_a_changed_file_is_another_in_one_resource(self):
        text = "[host]\nclock_MHz = { value = 100, x }\nwatchdog_us = { value = 30, x }\n" \
               "[ni]\nclock_MHz = { value = 50, x }\ndma_fixed_us = { value = 2, x }\n"
        self.assertEqual(faster_file(text, "host"), text.replace("100", "200.0"))
        self.assertEqual(faster_file(text, "dma"), text.replace("= 2,", "= 1.0,"))


if __name__ == "__main__":
    unittest.main()
