"""The MPI twins of Split-C's applications: verified on every place, and with the outcome of the
Split-C programs, with which they share their kernels."""
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "command"))
from app_runs import AppRuns  # noqa: E402
from command import BIN, fairlead  # noqa: E402

# What both programs have in common, and what says that they have it.
SMALL = {"em3d": (("--nodes", "60", "--iterations", "3"), "checksum"),
         "cg": (("--grid", "12"), "iterations"),
         "cholesky": (("--size", "60", "--block", "8"), "checksum"),
         "raytrace": (("--width", "40", "--height", "30"), "hash"),
         "fft3d": (("--n", "8", "--steps", "2"), "checksum")}
SPLITC = {"fft3d": "fft3d_splitc"}  # other programs have the application's name
PLACES = ((["shm"], 3), (["udp", "--faults", "drop=0.01"], 2), (["myrinet-p3"], 5))


class Twins(AppRuns):
    def test_twins_agree(self):
        for app, (options, key) in SMALL.items():
            for where, ranks in PLACES:
                mine = self.run_app(SPLITC.get(app, app), where, ranks, *options)
                its = self.run_app(f"{app}_mpi", where, ranks, *options)
                # Expect: verified without being asked for, and one result.
                self.assertTrue(mine["verified"] and its["verified"], f"{app} {where}")
                if app != "fft3d":
                    self.assertEqual(mine[key], its[key], f"{app} {where}")
                for a, b in zip(mine[key], its[key]) if app == "fft3d" else ():
                    self.assertAlmostEqual(a, b, delta=1e-10 * abs(b))

    def test_odd_sizes(self):
        # Expect: verified, where ranks have no rows, panels or planes.
        for app, options in (("cg_mpi", ("--grid", "3")), ("cholesky_mpi", ("--size", "17")),
                             ("em3d_mpi", ("--nodes", "2", "--degree", "1")),
                             ("fft3d_mpi", ("--n", "4")), ("fft3d_splitc", ("--n", "4")),
                             ("raytrace_mpi", ("--width", "1", "--height", "1"))):
            self.assertTrue(self.run_app(app, ["shm"], 5, *options)["verified"], app)

    def test_the_published_checksums(self):
        # Expect: NAS's, of class S, by both.
        for app in ("fft3d_mpi", "fft3d_splitc"):
            result = self.run_app(app, ["shm"], 2)
            self.assertTrue(result["verified"])
            self.assertEqual((result["n"], result["steps"]), (64, 6))

    def test_slabs_by_every_implementation(self):
        found = set()
        for name in ("amvia", "amvia-shm", "via", "via-unreliable"):
            for where, ranks in ((["shm"], 3), (["myrinet-p3", "--ranks-per-node", "2"], 4)):
                result = self.run_app("fft3d_splitc", [*where, "--splitc", name], ranks, "--n",
                                      "8", "--steps", "2")
                self.assertTrue(result["verified"], f"{name} {where}")
                found.add((ranks, *result["checksum"]))
        # Expect: one result for each number of ranks.
        self.assertEqual(len(found), 2)

    def test_not_verified(self):
        self.assertNotIn("verified", self.run_app("cg_mpi", ["shm"], 2, "--no-verify", "--grid",
                                                  "4"))

    def test_wrong_use(self):
        for app, option in (("em3d_mpi", "--variant"), ("fft3d_splitc", "--nn")):
            answer = fairlead("run", "-n", "1", str(BIN / app), option, "4")
            self.assertEqual(answer.returncode, 2)
            self.assertIn(f'cannot use "{option}"', answer.stderr)
        answer = fairlead("run", "-n", "1", str(BIN / "fft3d_mpi"), "--n", "24")
        self.assertIn("--n must be a power of two", answer.stderr)


if __name__ == "__main__":
    unittest.main()
