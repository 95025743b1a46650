"""apps/sor has one processor's bits for any number of ranks, on every place."""
import unittest

from command import BIN, fairlead, json_lines

PLACES = {"shm": (1, 2, 5), "udp": (1, 3), "nirx": (1, 3), "loop": (1, 2, 7), "myrinet-p3": (2, 16),
          "myrinet-ppro": (3,), "panda": (1, 3), "panda-ppro": (5,)}
OPTIONS = {"nirx": ["udp", "--lci", "nirx"], "panda": ["shm", "--mpi-device", "panda"],
           "panda-ppro": ["myrinet-ppro", "--mpi-device", "panda"]}


class Sor(unittest.TestCase):
    def run_sor(self, place, ranks, *arguments):
        where = OPTIONS.get(place, [place])
        answer = fairlead("run", "-n", str(ranks), "--on", *where, str(BIN / "sor"), "--json",
                          *arguments)
        self.assertEqual(answer.returncode, 0, answer.stdout + answer.stderr)
        (line,) = json_lines(answer.stdout)
        return line

    def test_same_bits(self):
        # 97 rows: shares differ by one row; 130 columns: rows longer than a small message.
        problem = ["--rows", "97", "--columns", "130", "--iterations", "30", "--verify"]
        changes = set()
        for place, counts in PLACES.items():
            for ranks in counts:
                for overlap in ([], ["--overlap"]):
                    line = self.run_sor(place, ranks, *problem, *overlap)
                    # Expect: verified by rank 0 against its own sequential run.
                    self.assertTrue(line["verified"])
                    self.assertEqual(line["iterations"], 30)
                    changes.add(line["change"])
        # Expect: the same last change everywhere, to the bit.
        self.assertEqual(len(changes), 1)

    def test_default_problem_converges_after_100_iterations(self):
        line = self.run_sor("shm", 2)
        # Expect: the paper's matrix, ended by its convergence test.
        self.assertEqual((line["rows"], line["columns"], line["iterations"]), (1536, 1536, 100))
        self.assertLessEqual(line["change"], 2.45e-3)

    def test_the_paths_are_shown(self):
        run = ["run", "-n", "3", "--show-paths", str(BIN / "sor"), "--rows", "9", "--columns", "9"]
        # Expect: one line, of the first rank.
        self.assertEqual(fairlead(*run).stderr, "rank 0 to 0-2: shared memory: the same node\n")
        answer = fairlead(*run[:1], "--on", "udp", *run[1:])
        self.assertRegex(answer.stderr, r"^rank 0 to 0-2: udp from 127\.0\.0\.1:\d+, \d+ bytes a "
                                        r"datagram, sealed \(header\), .*: --on udp\n$")

    def test_more_ranks_than_rows(self):
        answer = fairlead("run", "-n", "5", str(BIN / "sor"), "--rows", "4")
        # Expect: refused with the way out.
        self.assertNotEqual(answer.returncode, 0)
        self.assertIn("more ranks than rows", answer.stderr)


if __name__ == "__main__":
    unittest.main()
