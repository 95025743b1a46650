#!/usr/bin/env python3
"""Compares Fairlead with the MPIs of the system: the same C sources compiled with each one's mpicc,
run in turn (ours, the peers, the machine's own limit, ours, ...), medians and ratios of one run.

  bench/peers/peers.py                          everything, 5 rounds, a table
  bench/peers/peers.py --json > peers.jsonl     one object a line
  bench/peers/peers.py --only rate,pingpong_udp the jobs named so
  bench/peers/peers.py --before DIR             another build of ours beside: what a change brought
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from figures import BARS, JOBS, MEANS, PORT, higher_is_better  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
JOB_TIMEOUT_S = 180
LIMIT = "limit"
OURS = "fairlead"
BEFORE = "before"  # another build of ours


class Implementation:
    """An MPI: its compiler and how it starts a job."""

    def __init__(self, name, compiler, launcher):
        self.name, self.compiler, self.launcher = name, compiler, launcher
        self.is_ours = name in (OURS, BEFORE)

    def command(self, path, job):
        program = [path, *job.arguments]
        if self.is_ours:
            place = ["--on", job.place] if job.network else []
            return [self.launcher, "run", *place, *job.options, "-n", str(job.ranks), *program]
        if self.name == "openmpi":
            # As its users tune it: told to yield when there are more ranks than processors.
            how = (["--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"] if job.oversubscribed
                   else ["--bind-to", "core", "--map-by", "core"])
            if job.network:
                how += ["--mca", "pml", "ob1", "--mca", "btl", "tcp,self",
                        "--mca", "btl_tcp_if_include", "lo"]
            return [self.launcher, "--oversubscribe", *how, "-n", str(job.ranks), *program]
        how = [] if job.oversubscribed else ["-bind-to", "core"]
        if job.network:
            how += ["-genv", "UCX_TLS", "tcp,self", "-genv", "UCX_NET_DEVICES", "lo"]
        return [self.launcher, *how, "-n", str(job.ranks), *program]


def note(text):
    print(f"peers: {text}", file=sys.stderr, flush=True)


def find_implementations(builds):
    candidates = [
        *(Implementation(name, build / "bin/fairlead-mpicc", build / "bin/fairlead")
          for name, build in builds.items()),
        Implementation("openmpi", shutil.which("mpicc.openmpi"), shutil.which("mpirun.openmpi")),
        Implementation("mpich", shutil.which("mpicc.mpich"), shutil.which("mpirun.mpich")),
    ]
    found = []
    for one in candidates:
        if one.compiler and one.launcher and Path(one.compiler).exists() and Path(
                one.launcher).exists():
            one.compiler, one.launcher = str(one.compiler), str(one.launcher)
            found.append(one)
        elif one.is_ours:
            sys.exit(f"peers: no bin/fairlead in {builds[one.name]}: build it, or say where it is "
                     f"by --{'build' if one.name == OURS else BEFORE}")
        else:
            note(f"{one.name} is left out: no compiler wrapper or launcher found")
    return found


def environment():
    env = dict(os.environ)
    if os.geteuid() == 0:
        env["OMPI_ALLOW_RUN_AS_ROOT"] = env["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
    return env


def compile_all(implementations, folder):
    """PROGRAM.IMPLEMENTATION in `folder`, the null program and the limits; answers the
    implementations that could compile."""
    here = ROOT / "bench/peers"
    c_flags = ["-O2", "-std=c11", "-pthread", "-D_GNU_SOURCE", "-Wno-stringop-overflow",
               f"-I{ROOT}"]
    usable = []
    for one in implementations:
        try:
            for program in sorted({job.program for job in JOBS} - {PORT}):
                subprocess.run([one.compiler, *c_flags, str(here / f"{program}.c"), "-o",
                                str(folder / f"{program}.{one.name}")], check=True)
            usable.append(one)
        except subprocess.CalledProcessError:
            note(f"{one.name} is left out: {one.compiler} does not compile")
    subprocess.run([os.environ.get("CC", "cc"), *c_flags, str(here / "null.c"), "-o",
                    str(folder / "null")], check=True)
    for limits in ("limits", "network_limits"):
        subprocess.run([os.environ.get("CXX", "c++"), "-O2", "-std=c++20", f"-I{ROOT}",
                        str(here / f"{limits}.cc"), "-o", str(folder / limits), "-lcrypto"],
                       check=True)
    return usable


def read_figures(text, suffix):
    """{(figure, bytes): (value, unit)} of a program's output."""
    values = {}
    for line in text.splitlines():
        if line.startswith("{"):
            one = json.loads(line)
            name = one["figure"]
            if suffix:
                name = (name.removesuffix("_p999") + suffix +
                        ("_p999" if name.endswith("_p999") else ""))
            values[name, one["bytes"]] = (one["value"], one["unit"])
    return values


def run_job(one, job, folder):
    """Figures of one run; nothing, and a note, where it failed."""
    command = one.command(str(folder / f"{job.program}.{one.name}"), job)
    begin = time.monotonic()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=JOB_TIMEOUT_S,
                              env=environment(), stdin=subprocess.DEVNULL, check=False)
    except subprocess.TimeoutExpired:
        note(f"{' '.join(command)}: not done after {JOB_TIMEOUT_S} s")
        return {}
    elapsed = time.monotonic() - begin
    if done.returncode != 0:
        note(f"{' '.join(command)}: exit {done.returncode}: {done.stderr.strip()[-400:]}")
        return {}
    if job.timed_as:
        return {(job.timed_as, 0): (elapsed * 1e3, "ms")}
    return read_figures(done.stdout, job.suffix)


def null_memory(folder, count):
    """Sum of PSS in MiB of so many copies of a program that does nothing."""
    copies = [subprocess.Popen([str(folder / "null")], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True) for _ in range(count)]
    try:
        for copy in copies:
            copy.stdin.write("\n")
            copy.stdin.flush()
        total_kib = sum(int(copy.stdout.readline()) for copy in copies)
    finally:
        for copy in copies:
            copy.stdin.close()
            copy.wait()
            copy.stdout.close()
    return total_kib / 1024


def libfabric_limit(size, count):
    """One-way time in us of libfabric's own ping-pong by its tcp provider; None: it is not here."""
    command = ["fi_pingpong", "-p", "tcp", "-e", "rdm", "-I", str(count), "-S", str(size)]
    if not shutil.which(command[0]):
        return None
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(50):  # until it listens
            time.sleep(0.1)
            client = subprocess.run([*command, "127.0.0.1"], capture_output=True, text=True,
                                    timeout=JOB_TIMEOUT_S, check=False)
            if client.returncode == 0:
                return float(client.stdout.split()[-2])  # usec/xfer, Mxfers/sec
    finally:
        server.kill()
        server.wait()
    note(f"{' '.join(command)}: {client.stderr.strip()[-200:]}")
    return None


def run_port(build):
    """What bench/port_shm measures of the Port itself: (its figures, the machine's limits)."""
    done = subprocess.run([str(build / "bin/port_shm"), "--runs", "1"], capture_output=True,
                          text=True, timeout=JOB_TIMEOUT_S, check=True)
    ours, limit = {}, {}
    for line in done.stdout.splitlines():
        one = json.loads(line)
        what, size = one["bench"], one.get("bytes", 0)
        if what == "port-latency":
            ours["port_latency", size] = (one["one_way_us"], "us")
            limit["port_latency", size] = (one["limit_us"], "us")
        elif what == "port-rate":
            ours["rate_port", size] = (one["million_per_s"] * 1e6, "1/s")
        elif what == "port-mapped":
            for way in ("put", "get"):
                ours[f"bandwidth_{way}", size] = (one[f"{way}_gb_per_s"] * 1e3, "MB/s")
                limit[f"bandwidth_{way}", size] = (one["memcpy_gb_per_s"] * 1e3, "MB/s")
    return ours, limit


def run_limits(folder, jobs):
    values = {}
    if any(job.place == "ofi" for job in jobs):
        for size, count in ((8, 20000), (4096, 10000), (65536, 2000), (1 << 20, 300)):
            us = libfabric_limit(size, count)
            if us is not None:
                values["latency_ofi", size] = (us, "us")
    for program, wanted in (("limits", any(not job.network and job.program != PORT
                                           for job in jobs)),
                            ("network_limits", any(job.place == "udp" and job.network
                                                   for job in jobs))):
        if wanted:
            done = subprocess.run([str(folder / program)], capture_output=True, text=True,
                                  check=True)
            values.update(read_figures(done.stdout, ""))
    if any(job.program == "memory" for job in jobs):
        values["memory", 0] = (null_memory(folder, 64), "MiB")
    return values


def add_memory_per_rank(samples):
    """MiB a rank over the null program, from the sums of 64 ranks."""
    for name, rounds in samples.items():
        for number, values in enumerate(rounds):
            null = samples[LIMIT][number].get(("memory", 0))
            if name != LIMIT and null and ("memory", 0) in values:
                over = (values["memory", 0][0] - null[0]) / 64
                values["memory_per_rank", 0] = (over, "MiB")


def measure(implementations, jobs, rounds, folder, builds):
    """samples[name][round][(figure, bytes)] = (value, unit)"""
    samples = {name: [] for name in [*(one.name for one in implementations), LIMIT]}
    for number in range(rounds):
        begin = time.monotonic()
        for one_round in samples.values():
            one_round.append({})
        for job in jobs:
            if job.program == PORT:
                for name, build in builds.items():
                    ours, limit = run_port(build)
                    samples[name][number].update(ours)
                    samples[LIMIT][number].update(limit)
                continue
            for one in implementations:
                if one.is_ours or not job.options:
                    samples[one.name][number].update(run_job(one, job, folder))
        samples[LIMIT][number].update(run_limits(folder, jobs))
        note(f"round {number + 1} of {rounds}: {time.monotonic() - begin:.0f} s")
    add_memory_per_rank(samples)
    return samples


def values_of(samples, name, key):
    return [values[key][0] if key in values else None for values in samples.get(name, [])]


def median(values):
    present = [v for v in values if v is not None]
    return statistics.median(present) if present else None


def ratio_of(ours, other):
    """Median of the rounds' ratios: what disturbs a round disturbs both."""
    return median([a / b for a, b in zip(ours, other) if a is not None and b])


def best_peer(samples, key):
    medians = {name: median(values_of(samples, name, key)) for name in samples
               if name not in (OURS, BEFORE, LIMIT)}
    medians = {name: value for name, value in medians.items() if value is not None}
    if not medians:
        return None, None
    choose = max if higher_is_better(key[0]) else min
    name = choose(medians, key=medians.get)
    return name, medians[name]


def bar_ratio(samples, key, bar, ours, peer_name):
    if bar.of == "1":
        return median(ours)
    if bar.of == "peer":
        return ratio_of(ours, values_of(samples, peer_name, key)) if peer_name else None
    if bar.of == LIMIT:
        return ratio_of(ours, values_of(samples, LIMIT, key))
    base = (bar.of, key[1]) if (bar.of, key[1]) in samples[OURS][0] else (bar.of, 0)
    return ratio_of(ours, values_of(samples, OURS, base))


def summarize(samples):
    rows = []
    units = {}
    for rounds in samples.values():
        for values in rounds:
            for key, (_, unit) in values.items():
                units.setdefault(key, unit)
    for key in sorted(units):
        ours = values_of(samples, OURS, key)
        peer_name, peer = best_peer(samples, key)
        row = {"figure": key[0], "bytes": key[1], "unit": units[key], "ours": median(ours),
               "peer": peer, "peer_name": peer_name,
               "limit": median(values_of(samples, LIMIT, key)),
               "ratio": ratio_of(ours, values_of(samples, peer_name, key)) if peer_name else None}
        if BEFORE in samples:
            before = values_of(samples, BEFORE, key)
            row["before"] = median(before)
            row["to_before"] = ratio_of(ours, before)
        bar = BARS.get(key)
        if bar:
            against = bar_ratio(samples, key, bar, ours, peer_name)
            row["bar"] = bar.text()
            row["met"] = None if against is None else bar.met(against)
        rows.append(row)
    for mean, prefix in MEANS.items():
        for suffix in ("", "_8_on_2"):
            ratios = [row["ratio"] for row in rows if row["figure"].startswith(prefix) and
                      row["figure"].endswith("_8_on_2") == bool(suffix) and row["ratio"]]
            if not ratios:
                continue
            bar, ratio = BARS[mean + suffix, 0], statistics.geometric_mean(ratios)
            rows.append({"figure": mean + suffix, "bytes": 0, "unit": "x", "ours": None,
                         "peer": None, "peer_name": None, "limit": None, "ratio": ratio,
                         "bar": bar.text(), "met": bar.met(ratio)})
    return rows


def show(value):
    return "-" if value is None else f"{value:.4g}" if abs(value) < 1e5 else f"{value:.3e}"


def print_table(rows):
    line = "{:<26} {:>8} {:>10} {:>10} {:<8} {:>10} {:>7}  {:<6} {}{}"
    extra = " {:>10} {:>9}" if any("before" in row for row in rows) else ""
    print(line.format("figure", "bytes", "ours", "peer", "", "limit", "ratio", "unit",
                      extra.format("before", "to before"), " bar"))
    for row in rows:
        verdict = {True: "met", False: "MISSED", None: ""}[row.get("met")]
        print(line.format(row["figure"], row["bytes"] or "", show(row["ours"]), show(row["peer"]),
                          row["peer_name"] or "", show(row["limit"]), show(row["ratio"]),
                          row["unit"],
                          extra.format(show(row.get("before")), show(row.get("to_before"))),
                          f" {row.get('bar', '')} {verdict}".rstrip()))


def names_of_jobs():
    return dict.fromkeys(j.timed_as or j.program + j.suffix for j in JOBS)


# --- What every comparison's command has.

def make_parser(purpose, rounds, parts):
    parser = argparse.ArgumentParser(description=purpose,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build/release",
                        help="build folder that holds bin/fairlead (build/release)")
    parser.add_argument("--rounds", type=int, default=rounds,
                        help=f"of all programs in turn ({rounds})")
    parser.add_argument("--only", default="", help="parts to run, comma separated: " +
                        ", ".join(parts).replace("%", "%%"))
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    return parser


def take_two_processors():
    """The figures are of two processors, whatever the machine has."""
    cpus = sorted(os.sched_getaffinity(0))[:2]
    if len(cpus) < 2:
        note("one processor only: figures of two ranks are of time sharing")
    os.sched_setaffinity(0, cpus)


def report(rows, as_json, print_table):
    """Prints them. Returns the exit code: whether a bar was missed."""
    if as_json:
        for row in rows:
            print(json.dumps(row))
    else:
        print_table(rows)
    return 1 if any(row.get("met") is False for row in rows) else 0


def parse_arguments():
    parser = make_parser(__doc__, 5, names_of_jobs())
    parser.add_argument("--before", type=Path,
                        help="build folder of another state of ours, run in turn with this one")
    return parser.parse_args()


def chosen_jobs(only):
    if not only:
        return JOBS
    wanted = set(only.split(","))
    jobs = [j for j in JOBS if wanted & {j.program + j.suffix, j.timed_as}]
    if not jobs:
        sys.exit(f"peers: nothing is called {only}; there are {', '.join(names_of_jobs())}")
    return jobs


def main():
    arguments = parse_arguments()
    take_two_processors()
    jobs = chosen_jobs(arguments.only)
    builds = {OURS: arguments.build.resolve()}
    if arguments.before:
        builds[BEFORE] = arguments.before.resolve()
    implementations = find_implementations(builds)
    with tempfile.TemporaryDirectory(prefix="fairlead-peers-") as name:
        folder = Path(name)
        implementations = compile_all(implementations, folder)
        rows = summarize(measure(implementations, jobs, arguments.rounds, folder, builds))
    return report(rows, arguments.json, print_table)


if __name__ == "__main__":
    sys.exit(main())
