"""apps/awari and apps/leq: one answer on every place, whatever the number of ranks."""
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "command"))
from app_runs import AppRuns  # noqa: E402


class Awari(AppRuns):
    def test_the_same_databases_everywhere(self):
        self.verified_everywhere("awari", "checksum", "--stones", "3")

    def test_updates_are_collected(self):
        few, many = (self.run_app("awari", ["myrinet-ppro"], 4, "--stones", "5", "--updates",
                                  updates, "--verify") for updates in ("1", "100"))
        self.assertEqual(few["checksum"], many["checksum"])
        # Expect: a message for each update of another rank's position, three of four; a fraction
        # of them where they are collected.
        self.assertAlmostEqual(few["messages"] / few["updates"], 0.75, delta=0.1)
        self.assertLess(many["messages"], few["messages"] / 5)

    def test_more_ranks_than_positions(self):
        # One stone: 12 positions.
        result = self.run_app("awari", ["myrinet-p3"], 15, "--stones", "1", "--verify")
        self.assertTrue(result["verified"])
        # Expect: who moves the stone to the other side has lost it, who must not keeps it.
        self.assertEqual(result["lost"] + result["drawn"] + result["won"], 13)

    def test_bodies_and_repetitions_agree(self):
        self.bodies_agree("awari", "--stones", "3")

    def test_options(self):
        self.papers_size("awari", "13 stones")
        self.refused("awari", 'cannot use "--stones"', "--stones", "16")


class Leq(AppRuns):
    def test_solves_everywhere(self):
        # Each row's sum has one order: the same iterations everywhere.
        self.verified_everywhere("leq", "iterations", "--equations", "30", "--tolerance", "1e-3")

    def test_bodies_and_repetitions_agree(self):
        self.bodies_agree("leq", "--equations", "20", "--tolerance", "1e-2")

    def test_options(self):
        self.papers_size("leq", "1000 equations")
        self.refused("leq", 'cannot use "--dominance"', "--dominance", "1")


if __name__ == "__main__":
    unittest.main()
