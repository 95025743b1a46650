"""apps/radix sorts on every place, with one result for any number of ranks."""
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "command"))
from app_runs import AppRuns  # noqa: E402


class Radix(AppRuns):
    def test_sorts_everywhere(self):
        # 5,000 keys: 20 regions, the last one not full; some ranks have one more than others.
        self.verified_everywhere("radix", "checksum", "--keys", "5000")

    def test_odd_sizes(self):
        for keys, bits in (("1", "1"), ("3", "32"), ("257", "8"), ("1000", "20")):
            result = self.run_app("radix", ["shm"], 4, "--keys", keys, "--key-bits", bits,
                                  "--verify")
            self.assertTrue(result["verified"], f"{keys} {bits}")

    def test_bodies_and_repetitions_agree(self):
        self.bodies_agree("radix", "--keys", "3000")


if __name__ == "__main__":
    unittest.main()
