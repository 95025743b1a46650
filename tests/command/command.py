"""What the tests of the `fairlead` command share: running it, and its places."""
import json
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

BIN = Path(os.environ["FAIRLEAD_BIN"])
SOURCE = Path(os.environ["FAIRLEAD_SOURCE"])
COMMANDS = [[], ["run"], ["compare"], ["sweep"], ["bench"], ["reproduce"], ["platforms"], ["info"],
            ["trace"], ["trace", "summarize"], ["ps"], ["report"],
            *(["bench", name] for name in ("logp", "latency", "overhead", "rate", "throughput",
                                           "multicast", "alltoall", "fetchadd", "remote",
                                           "rdma", "barrier", "splitc", "pingpong",
                                           "stream"))]
# Where MPI programs run: each device, both worlds, both bodies.
MPI_PLACES = (["shm"], ["udp"], ["shm", "--mpi-device", "panda"],
              ["shm", "--mpi-device", "rsm"], ["myrinet-p3", "--body", "process"],
              ["myrinet-p3", "--body", "fiber"])
# What a modelled run of a program that declares no computing says of it.
NO_COMPUTING = re.compile(r"^computing: none declared.*\n.* takes this machine's time\n",
                          re.MULTILINE)
# What the command keeps is a test's own.
CACHE = tempfile.TemporaryDirectory()


def environment():
    env = dict(os.environ)
    env["XDG_CACHE_HOME"] = CACHE.name
    env["PATH"] = f"{BIN}:{env['PATH']}"
    return env


def fairlead(*arguments, cwd=None, **more):
    """Runs the command to its end, with `more` in its environment; the answer has returncode,
    stdout, stderr."""
    return subprocess.run([str(BIN / "fairlead"), *arguments], capture_output=True, text=True,
                          timeout=600, stdin=subprocess.DEVNULL, env=environment() | more,
                          cwd=cwd, check=False)


def json_lines(text):
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


class OfOneProgram(unittest.TestCase):
    """Tests of runs of one MPI program in C, PROGRAM, which is compiled once."""
    PROGRAM = ""
    RANKS = 3

    @classmethod
    def setUpClass(cls):
        cls.built = tempfile.TemporaryDirectory()
        cls.folder = Path(cls.built.name)
        (cls.folder / "program.c").write_text(cls.PROGRAM)
        subprocess.run([str(BIN / "fairlead-mpicc"), "-O1", "program.c", "-o", "program"],
                       check=True, env=environment(), cwd=cls.folder)

    @classmethod
    def tearDownClass(cls):
        cls.built.cleanup()

    def run_job(self, *options, arguments=(), **more):
        done = fairlead("run", "-n", str(self.RANKS), "--timeout", "60", *options, "./program",
                        *arguments, cwd=self.folder, **more)
        done.stderr = NO_COMPUTING.sub("", done.stderr)
        return done
