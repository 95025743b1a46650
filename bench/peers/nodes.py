#!/usr/bin/env python3
"""Two nodes of this machine with a network between them (network namespaces, veth): 8 bytes one way
and 1 MiB in windows of 16, ours over udp and MPICH over tcp in turn (and Open MPI, where there are
two rails: it uses both, MPICH the first), and raw UDP between the same namespaces ("gathered": with
80 bytes of header before what each datagram carries). Medians, and medians of the rounds' ratios.
Needs root, iproute2 and the peers.

  bench/peers/nodes.py --rounds 5
  bench/peers/nodes.py --port 10gbit,64kb     ports of a switch that hold so much, and no more
  bench/peers/nodes.py --port 1gbit,64kb --second-port 1gbit,64kb
                                              two rails, each with ports of its own, and ours by
                                              the first alone ("one rail") beside; without
                                              --second-port the nodes have one
  bench/peers/nodes.py --ranks 4              so many ranks a node, 256 KiB from each of one node to
                                              each of the other
"""
import argparse
import os
import re
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path

import peers

NET = "9"
NETWORKS = (f"10.77.{NET}.0/24", f"10.78.{NET}.0/24")
NAMES = ("flbencha", "flbenchb")
PORT_BURST = "64kb"  # of a limited port: so much passes it at once after a pause
ADDRESSES = (f"10.77.{NET}.1", f"10.77.{NET}.2")
# Figure, bytes, and its limits.
FIGURES = (("latency", 8, {"limit": "latency_udp"}),
           ("crossing", 256 << 10, {}),
           ("bandwidth", 1 << 20, {"limit": "bandwidth_udp", "gathered": "bandwidth_udp_gathered"}))
# Stands in for ssh: $1, after options, is a node's address; the rest is a shell command.
REACH = """#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
case $1 in *.1) node=%s;; *) node=%s;; esac
shift
exec ip netns exec $node unshare --uts sh -c "hostname $node; $*"
""" % NAMES


def namespaces(action):
    script = peers.ROOT / "tests/hosts/namespaces"
    subprocess.run([str(script), action, *NAMES], env={**os.environ, "NET": NET}, check=True)


def port_of(text):
    """"10gbit,64kb": (rate as tc has it, queue, rate in MB/s)."""
    found = re.fullmatch(r"([0-9.]+)(mbit|gbit),([0-9]+kb)", text)
    if not found:
        raise argparse.ArgumentTypeError(f"{text}: RATE,QUEUE, like 10gbit,64kb")
    number, unit, queue = found.groups()
    return number + unit, queue, float(number) * {"mbit": 1e6, "gbit": 1e9}[unit] / 8 / 1e6


def limit_ports(rail, rate, queue):
    """Each way to a node by this rail has this rate, and drops what finds its queue full."""
    for number in range(1, len(NAMES) + 1):
        subprocess.run(["tc", "qdisc", "add", "dev", f"fl{NET}r{rail}n{number}", "root", "tbf",
                        "rate", rate, "burst", PORT_BURST, "limit", queue], check=True)


def drop_second_rail():
    for name in NAMES:
        subprocess.run(["ip", "-n", name, "link", "del", "rail1"], check=True)


def commands(build, folder, programs, ranks, networks):
    """{who: [command of each program]}; `networks`: of the rails that there are."""
    mpich = ["ip", "netns", "exec", NAMES[0], "mpiexec.hydra", "-launcher", "ssh",
             "-launcher-exec", str(folder / "reach"), "-localhost", ADDRESSES[0], "-hosts",
             ",".join(f"{address}:{ranks}" for address in ADDRESSES), "-genv", "UCX_TLS",
             "tcp,self", "-genv", "UCX_NET_DEVICES", "rail0", "-n", str(2 * ranks)]
    openmpi = [str(folder / "reach"), ADDRESSES[0], "exec", "mpirun.openmpi", "--host",
               ",".join(f"{address}:{ranks}" for address in ADDRESSES), "-np", str(2 * ranks),
               "--mca", "plm_rsh_agent", str(folder / "reach"), "--mca", "oob_tcp_if_include",
               networks[0], "--mca", "pml", "ob1", "--mca", "btl", "tcp,self", "--mca",
               "btl_tcp_if_include", ",".join(networks)]

    def ours(rails):
        return [str(build / "bin/fairlead"), "run", "--address", ",".join(rails), "--nodes",
                ",".join(f"{name}:{ranks}" for name in NAMES)]
    launchers = {"fairlead": (ours(networks), "fairlead"), "mpich": (mpich, "mpich"),
                 "one rail": (ours(networks[:1]), "fairlead"), "openmpi": (openmpi, "openmpi")}
    table = {side: [[*launcher, str(folder / f"{program}.{made}")] for program in programs]
             for side, (launcher, made) in launchers.items()}
    table["limit"] = [[str(folder / "network_limits"), NAMES[0], ADDRESSES[0], NAMES[1],
                       ADDRESSES[1]]]
    return table


def run(command_list):
    values = {}
    for command in command_list:
        done = subprocess.run(command, env=peers.environment(), stdin=subprocess.DEVNULL,
                              timeout=120, stdout=subprocess.PIPE, text=True, check=True)
        values.update(peers.read_figures(done.stdout, ""))
    return values


def compile_all(build, folder, programs, sides):
    """PROGRAM.SIDE and the limits, in `folder`."""
    compilers = {"fairlead": str(build / "bin/fairlead-mpicc"),
                 "mpich": shutil.which("mpicc.mpich"), "openmpi": shutil.which("mpicc.openmpi")}
    for side in sides:
        for program in programs if side in compilers else ():
            subprocess.run([compilers[side], "-O2", "-D_GNU_SOURCE", "-Wno-stringop-overflow",
                            f"-I{peers.ROOT}", "-o", str(folder / f"{program}.{side}"),
                            str(peers.ROOT / f"bench/peers/{program}.c")], check=True)
    if "limit" in sides:
        subprocess.run(["g++", "-std=c++20", "-O2", f"-I{peers.ROOT}", "-o",
                        str(folder / "network_limits"),
                        str(peers.ROOT / "bench/peers/network_limits.cc"), "-lcrypto"], check=True)


def show(rounds, port_rate):
    """A line per figure; `port_rate`: MB/s of limited ports, all rails together, or None."""
    for figure, size, limits in FIGURES:
        if (figure, size) not in rounds[0]["fairlead"]:
            continue
        sources = {side: (side, figure) for side in ("mpich", "openmpi", "one rail")}
        sources.update({name: ("limit", key) for name, key in limits.items()})
        ours = [one["fairlead"][figure, size] for one in rounds]
        beside = {name: [one[side][key, size] for one in rounds]
                  for name, (side, key) in sources.items() if side in rounds[0]}
        if port_rate and figure != "latency":
            beside["ports"] = [(port_rate, "MB/s")] * len(rounds)
        print(f"{figure} {size}:  fairlead {statistics.median(v for v, _ in ours):.4g}"
              f" {ours[0][1]}", end="")
        for name, values in beside.items():
            ratio = statistics.median(our / value for (our, _), (value, _) in zip(ours, values))
            print(f"  {name} {statistics.median(v for v, _ in values):.4g} (ours {ratio:.2f} x)",
                  end="")
        print()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=peers.ROOT / "build/release")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--port", type=port_of, metavar="RATE,QUEUE",
                        help="limit the ports between the nodes (raw UDP, which waits for what is"
                        " lost, is left out)")
    parser.add_argument("--second-port", type=port_of, metavar="RATE,QUEUE",
                        help="and of a second rail; with --port")
    parser.add_argument("--ranks", type=int, default=0, metavar="N",
                        help="only the program for N ranks a node, and only ours: MPICH over tcp"
                        " alone does not end where there are more ranks than processors")
    arguments = parser.parse_args()
    programs = ("crossing",) if arguments.ranks else ("pingpong", "bandwidth")
    sides = ["fairlead"]
    if not arguments.ranks:
        sides.append("mpich")
        if not arguments.port:
            sides.append("limit")
        if arguments.second_port:
            sides += ["one rail", "openmpi"]
    build = arguments.build.resolve()
    with tempfile.TemporaryDirectory(prefix="fairlead-nodes-") as name:
        folder = Path(name)
        (folder / "reach").write_text(REACH)
        (folder / "reach").chmod(0o755)
        compile_all(build, folder, programs, sides)
        namespaces("up")
        try:
            if arguments.port:
                limit_ports(0, *arguments.port[:2])
                if arguments.second_port:
                    limit_ports(1, *arguments.second_port[:2])
                else:
                    drop_second_rail()
            networks = NETWORKS if arguments.second_port else NETWORKS[:1]
            table = commands(build, folder, programs, arguments.ranks or 1, networks)
            rounds = [{side: run(table[side]) for side in sides} for _ in range(arguments.rounds)]
        finally:
            namespaces("down")
    ports = [port[2] for port in (arguments.port, arguments.second_port) if port]
    show(rounds, sum(ports))


if __name__ == "__main__":
    main()
