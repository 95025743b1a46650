"""MPI by stores on modelled machines: what its tunables do to its rates, and how it prints them."""
import json
import os
import re
import subprocess
import unittest
from pathlib import Path

BIN = Path(os.environ["FAIRLEAD_BIN"])
# Links of half the rate, so that one processor's stores are more than one of them carries.
TWO_SLOW_LINKS = [word for key in ("links.per_ni=1", "links.switches=2", "links.stripes=2",
                                   "network.link_MBps=825") for word in ("--set", key)]
PLACES = ("cxl-pool", "infiniband-ndr")


def run(*arguments, **variables):
    done = subprocess.run([str(BIN / "fairlead"), "run", *arguments], capture_output=True,
                          text=True, timeout=60, stdin=subprocess.DEVNULL,
                          env=os.environ | variables, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def pair(on, size, *more, device="rsm", **variables):
    """What `pairs` measures of one pair on two nodes."""
    done = run("-n", "2", "--on", on, "--body", "fiber", "--mpi-device", device, *more,
               str(BIN / "pairs"), "--bytes", str(size), "--count", "4", **variables)
    return json.loads(done.stdout)


class StoreDevices(unittest.TestCase):
    def test_stripes(self):
        both = pair("firelink", 1 << 20, *TWO_SLOW_LINKS)["MBps"]
        one = pair("firelink", 1 << 20, *TWO_SLOW_LINKS, MPI_RSM_MAXSTRIPE="1")["MBps"]
        # Expect: what one interface carries at most, and more than that
        self.assertLess(one, 501)
        self.assertGreater(both, 1.2 * one)

    def test_pipelining(self):
        # Expect: a message that is told of in parts is copied out while it is filled
        parts = pair("firelink", 65536, MPI_RSM_PIPESIZE="4KiB")["MBps"]
        whole = pair("firelink", 65536, MPI_RSM_PIPESIZE="64KiB")["MBps"]
        self.assertGreater(parts, 1.1 * whole)

    def test_printed(self):
        done = run("-n", "2", "--mpi-device", "rsm", str(BIN / "pairs"), MPI_PRINTENV="1",
                   MPI_SHM_NUMPOSTBOX="16")
        for line in ("MPI_RSM_NUMPOSTBOX=128", "MPI_SHM_NUMPOSTBOX=16",
                     "MPI_RSM_SBPOOLSIZE is not set", "MPI_POLLALL=1"):
            self.assertEqual(done.stderr.splitlines().count(line), 1, done.stderr)

    def test_areas_are_counted(self):
        for options, made, parts in (
                # Expect: an area for each sender and host that it sends to, its own among them, in
                # which all others there take part
                (("--on", "firelink", "--ranks-per-node", "2", "--body", "fiber"), 6 * 3, 6 * 2),
                (("--on", "firelink", "--ranks-per-node", "2", "--body", "process"), 6 * 3, 6 * 2),
                (("--on", "udp"), 6 * 5, 0)):
            done = run("-n", "6", *options, "--mpi-device", "rsm", "--stats",
                       str(BIN / "collbench"), "--call", "alltoall", "--bytes", "64")
            found = re.findall(r"^rank (\d): areas that peers store messages in: (\d+) made, "
                               r"(\d+) KiB at most; part in (\d+)$", done.stderr, re.MULTILINE)
            self.assertEqual(sorted(int(rank) for rank, *_ in found), list(range(6)), done.stderr)
            self.assertEqual(sum(int(number) for _, number, _, _ in found), made, done.stderr)
            self.assertEqual(sum(int(number) for *_, number in found), parts, done.stderr)
            self.assertGreater(min(int(size) for _, number, size, _ in found if number != "0"),
                               255)

    def test_memory_pool(self):
        # Expect: short messages gain by a pool, long ones by adapters that move them
        short = {on: pair(on, 8, device="auto")["latency_us"] for on in PLACES}
        long = {on: pair(on, 1 << 20, device="auto")["MBps"] for on in PLACES}
        self.assertLess(short["cxl-pool"], short["infiniband-ndr"])
        self.assertLess(long["cxl-pool"], long["infiniband-ndr"])


if __name__ == "__main__":
    unittest.main()
