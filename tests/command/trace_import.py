"""Applies to a trace file the rules by which ui.perfetto.dev imports the JSON trace-event format,
and says what it would drop or tie to the wrong slice. As a program: trace_import.py FILE...

The rules (of perfetto's trace processor): times become whole nanoseconds; events are sorted by
time, of one time complete slices (X) first, the longest first, then the rest in the file's order.
Slices of a thread nest on a stack: one that ends behind the one it lies in is dropped. A flow
begins (s), goes on (t) and, with "bp":"e", ends (f) at the innermost slice that is open on its
thread; an end without it waits for the thread's next slice. A step or an end without a begin is
dropped, and so is a point outside of every slice. Points are of one flow when their ids, names and
categories are equal; a name or a category that is not there is equal to one that is not there.
"""
import json
import sys
from collections import defaultdict


class Slice:
    def __init__(self, name, begin, end):
        self.name, self.begin, self.end = name, begin, end


class Flow:
    """Points are (phase, slice) in the order of time."""

    def __init__(self):
        self.points = []
        self.ended = False


class Import:
    def __init__(self, events):
        self.errors = []
        self.flows = {}
        self.slices = 0
        self.counters = defaultdict(list)  # (pid, name): values in the order of time
        self._stacks = defaultdict(list)
        self._pending = defaultdict(list)  # flows that wait for the thread's next slice
        self._open_async = defaultdict(int)
        known = {"X": self._slice, "s": self._flow, "t": self._flow, "f": self._flow,
                 "C": self._counter, "b": self._async, "e": self._async, "i": self._instant}
        timed = [e for e in events if e["ph"] != "M"]
        for event in sorted(timed, key=self._order):
            if event["ph"] not in known:
                self.errors.append(f"no such phase: {event}")
            else:
                known[event["ph"]](event)
        for key, waiting in self._pending.items():
            self.errors += [f"an end waits on {key} for a slice that never comes"] * len(waiting)
        self.errors += [f"async slice {key} has {count} begins too many"
                        for key, count in self._open_async.items() if count != 0]

    @staticmethod
    def _ns(microseconds):
        return int(microseconds * 1000)

    def _order(self, event):
        slices_first = 0 if event["ph"] == "X" else 1
        return self._ns(event["ts"]), slices_first, -self._ns(event.get("dur", 0))

    def _close(self, key, until):
        stack = self._stacks[key]
        while stack and stack[-1].end <= until:
            stack.pop()

    def _slice(self, event):
        key = event["pid"], event["tid"]
        made = Slice(event["name"], self._ns(event["ts"]),
                     self._ns(event["ts"]) + self._ns(event["dur"]))
        self._close(key, made.begin)
        stack = self._stacks[key]
        # The importer's own rounding moves an end by one.
        if stack and made.end > stack[-1].end + 1:
            self.errors.append(
                f"{key}: {made.name} at {made.begin} ns ends behind {stack[-1].name}")
            return
        stack.append(made)
        self.slices += 1
        for flow in self._pending.pop(key, []):
            flow.points.append(("f", made))

    def _innermost(self, event):
        key = event["pid"], event["tid"]
        at = self._ns(event["ts"])
        for one in reversed(self._stacks[key]):
            if one.end + 1 >= at:
                return one
        return None

    def _flow(self, event):
        name = event.get("cat"), event.get("name"), event["id"]
        phase = event["ph"]
        flow = self.flows.get(name)
        if phase == "s":
            if flow is not None:
                self.errors.append(f"two flows are {name}")
                return
            flow = self.flows[name] = Flow()
        elif flow is None or flow.ended:
            self.errors.append(f"{phase} of {name} without a begin: {event}")
            return
        flow.ended = phase == "f"
        if phase == "f" and event.get("bp") != "e":
            self._pending[event["pid"], event["tid"]].append(flow)
            return
        slice_ = self._innermost(event)
        if slice_ is None:
            self.errors.append(f"outside of every slice: {event}")
            return
        flow.points.append((phase, slice_))

    def _counter(self, event):
        values = list(event["args"].values())
        if len(values) != 1 or not isinstance(values[0], (int, float)):
            self.errors.append(f"not a counter: {event}")
            return
        self.counters[event["pid"], event["name"]].append(values[0])

    def _async(self, event):
        self._open_async[event["cat"], event["id"], event["pid"]] += 1 if event["ph"] == "b" else -1

    def _instant(self, event):
        if event.get("s", "t") not in "tpg":
            self.errors.append(f"an instant of no scope: {event}")

    def unfinished(self):
        return [name for name, flow in self.flows.items() if not flow.ended]


def read(path):
    with open(path, encoding="utf-8") as file:
        return Import(json.load(file))


def main():
    failed = False
    for path in sys.argv[1:]:
        found = read(path)
        open_flows = len(found.unfinished())
        print(f"{path}: {found.slices} slices, {len(found.flows)} flows, {open_flows} without an "
              f"end, {len(found.errors)} errors")
        for error in found.errors[:20]:
            print(f"  {error}")
        failed = failed or bool(found.errors)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
