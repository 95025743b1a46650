#!/usr/bin/env python3
"""Compares Fairlead's page DSM with ArgoDSM's (over Open MPI) and with the least that the machine
asks for a page: one C++ source compiled with each, run in turn, medians and ratios of one run, as
peers.py does for MPI. Also four applications of two ranks beside one.

  bench/peers/dsm.py --argodsm DIR         everything, 7 rounds, a table
  bench/peers/dsm.py                       ours and the limits alone
  bench/peers/dsm.py --json > dsm.jsonl    one object a line
  bench/peers/dsm.py --only fetch,locks

ArgoDSM is no package: DIR is where its `make install` put include/ and lib/, built with
mpicxx.openmpi. Its settings are its defaults, but that page_fetch loads one page at a time.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import peers  # noqa: E402
from comparison import Comparison, output_of, print_table  # noqa: E402
from figures import Bar  # noqa: E402
from peers import LIMIT, OURS, ROOT, note  # noqa: E402

ARGO = "argodsm"
ONE_RANK = "1 rank"


@dataclass(frozen=True)
class Job:
    """One part of dsm.cc on two ranks; the names of its figures get `suffix`. `ours` and `argo` are
    the variables that either is told by; argo None: it has no such thing."""
    part: str
    suffix: str = ""
    arguments: tuple = ()
    place: tuple = ()
    ours: dict = field(default_factory=dict, hash=False)
    argo: dict | None = field(default_factory=dict, hash=False)

    @property
    def name(self):
        return self.part + self.suffix


APPS = {"barnes_dsm": ["--paper"], "fft3d": ["--paper"], "lu": ["--paper", "--no-verify"],
        "is": ["--paper"]}
HEAP = "256M"

JOBS = [
    Job("fetch", ours={"FAIRLEAD_DSM_AHEAD": "0"}, argo={"ARGO_LOAD_SIZE": "1"}),
    Job("fetch", suffix="_ahead"),
    Job("writes"),
    Job("barrier"),
    Job("locks"),
    Job("busy"),
    Job("busy", suffix="_async", ours={"FAIRLEAD_DSM_PROTOCOL": "async"}, argo=None),
    Job("busy", suffix="_nirx", arguments=("100",), place=("--on", "udp", "--lci", "nirx"),
        argo=None),
]
PARTS = [*(job.name for job in JOBS), "apps"]

# As parts of ArgoDSM's figure or one rank's ("peer"), of another of ours, of the limit, or of 1 us.
BARS = {
    ("page_fetch", 0): (Bar(LIMIT, most=1.3), Bar("peer", most=0.35)),
    ("page_fetch_ahead", 0): (Bar("peer", most=0.3),),
    ("first_write", 0): (Bar(LIMIT, most=1.5), Bar("peer", most=0.1)),
    ("release_word", 0): (Bar("peer", most=0.5),),
    ("release_bytes", 0): (Bar("peer", most=0.1),),
    ("barrier_cached", 0): (Bar(LIMIT, most=1), Bar("peer", most=0.3)),
    ("lock_free", 0): (Bar("peer", most=0.35),),
    ("lock_count", 0): (Bar("peer", most=0.5),),
    ("fetch_busy", 0): (Bar("fetch_idle", most=2),),
    ("fetch_busy_async", 0): (Bar("1", most=1000),),
    ("fetch_busy_p99_nirx", 0): (Bar("1", most=300),),
    **{(app, 0): (Bar("peer", most=1 / 1.1),) for app in APPS},
    ("apps_mean", 0): (Bar("peer", most=1 / 1.5),),
}


def compile_all(build, argo, folder):
    """dsm.NAME for each implementation there is, the limits, and MPI's collectives."""
    here = ROOT / "bench/peers"
    compiler = os.environ.get("CXX", "c++")
    library = build / "lib"
    if not (library / "libfairlead_dsm.so").exists():
        sys.exit(f"dsm: no lib/libfairlead_dsm.so in {build}: build it, or say where it is by "
                 "--build")
    subprocess.run([compiler, "-O2", "-std=c++17", f"-I{ROOT}", str(here / "dsm.cc"), "-o",
                    str(folder / f"dsm.{OURS}"), f"-L{library}", "-lfairlead_dsm",
                    f"-Wl,-rpath,{library}"], check=True)
    subprocess.run([compiler, "-O2", "-std=c++20", f"-I{ROOT}", str(here / "fault_limits.cc"), "-o",
                    str(folder / "fault_limits")], check=True)
    subprocess.run([str(build / "bin/fairlead-mpicc"), "-O2", "-std=c11", "-D_GNU_SOURCE",
                    f"-I{ROOT}", str(here / "collectives.c"), "-o", str(folder / "collectives")],
                   check=True)
    if argo is None:
        note("ArgoDSM is left out: --argodsm says where it is installed")
        return [OURS]
    subprocess.run(["mpicxx.openmpi", "-O2", "-std=c++17", "-DPEER_ARGO", "-DOMPI_SKIP_MPICXX=1",
                    "-pthread", f"-I{argo}/include", f"-I{argo}/include/argo", str(here / "dsm.cc"),
                    "-o", str(folder / f"dsm.{ARGO}"), f"-L{argo}/lib", "-largo",
                    "-largobackend-mpi", f"-Wl,-rpath,{argo}/lib"], check=True)
    return [OURS, ARGO]


def run_job(name, job, folder, build):
    program = [str(folder / f"dsm.{name}"), job.part, *job.arguments]
    if name == OURS:
        command = [str(build / "bin/fairlead"), "run", *job.place, "-n", "2", *program]
        answer = output_of(command, {"FAIRLEAD_DSM_HEAP": "512M", **job.ours})
    else:
        command = [shutil.which("mpirun.openmpi"), "--oversubscribe", "--bind-to", "core",
                   "--map-by", "core", "-n", "2", *program]
        answer = output_of(command, job.argo)
    return {} if answer is None else peers.read_figures(answer[0], job.suffix)


def limits(folder, build, jobs):
    values = {}
    if any(job.part in ("fetch", "writes") for job in jobs):
        done = subprocess.run([str(folder / "fault_limits")], capture_output=True, text=True,
                              check=True)
        values.update(peers.read_figures(done.stdout, ""))
    if any(job.part == "barrier" for job in jobs):
        # Twice our own MPI's, and a microsecond.
        answer = output_of([str(build / "bin/fairlead"), "run", "-n", "2",
                            str(folder / "collectives")])
        if answer is not None:
            mpi, unit = peers.read_figures(answer[0], "")["barrier", 0]
            values["barrier_cached", 0] = (2 * mpi + 1, unit)
    return values


def run_apps(build):
    """Seconds of the part that is parallel: with two ranks, with one."""
    taken = {2: {}, 1: {}}
    for app, options in APPS.items():
        for ranks, values in taken.items():
            command = [str(build / "bin/fairlead"), "run", "-n", str(ranks),
                       str(build / "bin" / app), *options, "--json"]
            answer = output_of(command, {"FAIRLEAD_DSM_HEAP": HEAP})
            if answer is not None:
                one = json.loads(answer[0].splitlines()[-1])
                values[app, 0] = (one["seconds"], "s")
    for values in taken.values():
        if len(values) == len(APPS):
            product = 1.0
            for seconds, _ in values.values():
                product *= seconds
            values["apps_mean", 0] = (product ** (1 / len(APPS)), "s")
    return taken[2], taken[1]


def measure(found, jobs, with_apps, rounds, folder, build):
    """samples[name][round][(figure, bytes)] = (value, unit)"""
    samples = {name: [] for name in (OURS, ARGO, ONE_RANK, LIMIT)}
    for number in range(rounds):
        begin = time.monotonic()
        for one_round in samples.values():
            one_round.append({})
        for job in jobs:
            for name in found:
                if name == OURS or job.argo is not None:
                    samples[name][number].update(run_job(name, job, folder, build))
        samples[LIMIT][number].update(limits(folder, build, jobs))
        if with_apps:
            two, one = run_apps(build)
            samples[OURS][number].update(two)
            samples[ONE_RANK][number].update(one)
        note(f"round {number + 1} of {rounds}: {time.monotonic() - begin:.0f} s")
    return samples


def peer_of(key):
    return ONE_RANK if key[0] in APPS or key[0] == "apps_mean" else ARGO


def parse_arguments():
    parser = peers.make_parser(__doc__, 7, PARTS)
    parser.add_argument("--argodsm", type=Path, help="where ArgoDSM is installed")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    peers.take_two_processors()
    wanted = set(arguments.only.split(",")) if arguments.only else set(PARTS)
    if wanted - set(PARTS):
        sys.exit(f"dsm: --only {arguments.only}: there are {', '.join(PARTS)}")
    jobs = [job for job in JOBS if job.name in wanted]
    build = arguments.build.resolve()
    argo = arguments.argodsm.resolve() if arguments.argodsm else None
    with tempfile.TemporaryDirectory(prefix="fairlead-dsm-") as name:
        folder = Path(name)
        found = compile_all(build, argo, folder)
        samples = measure(found, jobs, "apps" in wanted, arguments.rounds, folder, build)
        rows = Comparison(samples, BARS, peer_of).rows()
    return peers.report(rows, arguments.json, print_table)


if __name__ == "__main__":
    sys.exit(main())
