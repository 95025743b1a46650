"""`fairlead trace summarize`: what a trace says, and what is not one."""
import json
import random
import tempfile
import unittest
from pathlib import Path

import trace_import
from command import BIN, fairlead

SOR = [str(BIN / "sor"), "--rows", "16", "--columns", "64", "--iterations", "4"]


class Trace(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.paths = {}
        for body in ("fiber", "process"):
            path = Path(cls.folder.name) / f"{body}.json"
            answer = fairlead("run", "-n", "3", "--on", "myrinet-ppro", "--body", body, "--trace",
                              str(path), *SOR)
            assert answer.returncode == 0, answer.stderr
            cls.paths[body] = path

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def summary(self, path):
        answer = fairlead("trace", "summarize", str(path), "--json")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        return json.loads(answer.stdout)

    def test_stages_are_the_whole_message(self):
        summary = self.summary(self.paths["fiber"])
        self.assertEqual(summary["nodes"], 3)
        for which in ("slowest", "median"):
            message = summary[which]
            self.assertAlmostEqual(sum(message["stages"].values()), message["total_us"], places=4)
        self.assertGreaterEqual(summary["slowest"]["total_us"], summary["median"]["total_us"])
        # Expect: each is a message of the trace with just that time
        events = [e for e in json.loads(self.paths["fiber"].read_text()) if e["ph"] in "be"]
        times = sorted(e["ts"] for e in events if e["ph"] == "b")
        self.assertEqual(summary["messages"], len(times))
        self.assertTrue(any(abs(summary["slowest"]["began_us"] - t) < 1e-6 for t in times))
        for resource in summary["resources"]:
            self.assertLessEqual(0, resource["mean_percent"])
            self.assertLessEqual(resource["mean_percent"], resource["busiest_percent"])
            self.assertLessEqual(resource["busiest_percent"], 100)
        self.assertEqual([r["name"] for r in summary["resources"]],
                         ["host", "NI processor", "host DMA", "I/O bus", "send DMA", "link out",
                          "link in", "receive DMA"])

    def test_a_message_takes_so_many_bytes(self):
        # What is written is most of what a trace costs: 4,580 bytes a message were too many.
        path = self.paths["fiber"]
        self.assertLess(path.stat().st_size / self.summary(path)["messages"], 4400)

    def test_either_body_tells_the_same(self):
        fiber, process = (self.summary(self.paths[body]) for body in ("fiber", "process"))
        # Expect: the same times; a rank's own lines may end where its process does.
        for key in ("messages", "slowest", "median"):
            self.assertEqual(fiber[key], process[key])

    def test_text(self):
        text = fairlead("trace", "summarize", str(self.paths["fiber"])).stdout
        for words in ("slowest message", "median message", "wait for credit", "deliver DMA",
                      "visibility", "NI processor", "busiest node"):
            self.assertIn(words, text)

    def test_a_real_run_has_arrows_only(self):
        path = Path(self.folder.name) / "real.json"
        answer = fairlead("run", "-n", "2", "--trace", str(path), *SOR)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        summary = self.summary(path)
        self.assertGreater(summary["messages"], 0)
        self.assertNotIn("stages", summary["slowest"])

    def imported(self, *options, program=None):
        path = Path(self.folder.name) / "imported.json"
        answer = fairlead("run", "--trace", str(path), *options, *(program or SOR))
        self.assertEqual(answer.returncode, 0, answer.stderr)
        found = trace_import.read(path)
        # Expect: nothing that the importer drops, and no flow without its end.
        self.assertEqual(found.errors, [], options)
        self.assertEqual(found.unfinished(), [], options)
        return found

    def check_messages(self, found, options, through_ni):
        """The clients' messages: from a send to its own upcall, and through the interfaces."""
        messages = 0
        for name, flow in found.flows.items():
            names = [slice_.name for _, slice_ in flow.points]
            if names[0] != "send":
                continue
            messages += 1
            self.assertEqual(names[-1], "upcall", (options, name, names))
            times = [slice_.begin for _, slice_ in flow.points]
            self.assertLess(times[0], times[-1])
            if through_ni:
                self.assertIn("received", names, (options, name))
                self.assertEqual(names.count("packet"), 4, (options, name, names))
        return messages

    def test_importers_rules(self):
        counts = set()
        for lci in ("sdma", "pio", "nirx", "hrx", "rcpy", "gm", "sdma-hmc"):
            options = ("-n", "3", "--on", "myrinet-p3", "--lci", lci)
            found = self.imported(*options)
            counts.add(self.check_messages(found, options, through_ni=True))
            self.assertGreater(sum(map(len, found.counters.values())), 100)
        # Expect: the same program's messages, whatever carries them.
        self.assertEqual(len(counts), 1)
        self.assertGreater(counts.pop(), 20)

    def test_importers_rules_elsewhere(self):
        for options in (("-n", "3", "--on", "myrinet-ppro", "--body", "process"),
                        ("-n", "4", "--on", "myrinet-p3", "--ranks-per-node", "2"),
                        ("-n", "3", "--on", "generic-hca"),
                        ("-n", "3", "--on", "qsnet-es40", "--mpi-device", "direct"),
                        ("-n", "2", "--on", "shm")):
            found = self.imported(*options)
            self.assertGreater(self.check_messages(found, options, through_ni=False), 0, options)

    def test_what_the_interface_matches_has_no_arrow(self):
        # Expect: no upcall to lead to, where MPI does all of it by messages that are matched there.
        found = self.imported("-n", "2", "--on", "qsnet-es40")
        self.assertEqual(self.check_messages(found, "2 ranks", through_ni=False), 0)
        # From three ranks on, a reduction of doubles is by the hosts: two operands go to the root,
        # in each of the four iterations.
        found = self.imported("-n", "3", "--on", "qsnet-es40")
        self.assertEqual(self.check_messages(found, "3 ranks", through_ni=False), 2 * 4)

    def test_the_rules_themselves(self):
        def slice_(name, begin, length, tid=0):
            return {"ph": "X", "pid": 0, "tid": tid, "name": name, "ts": begin, "dur": length}

        def flow(phase, at, tid=0, **more):
            return {"ph": phase, "cat": "c", "name": "n", "id": "0x1", "pid": 0, "tid": tid,
                    "ts": at, **more}
        outer = [slice_("inner", 1, 1), slice_("outer", 1, 5), slice_("other", 7, 1, tid=1)]
        good = trace_import.Import([*outer, flow("s", 1), flow("f", 7, tid=1, bp="e")])
        self.assertEqual(good.errors, [])
        # Expect: the innermost slice that begins then, wherever it stands in the file.
        self.assertEqual([(p, s.name) for p, s in good.flows["c", "n", "0x1"].points],
                         [("s", "inner"), ("f", "other")])
        late = trace_import.Import([*outer, flow("s", 1), flow("f", 6, tid=1)])
        self.assertEqual(late.flows["c", "n", "0x1"].points[-1][1].name, "other")
        for bad, text in (([slice_("a", 1, 2), slice_("b", 2, 5)], "ends behind a"),
                          ([*outer, flow("s", 9)], "outside of every slice"),
                          ([*outer, flow("t", 2)], "without a begin"),
                          ([*outer, flow("s", 1), flow("s", 2)], "two flows"),
                          ([*outer, flow("s", 1), flow("f", 9, tid=1)], "never comes")):
            self.assertIn(text, str(trace_import.Import(bad).errors))

    def refused(self, path, *texts):
        answer = fairlead("trace", "summarize", str(path))
        self.assertEqual(answer.returncode, 2, answer.stdout + answer.stderr)
        self.assertEqual(answer.stdout, "")
        for text in texts:
            self.assertIn(text, answer.stderr)

    def test_what_is_not_a_trace(self):
        path = Path(self.folder.name) / "other.json"
        self.refused("/no/such/file", "cannot read /no/such/file", "No such file")
        self.refused(self.folder.name, "is a folder")
        for content in (b"", b"hello\n", b"{}\n", b"\0" * 5000, b"[" * 100000):
            path.write_bytes(content)
            self.refused(path, "is not a trace of this program", "--trace FILE")
        for content, text in ((b"[\n\n]\n", "no message"),
                              (b"[\n[[[\n]\n", "2: not an event"),
                              (b"[\n{}\n]\n", "2: an event without a phase"),
                              (b'[\n{"ph":"X","pid":-1,"tid":0,"ts":0,"dur":1}\n]\n', "not a node"),
                              (b'[\n{"ph":"X","pid":1,"ts":1e300,"dur":1}\n]\n', "not a time"),
                              (b'[\n{"ph":"b","pid":1,"tid":0,"ts":1,"args":{}}\n]\n', "stages"),
                              (b"[\n" + b"[" * 200000 + b"\n]\n", "too long")):
            path.write_bytes(content)
            self.refused(path, text)

    def test_a_cut_trace(self):
        whole = self.paths["fiber"].read_bytes()
        path = Path(self.folder.name) / "cut.json"
        for size in (2, len(whole) // 3, len(whole) - 3):
            path.write_bytes(whole[:size])
            self.refused(path, str(path), "before its end")

    def test_garbage(self):
        whole = self.paths["fiber"].read_bytes()[:20000]
        dice = random.Random(5)
        path = Path(self.folder.name) / "garbage.json"
        for _ in range(150):
            spoiled = bytearray(whole)
            for _ in range(dice.randrange(1, 8)):
                at = dice.randrange(len(spoiled))
                if dice.random() < 0.3:
                    del spoiled[at:at + dice.randrange(1, 300)]
                else:
                    spoiled[at] = dice.choice(b'0919-.eE"{}[],:xX\n\0\xff')
            path.write_bytes(spoiled)
            answer = fairlead("trace", "summarize", str(path))
            # Expect: a refusal that names the file, never a crash.
            self.assertEqual(answer.returncode, 2, spoiled)
            self.assertIn(str(path), answer.stderr)


if __name__ == "__main__":
    unittest.main()
