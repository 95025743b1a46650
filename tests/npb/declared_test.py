"""With --declared the programs of apps/npb take as much modelled time as when they compute."""
import json
import os
import subprocess
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


if __name__ == "__main__":
    unittest.main()
