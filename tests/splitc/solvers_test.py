"""apps/cg and apps/cholesky solve what they are given, on every place."""
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "command"))
from app_runs import AppRuns  # noqa: E402
from implementations import IMPLEMENTATIONS, OTHER_PLACES  # noqa: E402


class Solvers(AppRuns):
    def test_everywhere(self):
        # 20 rows of the grid for up to 16 ranks; 13 panels, the last one not full.
        self.verified_everywhere("cg", "unknowns", "--grid", "20")
        self.verified_everywhere("cholesky", "checksum", "--size", "100", "--block", "8")

    def test_every_implementation(self):
        for name in IMPLEMENTATIONS:
            found = set()
            for where, ranks in OTHER_PLACES:
                there = [*where, "--splitc", name]
                result = self.run_app("cg", there, ranks, "--verify", "--grid", "20")
                self.assertTrue(result["verified"], f"{name} {where}")
                result = self.run_app("cholesky", there, ranks, "--verify", "--size", "100",
                                      "--block", "8")
                self.assertTrue(result["verified"], f"{name} {where}")
                found.add(result["checksum"])
            # Expect: the same factors everywhere.
            self.assertEqual(len(found), 1)

    def test_random_matrix(self):
        for app in ("cg", "cg_mpi"):
            steps = set()
            for where, ranks in ((["shm"], 1), (["shm"], 3), (["udp"], 2), (["myrinet-p3"], 5)):
                result = self.run_app(app, where, ranks, "--verify", "--matrix", "random",
                                      "--grid", "20")
                self.assertTrue(result["verified"], f"{app} {where}")
                steps.add(result["iterations"])
            # Expect: one matrix for any number of ranks; sums may be rounded differently.
            self.assertLessEqual(max(steps) - min(steps), 1)
        for name in IMPLEMENTATIONS:
            result = self.run_app("cg", ["shm", "--splitc", name], 3, "--verify", "--matrix",
                                  "random", "--grid", "20")
            self.assertTrue(result["verified"], name)
        # Expect: more ranks than rows, of which some have none.
        self.assertTrue(self.run_app("cg", ["shm"], 5, "--verify", "--matrix", "random", "--grid",
                                     "3")["verified"])

    def test_where_nobody_sends_again(self):
        raw = ["udp", "--lci", "raw", "--faults", "drop=0.01,dup=0.01,reorder=0.01,corrupt=0.01",
               "--splitc", "via-unreliable"]
        for app, options in (("cg", ("--grid", "20")), ("cholesky", ("--size", "100")),
                             ("em3d", ("--variant", "store")), ("em3d", ("--variant", "get")),
                             ("fft3d_splitc", ("--n", "16")), ("raytrace", ())):
            # Expect: every application is right though the network loses packets.
            self.assertTrue(self.run_app(app, raw, 3, "--verify", *options)["verified"], app)

    def test_papers_cg(self):
        result = self.run_app("cg", ["shm"], 4, "--verify")
        self.assertTrue(result["verified"])
        self.assertEqual(result["unknowns"], 4096)

    def test_odd_sizes(self):
        for app, options in (("cg", ("--grid", "1")), ("cg", ("--grid", "3")),
                             ("cholesky", ("--size", "1")),
                             ("cholesky", ("--size", "33", "--block", "1")),
                             ("cholesky", ("--size", "17", "--block", "400"))):
            # Expect: verified, on more ranks than there are rows or panels.
            self.assertTrue(self.run_app(app, ["shm"], 5, "--verify", *options)["verified"],
                            f"{app} {options}")

    def test_bodies_and_repetitions_agree(self):
        self.bodies_agree("cg", "--grid", "16")


if __name__ == "__main__":
    unittest.main()
