"""apps/barnes moves the same galaxy on every place, bit by bit, whatever the number of ranks."""
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "command"))
from app_runs import AppRuns  # noqa: E402


class Barnes(AppRuns):
    def test_the_same_galaxy_everywhere(self):
        self.verified_everywhere("barnes", "checksum", "--bodies", "150")

    def test_without_cells_as_bodies(self):
        # Expect: the forces of all pairs, but for the order of the sum.
        result = self.run_app("barnes", ["shm"], 3, "--bodies", "200", "--theta", "0", "--verify")
        self.assertLess(result["error"], 1e-13)
        # 200 bodies with 199 others, in 2 steps.
        self.assertEqual(result["interactions"], 200 * 199 * 2)

    def test_theta_saves_work_and_costs_accuracy(self):
        results = [self.run_app("barnes", ["shm"], 2, "--bodies", "600", "--theta", theta,
                                "--verify") for theta in ("0.3", "0.6", "1.0")]
        for finer, coarser in zip(results, results[1:]):
            self.assertGreater(finer["interactions"], coarser["interactions"])
            self.assertLess(finer["error"], coarser["error"])
        self.assertTrue(all(result["verified"] for result in results))

    def test_fewer_bodies_than_ranks(self):
        for bodies in ("1", "2", "3"):
            result = self.run_app("barnes", ["shm"], 4, "--bodies", bodies, "--verify")
            self.assertTrue(result["verified"], bodies)

    def test_bodies_and_repetitions_agree(self):
        self.bodies_agree("barnes", "--bodies", "100", "--steps", "1")

    def test_options(self):
        self.papers_size("barnes", "16384 bodies")
        self.refused("barnes", 'cannot use "--theta"', "--theta", "2")


if __name__ == "__main__":
    unittest.main()
