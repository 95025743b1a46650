"""Nodes of one machine (tests/hosts/namespaces) whose first network this process is on too, and
what stands in for ssh to reach them. Needs root and iproute2."""
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

NAMESPACES = Path(__file__).resolve().parents[1] / "hosts/namespaces"
# $1, after options: the node. hydra gives the rest as one shell command.
REACH = """#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
node=$1
shift
FAIRLEAD_ADDRESS=$(ip -n "$node" -4 -o addr show rail0 | sed 's/.*inet \\([0-9.]*\\).*/\\1/')
export FAIRLEAD_ADDRESS
exec ip netns exec "$node" sh -c "$*"
"""


def why_not():
    if os.geteuid() != 0:
        return "network namespaces need root"
    if shutil.which("ip") is None:
        return "ip is not installed (scripts/install-deps --bench)"
    return ""


class Nodes:
    """So many nodes; gone when the context ends. RuntimeError: the kernel does not permit it."""

    def __init__(self, count):
        # Another run on this machine has other names, and most likely another network.
        number = os.getpid() % 250
        self.tag = f"fl{number}"
        self.net = f"10.77.{number}"
        self.names = [f"{self.tag}h{i}" for i in range(1, count + 1)]
        self.environment = {**os.environ, "NET": str(number)}
        self.folder = tempfile.TemporaryDirectory(prefix="fairlead-nodes-")

    def run(self, *command):
        done = subprocess.run(command, text=True, env=self.environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(map(str, command))}: {done.stdout.strip()}")

    def __enter__(self):
        try:
            self.run(NAMESPACES, "up", *self.names)
            # The launcher is on the network too.
            self.run("ip", "addr", "add", f"{self.net}.254/24", "dev", f"{self.tag}b0")
            reach = Path(self.folder.name) / "reach"
            reach.write_text(REACH)
            reach.chmod(0o755)
        except RuntimeError:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.run(NAMESPACES, "down", *self.names)
        self.folder.cleanup()

    def hydra_options(self):
        return ("-launcher", "ssh", "-launcher-exec", f"{self.folder.name}/reach", "-localhost",
                f"{self.net}.254", "-hosts", ",".join(self.names))

    def set_links(self, node, state):
        """Both rails of a node: "up" or "down"."""
        for rail in (0, 1):
            self.run("ip", "-n", self.names[node], "link", "set", f"rail{rail}", state)

    def bytes_between(self, node):
        """That came to a node over its link so far."""
        return int(Path(f"/sys/class/net/{self.tag}r0n{node + 1}/statistics/tx_bytes").read_text())
