"""apps/em3d: each way of communication gives the bits of a sequential run, on every place."""
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "command"))
from app_runs import AppRuns  # noqa: E402
from command import BIN, fairlead  # noqa: E402
from implementations import IMPLEMENTATIONS, OTHER_PLACES  # noqa: E402


class Em3d(AppRuns):
    SMALL = ("--nodes", "100", "--iterations", "4")

    def test_blocks_everywhere(self):
        self.verified_everywhere("em3d", "nodes", *self.SMALL)

    def test_every_variant_has_the_same_bits(self):
        for where, ranks in ((["shm"], 4), (["udp"], 2), (["myrinet-p3"], 5)):
            found = set()
            for variant in ("get", "bulk", "store"):
                result = self.run_app("em3d", where, ranks, "--verify", "--variant", variant,
                                      *self.SMALL)
                self.assertTrue(result["verified"], f"{where} {variant}")
                found.add(result["checksum"])
            # Expect: one result, however the values came.
            self.assertEqual(len(found), 1)

    def test_every_implementation_has_the_same_bits(self):
        for name in IMPLEMENTATIONS:
            found = set()
            for i, (where, ranks) in enumerate(OTHER_PLACES):
                variant = ("store", "get", "bulk")[i % 3]
                result = self.run_app("em3d", [*where, "--splitc", name], ranks, "--verify",
                                      "--variant", variant, *self.SMALL)
                self.assertTrue(result["verified"], f"{name} {where} {variant}")
                found.add((ranks, result["checksum"]))
            # Expect: one result for each number of ranks.
            self.assertEqual(len(found), len({ranks for _, ranks in OTHER_PLACES}))

    def test_a_rank_that_dies_ends_the_job(self):
        for name in IMPLEMENTATIONS:
            answer = fairlead("run", "-n", "3", "--on", "myrinet-p3", "--faults", "kill=1@2ms",
                              "--splitc", name, str(BIN / "em3d"), "--iterations", "1000000")
            self.assertNotEqual(answer.returncode, 0)
            self.assertIn("rank 1: killed by the fault plan", answer.stderr)

    def test_a_killed_process_is_named_within_a_second(self):
        for name, where in (("via-unreliable", ["--on", "udp", "--lci", "raw"]),
                            ("via-unreliable", ["--on", "udp"]), ("via", ["--on", "shm"])):
            with tempfile.TemporaryDirectory() as folder:
                job = subprocess.Popen(
                    [str(BIN / "fairlead"), "run", "-n", "3", *where, "--splitc", name, "sh", "-c",
                     f'echo > {folder}/$$; exec "$@"', "em3d", str(BIN / "em3d"), "--iterations",
                     "1000000", "--no-verify"], stderr=subprocess.PIPE, text=True)
                try:
                    deadline = time.monotonic() + 30
                    while len(os.listdir(folder)) < 3 and time.monotonic() < deadline:
                        time.sleep(0.01)
                    time.sleep(0.5)  # in the midst of its iterations
                    killed = int(sorted(os.listdir(folder))[1])
                    os.kill(killed, signal.SIGKILL)
                    begin = time.monotonic()
                    said = job.communicate(timeout=30)[1]
                    took = time.monotonic() - begin
                finally:
                    job.kill()
            # Expect: the job ends, and says which rank and process it was.
            self.assertNotEqual(job.returncode, 0)
            self.assertRegex(said, rf"rank \d+ \(process {killed}\)", f"{name} {where}")
            self.assertLess(took, 1, f"{name} {where}: {said}")

    def test_papers_size(self):
        result = self.run_app("em3d", ["shm"], 2, "--verify", "--variant", "store")
        self.assertTrue(result["verified"])
        self.assertEqual((result["nodes"], result["degree"], result["remote"]), (500, 10, 30))

    def test_odd_sizes(self):
        for options in (("--nodes", "2", "--degree", "1"), ("--remote", "0"), ("--remote", "100")):
            result = self.run_app("em3d", ["shm"], 3, "--verify", "--iterations", "2", *options)
            self.assertTrue(result["verified"], options)

    def test_bodies_and_repetitions_agree(self):
        self.bodies_agree("em3d", "--variant", "store", *self.SMALL)


if __name__ == "__main__":
    unittest.main()
