"""Ranks of a modelled job as processes: what a fiber computes a process computes, in the same
virtual time; and every way to end."""
import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from deadlines import GONE_WITHIN_S, Deadlines  # noqa: E402

PLATFORM = "myrinet-p3"


def run(ranks, body, *arguments, lci="sdma", options=(), program=None, platform=PLATFORM):
    """Runs a job to its end: exit code, both outputs, statistics."""
    with tempfile.NamedTemporaryFile("r", suffix=".json") as stats:
        done = subprocess.run(
            [FAIRLEAD, "run", "-n", str(ranks), "--on", platform, "--lci", lci, "--body", body,
             f"--stats={stats.name}", *options, program or RANK, *arguments],
            capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL, check=False)
        text = stats.read()
    return done, json.loads(text) if text else {}


def gone(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


class Bodies(Deadlines, unittest.TestCase):
    def same(self, ranks, *arguments, **given):
        fiber, expected = run(ranks, "fiber", *arguments, **given)
        self.assertEqual(fiber.returncode, 0, fiber.stderr)
        for _ in range(2):
            process, got = run(ranks, "process", *arguments, **given)
            self.assertEqual(process.returncode, 0, process.stderr)
            self.assertEqual(process.stdout, fiber.stdout)
            for key in ("virtual_time_us", "events", "digest"):
                self.assertEqual(got[key], expected[key], key)
            self.assertEqual(got["counters"]["packets_sent"], expected["counters"]["packets_sent"])

    def test_pingpong(self):
        # Expect: payloads intact, and time, events and digest of the fiber body, run after run.
        for lci in ("sdma", "pio"):
            self.same(2, "pingpong", "60", lci=lci)

    def test_traffic(self):
        # Expect: the same with everything a port offers, on one rank and on several.
        for lci in ("sdma", "pio-1k"):
            for ranks in (1, 2, 5):
                self.same(ranks, "traffic", "6", lci=lci)

    def test_remote_memory(self):
        # Expect: the same of remote-memory copies, whatever is in the TLBs.
        for lci in ("sdma", "rcpy", "rcpy-2k"):
            for ranks in (1, 3):
                self.same(ranks, "memory", "150", lci=lci)
        self.same(5, "traffic", "6", lci="rcpy")
        self.same(3, lci="rcpy", program=MPI)
        self.same(3, "memory", "150", lci="rcpy-nirx", options=["--faults", "drop=0.05"])

    def test_retransmission(self):
        # Expect: the same where the NIs or the hosts send again, the end of the job included.
        for lci in ("nirx", "hrx", "pio-hrx-1k"):
            for faults in ("", "drop=0.05,corrupt=0.01"):
                options = ["--faults", faults] if faults else []
                self.same(2, "pingpong", "60", lci=lci, options=options)
                self.same(5, "traffic", "6", lci=lci, options=options)
                self.same(3, lci=lci, options=options, program=MPI)

    def test_mpi(self):
        # Expect: the same of an MPI program.
        for ranks in (2, 5):
            self.same(ranks, program=MPI)

    def test_rdma_engines(self):
        # Expect: the same where network interfaces reach the ranks' memory by address: packets,
        # puts, gets, atomics and barriers on Port, and MPI.
        hca = {"lci": "direct", "platform": "generic-hca"}
        self.same(2, "pingpong", "60", **hca)
        for ranks in (1, 2, 5):
            self.same(ranks, "traffic", "6", **hca)
        for ranks in (2, 3):
            self.same(ranks, "memory", "150", **hca)
        for ranks in (2, 5):
            self.same(ranks, program=MPI, **hca)

    def test_handlers(self):
        # Expect: the same where packets interrupt their receivers, by whichever processor.
        hca = {"lci": "direct", "platform": "infiniband-pcix"}
        interrupts = {}
        for mode in ("interrupts", "watchdog"):
            for handler in ("same", "other"):
                options = ["--handler", handler, "--set", "host.watchdog_us=1"]
                self.same(5, mode, "6", options=options, **hca)
                counters = run(5, "fiber", mode, "6", options=options, **hca)[1]["counters"]
                interrupts[mode, handler] = counters["interrupts"]
        # Expect: the watchdog, whose time is the platform's, calls for less than everything does.
        for handler in ("same", "other"):
            self.assertGreater(interrupts["watchdog", handler], 0)
            self.assertGreater(interrupts["interrupts", handler],
                               2 * interrupts["watchdog", handler])

    def test_load_store_links(self):
        # Expect: the same where ranks store and load other hosts' memory, on nodes of two ranks as
        # of one, and while links die.
        link = {"lci": "direct", "platform": "firelink"}
        self.same(2, "pingpong", "60", **link)
        for ranks in (1, 2, 5):
            self.same(ranks, "traffic", "6", **link)
        nodes = ["--ranks-per-node", "2"]
        self.same(4, "traffic", "6", options=nodes, **link)
        for ranks in (2, 3):
            self.same(ranks, "memory", "60", **link)
        self.same(4, "memory", "40",
                  options=[*nodes, "--faults", "down=0-link0@50us+3ms,down=1-ni1@1ms+5ms"], **link)
        for ranks in (2, 5):
            self.same(ranks, program=MPI, options=nodes, **link)

    def test_reductions(self):
        # Expect: the same where switches, or interfaces, combine what the ranks reduce; the bench
        # looks at every sum.
        bench = str(Path(FAIRLEAD).parent / "elanbench")
        sums = ["--test", "reduce", "--to", "4096", "--rounds", "3"]
        few = ["--set", "network.reduction_bytes=128"]
        for platform, lci, options in (("qsnet-es40", "elan", few), ("qsnet-es40", "elan-tree", []),
                                       ("infiniband-ndr", "direct", few)):
            self.same(5, *sums, platform=platform, lci=lci, options=options, program=bench)

    def test_compute(self):
        declared, by_default = run(2, "process", "work")
        none, without = run(2, "process", "work", options=["--compute", "none"])
        measured, real = run(2, "process", "work", options=["--compute", "measured"])
        for done in (declared, none, measured):
            self.assertEqual(done.returncode, 0, done.stderr)
        # Expect: the declared second, nothing, and some of the real 20 ms.
        self.assertGreater(by_default["virtual_time_us"], 1e6)
        self.assertLess(without["virtual_time_us"], 1000)
        self.assertGreater(real["virtual_time_us"], 15e3)
        self.assertLess(real["virtual_time_us"], 500e3)
        refused, _ = run(2, "fiber", "work", options=["--compute", "measured"])
        # Expect: what to do instead.
        self.assertEqual(refused.returncode, 2)
        self.assertIn("--body process", refused.stderr)

    def test_clocks(self):
        begin = time.monotonic()
        done, stats = run(2, "process", "clocks")
        # Expect: an hour slept at once, clocks that agree, and the same time again.
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_in_time(begin, 20)
        self.assertEqual(run(2, "process", "clocks")[1]["digest"], stats["digest"])

    def test_binding(self):
        _, bound = run(2, "process", "pingpong", "20")
        _, free = run(2, "process", "pingpong", "20", options=["--bind", "none"])
        # Expect: where the processes run changes nothing.
        self.assertEqual(bound["digest"], free["digest"])


class Ends(unittest.TestCase):
    def test_deadlock(self):
        done, _ = run(3, "process", "deadlock")
        # Expect: who waits since when for what; not a success; said once.
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(done.stderr.count("deadlock"), 1, done.stderr)
        for rank in range(3):
            self.assertRegex(done.stderr,
                             rf"rank {rank}: blocked since [0-9.]+ us in a letter that nobody")

    def test_whole_deadlock_report(self):
        done, _ = run(14, "process", "deadlock")
        # Expect: more than fits the guardian's note.
        for rank in range(14):
            self.assertIn(f"rank {rank}: blocked since", done.stderr)

    def test_exit_with_a_message_queued(self):
        done, stats = run(2, "process", "leave", "0")
        # Expect: what was sent before exit arrives.
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(stats["counters"]["packets_received"], 1)

    def test_exits(self):
        for how, code, texts in (("1", 1, ["rank 1", "MPI_Finalize"]),
                                 ("2", 9, ["rank 1", "exited with code 9"]),
                                 ("3", 5, ["rank 1 ended the job", "had enough"]),
                                 ("4", 139, ["rank 1", "SIGSEGV"])):
            done, _ = run(2, "process", "leave", how)
            # Expect: the rank's own end is what is reported, not that the others wait for it.
            self.assertEqual(done.returncode, code, done.stderr)
            for text in texts:
                self.assertIn(text, done.stderr)
            self.assertNotIn("deadlock", done.stderr)

    def test_ranks_that_never_join(self):
        for mode in ("stranger", "absent"):
            done, _ = run(3, "process", mode)
            # Expect: a rank that ends in order without a word is nobody's failure.
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_foreign_program(self):
        done = subprocess.run([FAIRLEAD, "run", "-n", "2", "--on", PLATFORM, "/bin/echo", "hi"],
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, "hi\nhi\n"), done.stderr)


class Kills(Deadlines, unittest.TestCase):
    def start(self):
        job = subprocess.Popen([FAIRLEAD, "run", "-n", "3", "--on", PLATFORM, "--body", "process",
                                RANK, "hang"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True)
        return job, int(job.stdout.readline().split()[1])

    def finish(self, job, pid, begin):
        out, errors = job.communicate(timeout=20)
        # Expect: all gone within a second.
        self.check_in_time(begin, GONE_WITHIN_S)
        self.assertTrue(gone(pid))
        return out, errors

    def test_rank_killed(self):
        job, pid = self.start()
        begin = time.monotonic()
        os.kill(pid, signal.SIGKILL)
        _, errors = self.finish(job, pid, begin)
        # Expect: rank and signal.
        self.assertEqual(job.returncode, 137)
        self.assertIn("rank 1", errors)
        self.assertIn("SIGKILL", errors)

    def test_interrupt(self):
        job, pid = self.start()
        begin = time.monotonic()
        job.send_signal(signal.SIGINT)
        _, errors = self.finish(job, pid, begin)
        self.assertEqual(job.returncode, 130, errors)

    def test_command_killed(self):
        job, pid = self.start()
        begin = time.monotonic()
        job.kill()
        self.finish(job, pid, begin)

    def test_timeout(self):
        done = subprocess.run([FAIRLEAD, "run", "-n", "3", "--on", PLATFORM, "--body", "process",
                               "--timeout", "0.5", RANK, "hang"], capture_output=True, text=True,
                              timeout=20, check=False)
        self.assertEqual(done.returncode, 124, done.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--fairlead", required=True)
    parser.add_argument("--rank", required=True)
    parser.add_argument("--mpi", required=True)
    known, rest = parser.parse_known_args()
    FAIRLEAD, RANK, MPI = known.fairlead, known.rank, known.mpi
    unittest.main(argv=[sys.argv[0], *rest])
