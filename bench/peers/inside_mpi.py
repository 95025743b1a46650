"""How long programs run, and are inside of MPI (time_in_mpi.c), with each MPI in turn: what nas.py
and applications.py share."""
import os
import re
import statistics
import subprocess
import sys

import peers
from figures import Job


class Timer:
    """Runs programs with time_in_mpi.c in front of MPI; its files are in `folder`."""

    def __init__(self, folder):
        self.library, self.told = folder / "time_in_mpi.so", folder / "told"
        subprocess.run([os.environ.get("CC", "cc"), "-O2", "-shared", "-fPIC",
                        str(peers.ROOT / "bench/peers/time_in_mpi.c"), "-o", str(self.library)],
                       check=True)

    def command(self, one, program, ranks, arguments=()):
        """(command line, ranks) of a program with an implementation."""
        line = one.command(str(program), Job("timed", ranks, arguments=tuple(arguments)))
        # Only the program is to have the timer, not what starts it.
        at = line.index(str(program))
        line[at:at] = ["env", f"LD_PRELOAD={self.library}", f"TIME_IN_MPI={self.told}"]
        return line, ranks

    def run(self, command, pattern):
        """(run time, which `pattern` finds in the output, seconds inside of MPI of all ranks)"""
        line, ranks = command
        self.told.unlink(missing_ok=True)
        done = subprocess.run(line, capture_output=True, text=True, check=False,
                              timeout=peers.JOB_TIMEOUT_S, env=peers.environment(),
                              stdin=subprocess.DEVNULL)
        seconds = re.search(pattern, done.stdout)
        if done.returncode != 0 or not seconds:
            sys.exit(f"{' '.join(line)}: exit {done.returncode}: {done.stdout[-400:]}"
                     f"{done.stderr[-400:]}")
        inside = [float(text) for text in self.told.read_text().split()]
        if len(inside) != ranks:
            sys.exit(f"{' '.join(line)}: {len(inside)} ranks told their time in MPI")
        return float(seconds.group(1)), sum(inside)


def medians(timer, commands, rounds, pattern):
    """{name: (run time, time in MPI)} of the implementations in turn."""
    samples = {one.name: [] for one in commands}
    for _ in range(rounds):
        for one, command in commands.items():
            samples[one.name].append(timer.run(command, pattern))
    return {name: [statistics.median(values) for values in zip(*runs)]
            for name, runs in samples.items()}


def print_head():
    print(f"{'':6}{'run, s: ours':>14}{'openmpi':>9}{'mpich':>9}{'to better':>11}"
          f"{'in MPI, s: ours':>18}{'openmpi':>9}{'mpich':>9}{'to better':>11}")


def print_row(title, times, most_run, most_inside):
    """Prints a row, with a mark where a ratio to the better peer is over its bar (None: there is no
    bar); answers whether one is."""
    ours = times[peers.OURS]
    ratios = [ours[i] / min(values[i] for name, values in times.items() if name != peers.OURS)
              for i in range(2)]
    missed = False
    row = f"{title:6}"
    for i, wide, most in ((0, 14, most_run), (1, 18, most_inside)):
        over = most is not None and ratios[i] > most
        missed |= over
        row += f"{ours[i]:{wide}.3f}"
        for name in ("openmpi", "mpich"):
            row += f"{times[name][i]:9.3f}" if name in times else f"{'-':>9}"
        row += f"{ratios[i]:9.2f} {'!' if over else ' '}"
    print(row, flush=True)
    return missed
