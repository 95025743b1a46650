"""apps/radix sorts on every place, with one result for any number of ranks."""
import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "command"))
from command import BIN, fairlead, json_lines  # noqa: E402

PLACES = [(["shm"], (1, 2, 5)), (["udp"], (3,)), (["udp", "--lci", "nirx"], (3,)),
          (["udp", "--faults", "drop=0.01"], (3,)), (["loop"], (7,)), (["generic-hca"], (4,)),
          (["myrinet-p3"], (2, 16)), (["myrinet-ppro"], (5,)),
          (["myrinet-p3", "--lci", "nirx", "--faults", "drop=0.01"], (4,)),
          (["myrinet-ppro", "--lci", "hrx", "--faults", "drop=0.01"], (4,))]


class Radix(unittest.TestCase):
    def run_radix(self, where, ranks, *arguments, stats=()):
        answer = fairlead("run", "-n", str(ranks), "--on", *where, *stats, str(BIN / "radix"),
                          "--json", *arguments)
        self.assertEqual(answer.returncode, 0, answer.stdout + answer.stderr)
        (result,) = json_lines(answer.stdout)
        return result

    def test_sorts_everywhere(self):
        # 5,000 keys: 20 regions, the last one not full; some ranks have one more than others.
        sums = set()
        for where, counts in PLACES:
            for ranks in counts:
                result = self.run_radix(where, ranks, "--keys", "5000", "--verify")
                # Expect: verified by rank 0 against its own sort.
                self.assertTrue(result["verified"], f"{where} {ranks}")
                sums.add(result["checksum"])
        # Expect: the same array everywhere.
        self.assertEqual(len(sums), 1)

    def test_odd_sizes(self):
        for keys, bits in (("1", "1"), ("3", "32"), ("257", "8"), ("1000", "20")):
            result = self.run_radix(["shm"], 4, "--keys", keys, "--key-bits", bits, "--verify")
            self.assertTrue(result["verified"], f"{keys} {bits}")

    def digest(self, platform, body):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "stats.json"
            self.run_radix([platform, "--body", body], 4, "--keys", "3000",
                           stats=(f"--stats={path}",))
            return json.loads(path.read_text())["digest"]

    def test_bodies_and_repetitions_agree(self):
        for platform in ("myrinet-p3", "myrinet-ppro"):
            digests = {self.digest(platform, body) for body in ("fiber", "process", "fiber")}
            # Expect: the same events, as fibers and as processes, and again.
            self.assertEqual(len(digests), 1, platform)


if __name__ == "__main__":
    unittest.main()
