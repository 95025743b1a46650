"""NI engines (--on udp --lci nirx): what they carry, say and survive."""
import os
import re
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

from command import BIN, environment, fairlead

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from deadlines import GONE_WITHIN_S, SLACK  # noqa: E402

SOR = [str(BIN / "sor"), "--rows", "600", "--columns", "600", "--iterations", "1000000",
       "--tolerance", "1e-300"]


def processes_named(name, ancestor):
    """Those of the job of process `ancestor`, by /proc."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if (entry / "comm").read_text().strip() == name and ancestor in ancestors(entry.name):
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def ancestors(pid):
    seen = []
    while pid != "0":
        seen.append(int(pid))
        stat = Path(f"/proc/{pid}/stat").read_text()
        pid = stat.rsplit(")", 1)[1].split()[1]
    return seen


class Engines(unittest.TestCase):
    def test_the_paths_name_them(self):
        answer = fairlead("run", "-n", "3", "--on", "udp", "--lci", "nirx", "--ranks-per-node",
                          "2", "--show-paths", str(BIN / "sor"), "--rows", "20", "--columns", "9")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertIn("rank 0 to 0-1: the NI engine of their node", answer.stderr)
        self.assertIn("sent again where lost (nirx)", answer.stderr)

    def test_a_share_needs_engines(self):
        answer = fairlead("run", "-n", "2", "--on", "udp", "--ranks-per-node", "2", "/bin/true")
        self.assertNotEqual(answer.returncode, 0)
        self.assertIn("--lci nirx", answer.stderr)

    def kill_one(self, name):
        """Kills a process of a running job; answers its id, what the job said and its code."""
        with subprocess.Popen([str(BIN / "fairlead"), "run", "-n", "2", "--on", "udp", "--lci",
                               "nirx", *SOR], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, env=environment()) as job:
            victims = []
            end = time.monotonic() + 20
            while len(victims) < (2 if name == "sor" else 1) and time.monotonic() < end:
                time.sleep(0.05)
                victims = processes_named(name, job.pid)
            self.assertTrue(victims)
            time.sleep(0.3)
            since = time.monotonic()
            os.kill(victims[0], signal.SIGKILL)
            text = job.communicate(timeout=20)[0]
            took = time.monotonic() - since
        self.assertLess(took, GONE_WITHIN_S * SLACK)
        # Expect: nobody of the job is left, engines included.
        self.assertFalse([pid for pid in victims if Path(f"/proc/{pid}").exists()])
        return victims[0], text, job.returncode

    def test_a_dead_engine_ends_the_job_by_its_name(self):
        pid, text, code = self.kill_one("fairlead-ni-1")
        self.assertRegex(text, rf"NI engine of node 1 \(process {pid}\) was ended by SIGKILL")
        self.assertEqual(code, 128 + signal.SIGKILL)

    def test_a_dead_rank_is_named_and_its_engine_is_not(self):
        pid, text, code = self.kill_one("sor")
        self.assertTrue(re.search(rf"rank \d \(process {pid}\) was ended by SIGKILL", text), text)
        self.assertNotIn("NI engine", text)
        self.assertEqual(code, 128 + signal.SIGKILL)


if __name__ == "__main__":
    unittest.main()
