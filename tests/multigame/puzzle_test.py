#!/usr/bin/env python3
"""apps/puzzle and apps/connect4: the sequential answer for any number of ranks, on every place; a
modelled rank that is a fiber computes what one that is a process does, in the same virtual time."""
import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "command"))
from command import BIN, fairlead, json_lines  # noqa: E402

PLACES = {"shm": (1, 2, 5), "udp": (1, 3), "loop": (2, 7), "myrinet-p3": (2, 16),
          "myrinet-ppro": (3,)}
# The puzzle among Korf's first ten that needs the fewest moves.
EASIEST = ["--korf", "9"]
BODIES = [("myrinet-p3", "sdma"), ("myrinet-p3", "pio-hrx"), ("myrinet-ppro", "pio"),
          ("myrinet-ppro", "nirx")]


class Games(unittest.TestCase):
    def play(self, game, place, ranks, *arguments, options=()):
        answer = fairlead("run", "-n", str(ranks), "--on", place, *options, str(BIN / game),
                          "--json", *arguments)
        self.assertEqual(answer.returncode, 0, answer.stdout + answer.stderr)
        (line,) = json_lines(answer.stdout)
        return line

    def test_every_iteration_is_the_sequential_one(self):
        problem = ["--scramble", "26", "--seed", "3", "--table", "0", "--verify"]
        for place, counts in PLACES.items():
            for ranks in counts:
                for jobs in ("4", "64"):
                    line = self.play("puzzle", place, ranks, *problem, "--jobs", jobs)
                    # Expect: rank 0's own search has the same length and iterations.
                    self.assertTrue(line["verified"], line)

    def test_korfs_easiest(self):
        for place, ranks in (("shm", 2), ("udp", 2), ("myrinet-p3", 8), ("myrinet-ppro", 8)):
            line = self.play("puzzle", place, ranks, *EASIEST, "--slack", "4")
            self.assertEqual(line["length"], 46)

    def test_loss(self):
        problem = ["--scramble", "40", "--seed", "3", "--table", "0", "--verify"]
        for place, lci in (("udp", "hrx"), ("udp", "nirx"), ("myrinet-p3", "nirx"),
                           ("myrinet-ppro", "hrx")):
            line = self.play("puzzle", place, 4, *problem,
                             options=["--lci", lci, "--faults", "drop=0.01"])
            self.assertTrue(line["verified"], line)

    def test_both_bodies(self):
        for game, problem in (("puzzle", ["--scramble", "26", "--seed", "3", "--slack", "2"]),
                              ("connect4", ["--columns", "4", "--rows", "4", "--depth", "5"])):
            for place, lci in BODIES:
                got = {}
                for body in ("fiber", "process", "process"):
                    with tempfile.NamedTemporaryFile("r", suffix=".json") as stats:
                        line = self.play(game, place, 5, *problem,
                                         options=["--lci", lci, "--body", body,
                                                  f"--stats={stats.name}"])
                        told = json.loads(stats.read())
                    seen = (line, told["virtual_time_us"], told["events"], told["digest"])
                    # Expect: the same answer, time, events and digest.
                    self.assertEqual(got.setdefault((game, place, lci), seen), seen)

    def test_two_players(self):
        for place, ranks in (("shm", 3), ("udp", 2), ("myrinet-p3", 8), ("myrinet-ppro", 5)):
            line = self.play("connect4", place, ranks, "--columns", "5", "--rows", "4", "--depth",
                             "9", "--verify")
            self.assertTrue(line["verified"], line)
        # Expect: a row of three with room on both sides is won in the next two moves.
        line = self.play("connect4", "shm", 2, "--moves", "2 2 3 3", "--depth", "5")
        self.assertGreater(line["value"], 29_000)

    def test_what_cannot_be_used(self):
        for words, *arguments in (("every tile once", "--position", "1 1 2"),
                                  ("cannot be solved", "--width", "3", "--position",
                                   "0 2 1 3 4 5 6 7 8"),
                                  ('cannot use "--korf"', "--korf", "11"),
                                  ('cannot use "--jobs"', "--jobs", "0")):
            answer = fairlead("run", "-n", "1", str(BIN / "puzzle"), *arguments)
            self.assertNotEqual(answer.returncode, 0)
            self.assertIn(words, answer.stderr)


if __name__ == "__main__":
    unittest.main()
