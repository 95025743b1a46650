"""--ranks-per-node on modelled platforms: programs on 16 nodes of 4 ranks, in both bodies of a
rank, and what cannot be."""
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from command import BIN, SOURCE, environment, fairlead

NODES = ["-n", "64", "--ranks-per-node", "4", "--on", "myrinet-p3"]


class SharedNodes(unittest.TestCase):
    def run_on_nodes(self, body, *program):
        answer = fairlead("run", *NODES, "--body", body, "--stats", *program)
        self.assertEqual(answer.returncode, 0, answer.stdout + answer.stderr)
        text = answer.stdout + answer.stderr
        (digest,) = re.findall(r"digest ([0-9a-f]{16})", text)
        return text, digest

    def test_sor_is_verified_and_the_same_in_both_bodies(self):
        sor = [str(BIN / "sor"), "--rows", "256", "--columns", "256", "--iterations", "20",
               "--verify"]
        digests = set()
        for body in ("fiber", "process"):
            text, digest = self.run_on_nodes(body, *sor)
            # Expect: rank 0's own sequential run has the same bits
            self.assertIn("verified: bits of one processor", text)
            digests.add(digest)
        # Expect: one order of events
        self.assertEqual(len(digests), 1)

    def test_halo_has_one_answer_wherever_its_ranks_are(self):
        with tempfile.TemporaryDirectory() as folder:
            halo = str(Path(folder) / "halo")
            subprocess.run([str(BIN / "fairlead-mpicc"), "-O2", str(SOURCE / "apps/halo/halo.c"),
                            "-o", halo, "-lm"], check=True, env=environment())
            problem = [halo, "512", "60"]
            alone = fairlead("run", "-n", "64", "--on", "myrinet-p3", "--body", "fiber", *problem)
            heat = re.search(r"heat [0-9.]+", alone.stdout).group()
            digests = set()
            for body in ("fiber", "process"):
                text, digest = self.run_on_nodes(body, *problem)
                # Expect: the answer of one rank a node
                self.assertIn(heat, text)
                digests.add(digest)
        self.assertEqual(len(digests), 1)

    def test_every_implementation_and_the_rdma_machine(self):
        places = [["myrinet-p3", "--lci", name] for name in
                  ("sdma", "pio", "rcpy", "nirx", "hrx", "pio-1k", "sdma-4k", "pio-hmc",
                   "rcpy-nirx-hmc", "gm")]
        for place in [*places, ["myrinet-ppro"], ["generic-hca"], ["firelink"]]:
            # Two nodes of three ranks and one of two.
            answer = fairlead("run", "-n", "8", "--ranks-per-node", "3", "--on", *place,
                              str(BIN / "sor"), "--rows", "61", "--columns", "130",
                              "--iterations", "8", "--verify")
            # Expect: verified
            self.assertEqual(answer.returncode, 0, f"{place}: {answer.stdout}{answer.stderr}")
            self.assertIn("verified: bits of one processor", answer.stdout, str(place))

    def test_more_ranks_than_a_machine_of_as_many_nodes_could_have(self):
        answer = fairlead("run", "-n", "96", "--ranks-per-node", "4", "--on", "myrinet-p3",
                          "--set", "network.nodes=24", str(BIN / "sor"), "--rows", "96",
                          "--columns", "8", "--iterations", "2")
        # Expect: 24 nodes are enough
        self.assertEqual(answer.returncode, 0, answer.stdout + answer.stderr)

    def test_what_cannot_be_says_what_can(self):
        sor = str(BIN / "sor")
        for arguments, expected in (
                (["--on", "myrinet-p3", "--ranks-per-node", "13"], "at most 12 ranks"),
                (["--on", "generic-hca", "--ranks-per-node", "129"], "at most 128 ranks"),
                (["--on", "loop", "--ranks-per-node", "2"], "try --on myrinet-p3"),
                (["--on", "shm", "--ranks-per-node", "2"], "try --on myrinet-p3")):
            answer = fairlead("run", "-n", "26", *arguments, sor)
            # Expect: refused before anything runs
            self.assertNotEqual(answer.returncode, 0, str(arguments))
            self.assertIn(expected, answer.stderr, str(arguments))


if __name__ == "__main__":
    unittest.main()
