"""What the tests of the `fairlead` command share: running it, and its places."""
import json
import os
import subprocess
import tempfile
from pathlib import Path

BIN = Path(os.environ["FAIRLEAD_BIN"])
SOURCE = Path(os.environ["FAIRLEAD_SOURCE"])
COMMANDS = [[], ["run"], ["compare"], ["sweep"], ["bench"], ["reproduce"], ["platforms"], ["info"],
            ["trace"], ["trace", "summarize"], ["ps"], ["report"],
            *(["bench", name] for name in ("logp", "latency", "overhead", "rate", "throughput",
                                           "multicast", "alltoall", "fetchadd", "remote",
                                           "rdma", "barrier"))]
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
                          timeout=280, stdin=subprocess.DEVNULL, env=environment() | more,
                          cwd=cwd, check=False)


def json_lines(text):
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]
