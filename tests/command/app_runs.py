"""What tests of the programs in apps/ share: the same answer on every place, for any number of
ranks; the same events in virtual time, whatever the body of a rank."""
import json
import tempfile
import unittest
from pathlib import Path

from command import BIN, fairlead, json_lines

# Small machines of every kind, with and without loss.
PLACES = [(["shm"], (1, 2, 5)), (["udp"], (3,)), (["udp", "--lci", "nirx"], (3,)),
          (["udp", "--faults", "drop=0.01"], (3,)), (["loop"], (7,)), (["generic-hca"], (4,)),
          (["myrinet-p3"], (2, 16)), (["myrinet-ppro"], (5,)),
          (["myrinet-p3", "--lci", "nirx", "--faults", "drop=0.01"], (4,)),
          (["myrinet-ppro", "--lci", "hrx", "--faults", "drop=0.01"], (4,))]


class AppRuns(unittest.TestCase):
    def run_app(self, app, where, ranks, *arguments, stats=()):
        answer = fairlead("run", "-n", str(ranks), "--on", *where, *stats, str(BIN / app), "--json",
                          *arguments)
        self.assertEqual(answer.returncode, 0, answer.stdout + answer.stderr)
        (result,) = json_lines(answer.stdout)
        return result

    def verified_everywhere(self, app, key, *arguments):
        """The one value of `key`, on all places."""
        found = set()
        for where, counts in PLACES:
            for ranks in counts:
                result = self.run_app(app, where, ranks, "--verify", *arguments)
                # Expect: verified by the program.
                self.assertTrue(result["verified"], f"{where} {ranks}")
                found.add(result[key])
        # Expect: the same everywhere.
        self.assertEqual(len(found), 1)
        return found.pop()

    def digest(self, app, platform, body, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "stats.json"
            self.run_app(app, [platform, "--body", body], 4, *arguments, stats=(f"--stats={path}",))
            return json.loads(path.read_text())["digest"]

    def bodies_agree(self, app, *arguments):
        for platform in ("myrinet-p3", "myrinet-ppro"):
            digests = {self.digest(app, platform, body, *arguments)
                       for body in ("fiber", "process", "fiber")}
            # Expect: the same events, as fibers and as processes, and again.
            self.assertEqual(len(digests), 1, platform)

    def refused(self, app, words, *arguments):
        answer = fairlead("run", "-n", "1", str(BIN / app), *arguments)
        self.assertNotEqual(answer.returncode, 0)
        self.assertIn(words, answer.stderr)

    def papers_size(self, app, text):
        # Expect: what --paper stands for, without a run of that size.
        answer = fairlead("run", "-n", "1", str(BIN / app), "--help")
        self.assertIn(f"LCI paper: {text}", answer.stdout)
