"""What is measured and what counts as reached: jobs, figures and bars of peers.py."""
from dataclasses import dataclass


@dataclass(frozen=True)
class Job:
    """One program on so many ranks; the names of its figures get `suffix`."""
    program: str
    ranks: int
    suffix: str = ""
    timed_as: str = ""  # the driver times the whole job and calls the figure this
    network: bool = False  # over the loopback interface: ours by `place`, the peers by TCP
    place: str = "udp"
    options: tuple = ()  # of `fairlead run`; the peers have nothing like it and are left out
    arguments: tuple = ()  # of the program
    threads: int = 1  # of each rank that are at work at a time

    @property
    def oversubscribed(self):
        return self.ranks * self.threads > 2


# Not an MPI program: bench/port_shm, the Port itself beside the machine's limits.
PORT = "port"

JOBS = [
    Job(PORT, 2),
    Job("pingpong", 2),
    Job("rate", 2),
    Job("bandwidth", 2),
    Job("collectives", 2),
    Job("collectives", 8, suffix="_8_on_2"),
    Job("pingpong", 2, suffix="_udp", network=True),
    Job("rate", 2, suffix="_udp", network=True),
    Job("bandwidth", 2, suffix="_udp", network=True),
    Job("pingpong", 2, suffix="_udp_lossless", network=True, options=("--faults", "drop=0")),
    Job("pingpong", 2, suffix="_udp_drop0.1%", network=True, options=("--faults", "drop=0.001")),
    Job("pingpong", 2, suffix="_udp_drop1%", network=True, options=("--faults", "drop=0.01")),
    Job("bandwidth", 2, suffix="_udp_lossless", network=True, options=("--faults", "drop=0")),
    Job("bandwidth", 2, suffix="_udp_drop0.1%", network=True, options=("--faults", "drop=0.001")),
    Job("bandwidth", 2, suffix="_udp_drop1%", network=True, options=("--faults", "drop=0.01")),
    Job("bandwidth", 2, suffix="_udp_full", network=True, options=("--auth", "full")),
    Job("bandwidth", 2, suffix="_udp_encrypt", network=True, options=("--auth", "encrypt")),
    Job("pingpong", 2, suffix="_ofi", network=True, place="ofi"),
    Job("rate", 2, suffix="_ofi", network=True, place="ofi"),
    Job("bandwidth", 2, suffix="_ofi", network=True, place="ofi"),
    Job("every_collective", 2),
    Job("every_collective", 8, suffix="_8_on_2"),
    Job("nonblocking", 2),
    Job("one_sided", 2),
    Job("one_sided", 2, suffix="_udp", network=True),
    Job("datatypes", 2),
    Job("threads", 2),
    Job("threads", 2, arguments=("multiple",), threads=2),
    Job("startup", 2, timed_as="startup_2"),
    Job("startup", 32, timed_as="startup_32"),
    Job("memory", 64),
]


def higher_is_better(figure):
    return figure.startswith(("rate", "bandwidth", "overlap"))


# Rows of their own: the geometric mean of the ratios of all figures whose names begin so.
MEANS = {"mean_of_collectives": "coll_"}


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


NONBLOCKING = (("barrier", 0), ("bcast", 8), ("allreduce", 8), ("bcast", 65536),
               ("allreduce", 65536), ("alltoall", 65536))

BARS = {
    ("port_latency", 8): Bar("limit", most=1.3),
    ("rate_port", 8): Bar("1", least=60e6),
    ("bandwidth_put", 4 << 20): Bar("limit", least=0.95),
    ("bandwidth_get", 4 << 20): Bar("limit", least=0.95),
    ("latency", 8): Bar("peer", most=0.6),
    ("latency", 64): Bar("peer", most=0.5),
    ("latency", 512): Bar("peer", most=0.6),
    ("latency", 4096): Bar("peer", most=0.8),
    ("latency", 65536): Bar("peer", most=0.9),
    ("latency", 1048576): Bar("peer", most=1.0),
    ("rate", 8): Bar("peer", least=3.0),
    ("bandwidth", 65536): Bar("peer", least=1.0),
    ("bandwidth", 262144): Bar("peer", least=1.0),
    ("bandwidth", 1048576): Bar("peer", least=1.0),
    ("barrier", 0): Bar("peer", most=0.6),
    ("allreduce", 8): Bar("peer", most=0.6),
    ("bcast", 8): Bar("peer", most=0.75),
    ("allreduce", 1048576): Bar("peer", most=0.6),
    ("barrier_8_on_2", 0): Bar("limit", most=1.5),
    ("barrier_8_on_2_p999", 0): Bar("1", most=100.0),
    ("allreduce_8_on_2", 8): Bar("barrier_8_on_2", most=1.5),
    ("latency_udp", 8): Bar("limit", most=1.25),
    ("rate_udp", 8): Bar("1", least=3e6),
    ("bandwidth_udp", 1048576): Bar("limit", least=0.75),
    ("bandwidth_udp_full", 1048576): Bar("limit", least=0.8),
    ("bandwidth_udp_encrypt", 1048576): Bar("limit", least=0.8),
    ("latency_udp_drop0.1%", 8): Bar("latency_udp_lossless", most=2),
    ("latency_udp_drop1%", 8): Bar("latency_udp_lossless", most=5),
    ("bandwidth_udp_drop0.1%", 1048576): Bar("bandwidth_udp_lossless", least=0.8),
    ("bandwidth_udp_drop1%", 1048576): Bar("bandwidth_udp_lossless", least=0.5),
    ("mean_of_collectives", 0): Bar("peer", most=0.7),
    ("mean_of_collectives_8_on_2", 0): Bar("peer", most=0.7),
    **{("i" + name, size): Bar("peer", most=1.0) for name, size in NONBLOCKING},
    **{("overlap_i" + name, size): Bar("peer", least=0.95) for name, size in NONBLOCKING},
    ("persistent", 8): Bar("persistent_blocking", most=1.1),
    **{(name, 8): Bar("peer", most=1.0) for name in
       ("win_put", "win_get", "win_put_created", "win_get_created", "win_accumulate")},
    ("win_fetch_and_op", 8): Bar("peer", most=0.5),
    ("win_fetch_and_op_busy", 8): Bar("1", most=200.0),
    ("win_fetch_and_op_busy_udp", 8): Bar("1", most=200.0),
    **{(name, 1 << 18): Bar(name + "_by_hand", most=1.3) for name in
       ("pack_vector", "pack_subarray", "pack_indexed")},
    ("latency_vector", 65536): Bar("peer", most=0.8),
    ("latency_vector", 1048576): Bar("peer", most=0.8),
    ("latency_multiple", 8): Bar("latency_single", most=1.1),
    ("latency_two_threads", 8): Bar("peer", most=0.6),
    ("startup_2", 0): Bar("peer", most=0.3),
    ("startup_32", 0): Bar("peer", most=0.15),
    # MiB a rank over the null program.
    ("memory_per_rank", 0): Bar("1", most=3.0),
}
