"""How jobs of several hosts end whose command goes, or whose output nobody takes: everything of
them ends with it, and nothing burns a processor meanwhile.

Run: endings_test.py --fairlead COMMAND --rank PROGRAM.
"""
import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
import unittest
import uuid
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from deadlines import SLACK  # noqa: E402
from job_processes import MARK, command_line, members, wait_for  # noqa: E402

FAIRLEAD = ""
RANK = ""

KILLS = 40
GONE_S = 3


def processor_seconds(pid):
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Endings(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="fairlead-endings-")
        cls.addClassCleanup(folder.cleanup)
        cls.shell = Path(folder.name) / "shell"
        cls.shell.write_text('#!/bin/sh\nshift\nexec "$@"\n')
        cls.shell.chmod(0o755)

    def begin(self, *command, hosts="h1:2,h2:2", more=(), **streams):
        self.mark = f"{MARK}={uuid.uuid4()}"
        name, value = self.mark.split("=")
        clean = {k: v for k, v in os.environ.items() if not k.startswith("FAIRLEAD_")}
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL,
                   "stderr": subprocess.DEVNULL, **streams}
        return subprocess.Popen(
            [FAIRLEAD, "run", "--hosts", hosts, "--rsh", str(self.shell), *more, *command],
            env={**clean, name: value}, **streams)

    def check_gone(self, what):
        """Nothing of the job is left."""
        gone = wait_for(lambda: not members(self.mark), GONE_S * SLACK)
        left = [(command_line(p)[-2:], f"{processor_seconds(p)} s") for p in members(self.mark)]
        for pid in members(self.mark):
            os.kill(pid, 9)
        self.assertTrue(gone, f"{what}: left {left}")

    def test_a_command_killed_at_any_moment_leaves_nothing(self):
        draw = random.Random(20)
        for more in ((), ("--on", "udp", "--lci", "nirx")):
            for _ in range(KILLS // 2):
                # Most of them while the job is being set up.
                moment = draw.random() ** 3
                job = self.begin(RANK, "sleep", hosts="h1:8,h2:8", more=more)
                time.sleep(moment)
                job.kill()
                job.wait()
                self.check_gone(f"{moment:.3f} s after the start, {more}")

    def test_input_that_comes_after_rank_0_has_ended(self):
        job = self.begin("sh", "-c", "[ $FAIRLEAD_RANK = 0 ] && exit 0; exec sleep 2",
                         hosts="h1:1,h2:1", stdin=subprocess.PIPE)
        time.sleep(0.7)
        job.stdin.write(b"too late\n")
        job.stdin.flush()
        before = processor_seconds(job.pid)
        time.sleep(0.8)
        # Expect: the command sleeps
        self.assertLess(processor_seconds(job.pid) - before, 0.2)
        job.stdin.close()
        self.assertEqual(job.wait(timeout=60), 0)
        self.check_gone("after the job")


def main():
    global FAIRLEAD, RANK
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fairlead", required=True, help="the command")
    parser.add_argument("--rank", required=True, help="the program launchers_rank")
    arguments, rest = parser.parse_known_args()
    FAIRLEAD = str(Path(arguments.fairlead).resolve())
    RANK = str(Path(arguments.rank).resolve())
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
