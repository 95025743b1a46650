#!/usr/bin/env python3
"""Compares Fairlead's OpenSHMEM with the system's (Debian's oshrun: Open MPI's, over UCX): one C
source compiled with each one's oshcc, run in turn, medians and ratios of one run, as peers.py does
for MPI. Also Elanlib's barrier and broadcast beside our own MPI's, on shared memory.

  bench/peers/oshmem.py                       everything, 5 rounds, a table
  bench/peers/oshmem.py --json > shmem.jsonl  one object a line
  bench/peers/oshmem.py --only pairs,startup_8

The system's shmem_finalize may crash: its figures count where they were complete before. Where its
two PEs need a network that is no shared memory (the rows of udp), it runs over TCP.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import peers  # noqa: E402
from comparison import Comparison, output_of, print_table  # noqa: E402
from figures import Bar  # noqa: E402
from peers import LIMIT, OURS, ROOT, note  # noqa: E402

OSHMEM = "oshmem"
OWN_MPI = "own mpi"  # Fairlead's, for Elanlib's rows


@dataclass(frozen=True)
class Job:
    """One part of the program on so many PEs; the names of its figures get `suffix`."""
    part: str
    pes: int
    suffix: str = ""
    timed_as: str = ""  # the driver times the whole job and calls the figure this
    network: bool = False

    @property
    def name(self):
        return self.timed_as or self.part + self.suffix


JOBS = [
    Job("pairs", 2),
    Job("collectives", 2),
    Job("collectives", 8, suffix="_8_on_2"),
    Job("words", 2, suffix="_udp", network=True),
    Job("startup", 2, timed_as="startup_2"),
    Job("startup", 8, timed_as="startup_8"),
    Job("elan", 2),
]

# As parts of the system's figure ("peer"), of another of ours, of the machine's limit.
BARS = {
    ("put", 8): (Bar("peer", most=0.5),),
    ("get", 8): (Bar("peer", most=0.5),),
    ("fetch_add", 8): (Bar("peer", most=0.7),),
    ("rate_put", 8): (Bar("peer", least=2),),
    ("pingpong", 8): (Bar("peer", most=1.0),),
    ("barrier", 0): (Bar("peer", most=0.9),),
    ("broadcast", 8): (Bar("peer", most=0.5),),
    ("sum", 8): (Bar("peer", most=0.5),),
    ("bandwidth_put", 65536): (Bar("peer", least=0.95),),
    ("bandwidth_get", 65536): (Bar("peer", least=0.95),),
    ("bandwidth_put", 1 << 20): (Bar("peer", least=0.95),),
    ("bandwidth_get", 1 << 20): (Bar("peer", least=0.95),),
    ("put_static", 8): (Bar("put", most=1.2),),
    ("get_static", 8): (Bar("get", most=1.2),),
    ("barrier_8_on_2", 0): (Bar("peer", most=0.5),),
    ("sum_8_on_2", 8): (Bar("peer", most=0.5),),
    ("startup_2", 0): (Bar("peer", most=0.1),),
    ("startup_8", 0): (Bar("peer", most=0.1),),
    ("get_udp", 8): (Bar(LIMIT, most=1.4), Bar("peer", most=0.1)),
    ("elan_gsync", 0): (Bar("peer", most=1.1),),
    ("elan_bcast", 8): (Bar("peer", most=1.1),),
}


def our_command(build, job, program):
    place = ["--on", "udp"] if job.network else []
    return [str(build / "bin/fairlead"), "run", *place, "-n", str(job.pes), program, job.part]


def oshmem_command(job, program):
    # As its users tune it: told to yield when there are more PEs than processors.
    how = (["--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"] if job.pes > 2
           else ["--bind-to", "core", "--map-by", "core"])
    if job.network:
        how += ["-x", "UCX_TLS=tcp,self", "-x", "UCX_NET_DEVICES=lo"]
    return [shutil.which("oshrun"), "--oversubscribe", *how, "-n", str(job.pes), program, job.part]


def compile_all(build, folder):
    """oshmem.NAME for each implementation there is, collectives.fairlead, and the limits."""
    here = ROOT / "bench/peers"
    flags = ["-O2", "-std=c11", "-D_GNU_SOURCE"]
    compilers = {OURS: build / "bin/fairlead-oshcc", OSHMEM: shutil.which("oshcc")}
    if not compilers[OURS].exists():
        sys.exit(f"oshmem: no bin/fairlead-oshcc in {build}: build it, or say where it is by "
                 "--build")
    found = []
    for name, compiler in compilers.items():
        if compiler is None or (name == OSHMEM and shutil.which("oshrun") is None):
            note(f"{name} is left out: no oshcc or oshrun (Debian: openmpi-bin, libopenmpi-dev)")
            continue
        # Open MPI declares the calls that it calls deprecated so.
        subprocess.run([str(compiler), *flags, "-Wno-deprecated-declarations",
                        str(here / "oshmem.c"), "-o", str(folder / f"oshmem.{name}")], check=True)
        found.append(name)
    subprocess.run([str(build / "bin/fairlead-mpicc"), *flags, f"-I{ROOT}",
                    str(here / "collectives.c"), "-o", str(folder / "collectives")], check=True)
    subprocess.run([os.environ.get("CXX", "c++"), "-O2", "-std=c++20", f"-I{ROOT}",
                    str(here / "network_limits.cc"), "-o", str(folder / "network_limits"),
                    "-lcrypto"], check=True)
    return found


def run_job(command, job):
    answer = output_of(command)
    if answer is None:
        return {}
    text, elapsed = answer
    if job.timed_as:
        return {(job.timed_as, 0): (elapsed * 1e3, "ms")}
    values = peers.read_figures(text, job.suffix)
    values.pop(("complete" + job.suffix, 0), None)
    return values


def run_elan(build, folder):
    """Elanlib's mean times, and those of our own MPI's calls of that kind."""
    fairlead = [str(build / "bin/fairlead"), "run", "-n", "2"]
    ours, mpi = {}, {}
    for test, size in (("gsync", 0), ("bcast", 8)):
        # As the calls of MPI, with a look at the clock before and after many of them.
        answer = output_of([*fairlead, str(build / "bin/elanbench"), "--test", test, "--warm",
                            "2000", "--rounds", "100000", "--each", "1000", "--json"])
        if answer is not None:
            one = json.loads(answer[0].splitlines()[-1])
            ours[f"elan_{test}", size] = (one["us"], "us")
    answer = output_of([*fairlead, str(folder / "collectives")])
    if answer is not None:
        values = peers.read_figures(answer[0], "")
        mpi["elan_gsync", 0] = values["barrier", 0]
        mpi["elan_bcast", 8] = values["bcast", 8]
    return ours, mpi


def raw_udp(folder):
    """A round trip of 8 bytes, in us."""
    done = subprocess.run([str(folder / "network_limits")], capture_output=True, text=True,
                          check=True)
    one_way, unit = peers.read_figures(done.stdout, "")["latency_udp", 8]
    return {("get_udp", 8): (2 * one_way, unit)}


def measure(found, jobs, rounds, folder, build):
    """samples[name][round][(figure, bytes)] = (value, unit)"""
    samples = {name: [] for name in (OURS, OSHMEM, OWN_MPI, LIMIT)}
    for number in range(rounds):
        begin = time.monotonic()
        for one_round in samples.values():
            one_round.append({})
        for job in jobs:
            if job.part == "elan":
                ours, mpi = run_elan(build, folder)
                samples[OURS][number].update(ours)
                samples[OWN_MPI][number].update(mpi)
                continue
            for name in found:
                program = str(folder / f"oshmem.{name}")
                command = (our_command(build, job, program) if name == OURS
                           else oshmem_command(job, program))
                samples[name][number].update(run_job(command, job))
        if any(job.network for job in jobs):
            samples[LIMIT][number].update(raw_udp(folder))
        note(f"round {number + 1} of {rounds}: {time.monotonic() - begin:.0f} s")
    return samples


def peer_of(key):
    return OWN_MPI if key[0].startswith("elan_") else OSHMEM


def parse_arguments():
    return peers.make_parser(__doc__, 5, [job.name for job in JOBS]).parse_args()


def chosen_jobs(only):
    wanted = set(only.split(",")) if only else {job.name for job in JOBS}
    jobs = [job for job in JOBS if job.name in wanted]
    if len(jobs) < len(wanted):
        sys.exit(f"oshmem: --only {only}: there are {', '.join(job.name for job in JOBS)}")
    return jobs


def main():
    arguments = parse_arguments()
    peers.take_two_processors()
    jobs = chosen_jobs(arguments.only)
    build = arguments.build.resolve()
    with tempfile.TemporaryDirectory(prefix="fairlead-oshmem-") as name:
        folder = Path(name)
        found = compile_all(build, folder)
        samples = measure(found, jobs, arguments.rounds, folder, build)
        rows = Comparison(samples, BARS, peer_of).rows()
    return peers.report(rows, arguments.json, print_table)


if __name__ == "__main__":
    sys.exit(main())
