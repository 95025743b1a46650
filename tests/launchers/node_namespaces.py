"""Nodes of one machine: network namespaces on a bridge, each with an address of its own, and what
stands in for ssh to reach them. Needs root and iproute2."""
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

# $1, after options: the node. hydra gives the rest as one shell command.
REACH = """#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
node=$1
shift
FAIRLEAD_ADDRESS=$(ip -n "$node" -4 -o addr show eth0 | sed 's/.*inet \\([0-9.]*\\).*/\\1/')
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
        self.tag = f"fl{os.getpid() % 100_000}"
        self.net = f"10.{os.getpid() % 200 + 20}.77"
        self.names = [f"{self.tag}n{i}" for i in range(count)]
        self.folder = tempfile.TemporaryDirectory(prefix="fairlead-nodes-")

    def run(self, *arguments):
        done = subprocess.run(["ip", *arguments], text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"ip {' '.join(arguments)}: {done.stdout.strip()}")
        return done.stdout

    def __enter__(self):
        try:
            self.make()
        except RuntimeError:
            self.__exit__()
            raise
        return self

    def make(self):
        bridge = f"{self.tag}b"
        self.run("link", "add", bridge, "type", "bridge")
        self.run("addr", "add", f"{self.net}.254/24", "dev", bridge)
        self.run("link", "set", bridge, "up")
        for i, name in enumerate(self.names):
            self.run("netns", "add", name)
            self.run("link", "add", f"{self.tag}v{i}", "type", "veth", "peer", "name", "eth0",
                     "netns", name)
            self.run("link", "set", f"{self.tag}v{i}", "master", bridge, "up")
            self.run("-n", name, "addr", "add", f"{self.net}.{i + 1}/24", "dev", "eth0")
            self.run("-n", name, "link", "set", "eth0", "up")
            self.run("-n", name, "link", "set", "lo", "up")
        reach = Path(self.folder.name) / "reach"
        reach.write_text(REACH)
        reach.chmod(0o755)

    def __exit__(self, *_):
        for name in self.names:
            subprocess.run(["ip", "netns", "del", name], stderr=subprocess.DEVNULL, check=False)
        subprocess.run(["ip", "link", "del", f"{self.tag}b"], stderr=subprocess.DEVNULL,
                       check=False)
        self.folder.cleanup()

    def hydra_options(self):
        return ("-launcher", "ssh", "-launcher-exec", f"{self.folder.name}/reach", "-localhost",
                f"{self.net}.254", "-hosts", ",".join(self.names))

    def bytes_between(self, node):
        """That came to a node over its link so far."""
        return int(Path(f"/sys/class/net/{self.tag}v{node}/statistics/tx_bytes").read_text())
