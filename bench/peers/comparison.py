"""Figures of ours beside one peer's each and beside limits, as rows and as a table: what oshmem.py
and dsm.py share. peers.py, with several peers a figure, has its own."""
import subprocess
import time

import peers
from figures import higher_is_better
from peers import JOB_TIMEOUT_S, LIMIT, OURS, median, note, ratio_of, show, values_of


def output_of(command, variables=None):
    """(its output, how long it took); None, and a note, where it failed before it was complete."""
    begin = time.monotonic()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=JOB_TIMEOUT_S,
                              env={**peers.environment(), **(variables or {})},
                              stdin=subprocess.DEVNULL, check=False)
    except subprocess.TimeoutExpired:
        note(f"{' '.join(command)}: not done after {JOB_TIMEOUT_S} s")
        return None
    if done.returncode != 0 and '"complete"' not in done.stdout:
        note(f"{' '.join(command)}: exit {done.returncode}: {done.stderr.strip()[-400:]}")
        return None
    return done.stdout, time.monotonic() - begin


class Comparison:
    """samples[name][round][(figure, bytes)] = (value, unit). `bars`: of a figure, a tuple;
    `peer_of(key)`: the name of the samples it is compared with."""

    def __init__(self, samples, bars, peer_of):
        self.samples, self.bars, self.peer_of = samples, bars, peer_of

    def ratio_to(self, key, other):
        """Ours as a part of the peer's ("peer"), the limit's or another figure of ours."""
        ours = values_of(self.samples, OURS, key)
        if other == "peer":
            return ratio_of(ours, values_of(self.samples, self.peer_of(key), key))
        if other == LIMIT:
            return ratio_of(ours, values_of(self.samples, LIMIT, key))
        if other == "1":
            return median(ours)
        same = (other, key[1])
        return ratio_of(ours, values_of(self.samples, OURS, same))

    def rows(self):
        units = {}
        for rounds in self.samples.values():
            for values in rounds:
                for key, (_, unit) in values.items():
                    units.setdefault(key, unit)
        return [self.row(key, units[key]) for key in sorted(units)]

    def row(self, key, unit):
        peer = median(values_of(self.samples, self.peer_of(key), key))
        row = {"figure": key[0], "bytes": key[1], "unit": unit,
               "ours": median(values_of(self.samples, OURS, key)), "peer": peer,
               "peer_name": self.peer_of(key) if peer is not None else None,
               "limit": median(values_of(self.samples, LIMIT, key)),
               "better": "more" if higher_is_better(key[0]) else "less",
               "ratio": self.ratio_to(key, "peer")}
        bars = self.bars.get(key, ())
        if bars:
            ratios = [self.ratio_to(key, bar.of) for bar in bars]
            row["bar"] = ", ".join(bar.text() for bar in bars)
            known = all(ratio is not None for ratio in ratios)
            row["met"] = all(bar.met(ratio) for bar, ratio in zip(bars, ratios)) if known else None
            row["against"] = ratios
        return row


def print_table(rows):
    line = "{:<18} {:>8} {:>10} {:>10} {:<8} {:>8} {:>7}  {:<5} {}"
    print(line.format("figure", "bytes", "ours", "peer", "", "limit", "ratio", "unit", "bar"))
    for row in rows:
        verdict = {True: "met", False: "MISSED", None: ""}[row.get("met")]
        against = ", ".join(show(ratio) for ratio in row.get("against", ()))
        bar = f"{row['bar']}: {against} {verdict}".strip() if "bar" in row else ""
        print(line.format(row["figure"], row["bytes"] or "", show(row["ours"]), show(row["peer"]),
                          row["peer_name"] or "", show(row["limit"]), show(row["ratio"]),
                          row["unit"], bar))
