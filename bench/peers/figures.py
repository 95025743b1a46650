"""What is measured and what counts as reached: jobs, figures and bars of peers.py."""
from dataclasses import dataclass


@dataclass(frozen=True)
class Job:
    """One program on so many ranks; the names of its figures get `suffix`."""
    program: str
    ranks: int
    suffix: str = ""
    timed_as: str = ""  # the driver times the whole job and calls the figure this

    @property
    def oversubscribed(self):
        return self.ranks > 2


JOBS = [
    Job("pingpong", 2),
    Job("rate", 2),
    Job("bandwidth", 2),
    Job("collectives", 2),
    Job("collectives", 8, suffix="_8_on_2"),
    Job("startup", 2, timed_as="startup_2"),
    Job("startup", 32, timed_as="startup_32"),
    Job("memory", 64),
]

HIGHER_IS_BETTER = {"rate", "bandwidth", "bandwidth_touched"}


@dataclass(frozen=True)
class Bar:
    """`value` of a figure, as a part of `of` (the best peer, the limit, another of our figures, or
    1), is at most `most` or at least `least`."""
    of: str
    most: float = float("inf")
    least: float = 0.0

    def text(self):
        bound = f"<= {self.most:g}" if self.most != float("inf") else f">= {self.least:g}"
        return bound if self.of == "1" else f"{bound} x {self.of}"

    def met(self, ratio):
        return self.least <= ratio <= self.most


BARS = {
    ("latency", 8): Bar("peer", most=0.75),
    ("rate", 8): Bar("peer", least=1.5),
    ("bandwidth", 65536): Bar("peer", least=1.0),
    ("bandwidth", 262144): Bar("peer", least=1.0),
    ("bandwidth", 1048576): Bar("peer", least=1.0),
    ("barrier", 0): Bar("peer", most=0.75),
    ("barrier_8_on_2", 0): Bar("limit", most=2.0),
    ("barrier_8_on_2_p999", 0): Bar("1", most=150.0),
    ("allreduce_8_on_2", 8): Bar("barrier_8_on_2", most=1.5),
    ("startup_32", 0): Bar("peer", most=1 / 3),
    # MiB a rank over the null program.
    ("memory_per_rank", 0): Bar("1", most=3.0),
}
