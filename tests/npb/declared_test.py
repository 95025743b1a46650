"""With --declared the programs of apps/npb take as much modelled time as when they compute; those
that only declare send the messages of NPB's programs."""
import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

BIN = Path(os.environ["FAIRLEAD_BIN"])


def result(benchmark, *options):
    answer = subprocess.run(
        [str(BIN / "fairlead"), "run", "-n", "8", "--on", "firelink", "--body", "fiber",
         str(BIN / benchmark), "S", "--steps", "1", "--json", *options],
        capture_output=True, text=True, timeout=60, check=True, stdin=subprocess.DEVNULL)
    (line,) = [each for each in answer.stdout.splitlines() if each.startswith("{")]
    return json.loads(line)


class Declared(unittest.TestCase):
    def test_the_same_time(self):
        # The work of CG and IS depends on the matrix and the keys: declared as the average.
        for benchmark, error in (("npb_ft", 0), ("npb_mg", 0), ("npb_cg", 0.02), ("npb_is", 0.02)):
            computed = result(benchmark)
            declared = result(benchmark, "--declared")
            # Expect: nothing is called verified that was not computed.
            self.assertIsNone(declared["verified"])
            self.assertLessEqual(abs(declared["seconds"] / computed["seconds"] - 1), error,
                                 f"{benchmark}: {declared['seconds']}, {computed['seconds']}")

    def test_messages(self):
        # Two steps of 12 points a side on four ranks, one of them before time is taken: messages
        # and bytes to each peer of rank 0, by NPB's sources. Faces have 6 x 6 points, two layers of
        # five numbers; lines of BT's largest cell are 7 x 7, those inside the cube 5 x 5.
        faces = 2 * 6 * 6 * 2 * 5 * 8
        expected = {"npb_bt": dict.fromkeys((1, 2, 3), (4, faces + 7 * 7 * (30 + 5) * 8)),
                    "npb_sp": dict.fromkeys((1, 2, 3), (4, faces + 5 * 5 * (22 + 10) * 8)),
                    "npb_lu": dict.fromkeys((1, 2), (11, 6 * 12 * 2 * 5 * 8 + 10 * 5 * 5 * 8))}
        for benchmark, peers in expected.items():
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "profile.json"
                subprocess.run([str(BIN / "fairlead"), "run", "-n", "4", f"--profile={path}",
                                str(BIN / benchmark), "S", "--declared", "--steps", "1"],
                               capture_output=True, timeout=60, check=True,
                               stdin=subprocess.DEVNULL)
                of_rank = json.loads(path.read_text())["per_rank"][0]
            found = {each["rank"]: (each["messages"], each["bytes"]) for each in of_rank["peers"]}
            self.assertEqual(found, {peer: (2 * messages, 2 * moved)
                                     for peer, (messages, moved) in peers.items()}, benchmark)

    def test_solvers_that_are_not_here(self):
        done = subprocess.run([str(BIN / "fairlead"), "run", "-n", "4", str(BIN / "npb_bt")],
                              capture_output=True, text=True, timeout=60, check=False,
                              stdin=subprocess.DEVNULL)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("its computing is declared only: say --declared", done.stderr)


if __name__ == "__main__":
    unittest.main()
