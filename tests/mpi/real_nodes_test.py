"""Collectives in two levels between real nodes: jobs of two and three hosts, which all are this
machine, reached by a script in ssh's place. Ranks of one host share memory, to others go datagrams.

Run: real_nodes_test.py --fairlead COMMAND --program PROGRAM."""
import argparse
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

FAIRLEAD = ""
PROGRAM = ""
SHELL = """#!/bin/sh
shift
exec "$@"
"""


class RealNodes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="fairlead-nodes-")
        cls.addClassCleanup(folder.cleanup)
        cls.shell = Path(folder.name) / "shell"
        cls.shell.write_text(SHELL)
        cls.shell.chmod(0o755)

    def job(self, counts, *program, more=()):
        hosts = ",".join(f"h{i}:{count}" for i, count in enumerate(counts))
        clean = {k: v for k, v in os.environ.items() if not k.startswith("FAIRLEAD_")}
        return subprocess.run(
            [FAIRLEAD, "run", "--hosts", hosts, "--rsh", str(self.shell), "--timeout", "150",
             *more, PROGRAM, *program],
            env=clean, capture_output=True, text=True, timeout=170, check=False)

    def test_ranks_know_who_shares_their_node(self):
        answer = self.job((1, 3), "sizes", "0")
        self.assertEqual(sorted(answer.stdout.split("\n")), ["", "0 1", "1 3", "2 3", "3 3"])

    def check(self, counts, *program, more=()):
        answer = self.job(counts, *program, more=more)
        self.assertEqual(answer.returncode, 0, f"{counts}: {answer.stderr}")
        return answer.stderr

    def test_results_are_those_of_one_node(self):
        for counts, each in (((2, 2), 2), ((1, 5), 2), ((3, 2), 3), ((2, 1, 3), 2)):
            with self.subTest(counts=counts):
                self.check(counts, "check", str(each))

    def test_results_are_right_over_a_bad_wire(self):
        self.check((3, 2), "check", "3", more=("--on", "udp", "--faults", "drop=0.01,reorder=0.01"))

    def test_boards_of_nodes_serve_many_calls(self):
        for counts in ((2, 2), (1, 4), (3, 3)):
            with self.subTest(counts=counts):
                self.check(counts, "small", "2000")

    def test_the_table_names_the_nodes(self):
        errors = self.check((2, 2), "small", "1", more=("--explain=collectives",))
        self.assertIn("algorithms of collectives, 4 ranks on 2 nodes", errors)
        self.assertRegex(errors, r"MPI_Barrier +in each node, and between nodes")

    def test_a_rank_in_another_call_is_told(self):
        for counts in ((2, 2), (1, 3)):
            for rank in range(4):
                with self.subTest(counts=counts, rank=rank):
                    answer = self.job(counts, "wrong", str(rank))
                    self.assertNotEqual(answer.returncode, 0)
                    self.assertIn("the ranks do not agree", answer.stderr)
                    self.assertIn("MPI_Barrier", answer.stderr)
                    self.assertIn("MPI_Bcast", answer.stderr)
                    # Expect: the number of the communicator's collective, whatever way it takes
                    self.assertRegex(answer.stderr, r"its (collective )?number 3\b")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--fairlead", required=True)
    parser.add_argument("--program", required=True)
    known, rest = parser.parse_known_args()
    FAIRLEAD, PROGRAM = known.fairlead, known.program
    unittest.main(argv=[sys.argv[0], *rest])
