"""fairlead run --explain: which algorithms an MPI program's collectives have, in both worlds."""
import unittest

from command import OfOneProgram, fairlead

PROGRAM = r"""
#include <mpi.h>

int main(int argc, char** argv) {
  double one = 1, sum;
  MPI_Init(&argc, &argv);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
"""


class Collectives(OfOneProgram):
    PROGRAM = PROGRAM

    def explained(self, *options):
        answer = fairlead("run", *options, "./program", cwd=self.folder)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        return answer.stderr

    def table(self, *options):
        """{call: [(bytes, algorithm)]}"""
        lines = self.explained(*options).splitlines()
        [begin] = [i for i, line in enumerate(lines)
                   if line.startswith("algorithms of collectives")]
        rows, call = {}, ""
        for line in lines[begin + 2:]:
            if not line.startswith(("MPI_", " ")):
                break
            call = line[:18].strip() or call
            rows.setdefault(call, []).append((line[20:39].strip(), line[41:]))
        return rows

    def test_a_real_job_has_the_table_of_its_place(self):
        rows = self.table("-n", "4", "--explain=collectives")
        shared = "a cache line each in shared memory"
        self.assertEqual(rows["MPI_Barrier"], [("", shared)])
        self.assertEqual(rows["MPI_Allreduce"][0], ("1 to 56", shared))
        self.assertEqual(rows["MPI_Gather"], [("1 to 8192", "binomial tree"),
                                              ("8193 and more", "straight")])
        rows = self.table("-n", "4", "--on", "udp", "--explain=collectives")
        self.assertEqual(rows["MPI_Barrier"], [("", "dissemination")])
        self.assertEqual(rows["MPI_Bcast"], [("1 to 131071", "binomial tree"),
                                             ("131072 and more", "scatter, then ring")])
        self.assertEqual(rows["MPI_Allreduce"], [("1 to 32767", "recursive doubling"),
                                                 ("32768 and more", "ring")])

    def test_what_the_user_told_is_in_the_table(self):
        rows = self.table("-n", "4", "--on", "udp", "--mpi-bcast", "binary",
                          "--explain=collectives")
        self.assertEqual(rows["MPI_Bcast"], [("1 and more", "binary tree")])
        self.assertEqual(rows["MPI_Allreduce"],
                         [("1 and more", "reduction to one, then broadcast")])

    def test_a_modelled_job_has_it_beside_its_critical_path(self):
        model = ("-n", "8", "--on", "myrinet-ppro", "--body", "process")
        errors = self.explained(*model, "--explain")
        self.assertEqual(errors.count("algorithms of collectives, 8 ranks"), 1)
        self.assertIn("critical path of", errors)
        self.assertNotIn("algorithms of collectives", self.explained(*model, "--explain=path"))
        self.assertEqual(self.table(*model, "--explain=collectives")["MPI_Barrier"],
                         [("", "dissemination")])

    def test_without_the_option_nothing_is_printed(self):
        self.assertNotIn("algorithms of collectives", self.explained("-n", "2"))


if __name__ == "__main__":
    unittest.main()
