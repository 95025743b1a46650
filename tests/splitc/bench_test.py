"""apps/splitcbench: what the implementations of Split-C cost beside each other, on a modelled
machine, whose times do not depend on this one."""
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "command"))
from command import BIN, fairlead, json_lines  # noqa: E402


def times(name, *arguments, on=("myrinet-p3",), rounds=10000, ranks=2):
    """Microseconds of each operation and size."""
    answer = fairlead("run", "-n", str(ranks), "--on", *on, "--splitc", name,
                      str(BIN / "splitcbench"), "--json", "--rounds", str(rounds), *arguments)
    if answer.returncode != 0:
        raise AssertionError(answer.stdout + answer.stderr)
    return {(row["op"], row["bytes"]): row["us"] for row in json_lines(answer.stdout)}


class Bench(unittest.TestCase):
    def near(self, value, ours, what):
        # Values of ours are the model's, which is exact: a change of it shows here.
        self.assertAlmostEqual(value, ours, delta=0.08 * ours, msg=what)

    def test_stores_beside_gets(self):
        # The Split-C paper, section 6.2: stores are twice as fast as gets over VIA, where they have
        # no replies, and as fast where they have.
        for name, one_way, two_way in (("amvia", 1.0, 1.0), ("via", 0.65, 0.53),
                                       ("via-unreliable", 0.65, 0.505)):
            for ways, ours in ((), one_way), (("--two-way",), two_way):
                us = times(name, *ways)
                self.near(us["store", 4] / us["get", 4], ours, f"{name} {ways}")
                self.near(us["put", 4] / us["get", 4], 1.0, f"{name} {ways}")

    def test_both_ways_beside_one_way(self):
        # In that section gets, puts and stores take twice as long, reads and writes as long.
        for name, store in (("amvia", 2.0), ("via", 1.64), ("via-unreliable", 1.55)):
            one_way = times(name)
            two_way = times(name, "--two-way")
            for op, ours in (("get", 2.0), ("put", 2.0), ("store", store), ("read", 1.17),
                             ("write", 1.17)):
                self.near(two_way[op, 4] / one_way[op, 4], ours, f"{name} {op}")

    def test_reads_where_all_nodes_are_connected(self):
        for name, ours in (("amvia", 1.39), ("via", 1.18)):
            arguments = {"on": ("millennium", "--lci", "via"), "rounds": 300, "ranks": 16}
            one_way = times(name, "--op", "read", **arguments)["read", 4]
            two_way = times(name, "--op", "read", "--two-way", **arguments)["read", 4]
            # Ours; in section 6.2 they take as long both ways.
            self.near(two_way / one_way, ours, name)

    def test_bulk(self):
        for name in ("amvia", "via", "via-unreliable"):
            one_way = times(name, "--bulk", "--op", "get", rounds=1000)
            two_way = times(name, "--bulk", "--op", "get", "--two-way", rounds=1000)
            # Expect: what both ways cost more is less for large messages (figure 6-4).
            self.assertLess(two_way["bulk_get", 4096] / one_way["bulk_get", 4096],
                            two_way["bulk_get", 4] / one_way["bulk_get", 4])

    def test_beyond_the_paper(self):
        plain = times("direct", "--op", "store")["store", 4]
        together = times("direct+aggregate", "--op", "store")["store", 4]
        # Expect: some hundred stores are one message.
        self.assertLess(together, 0.05 * plain)
        for op in ("get", "put", "store"):
            us = {name: times(name, "--bulk", "--op", op, on=("millennium", "--lci", "via"),
                              rounds=100)[f"bulk_{op}", 4096]
                  for name in ("via", "via+gather", "via+rdma")}
            # Expect: gathering a block takes the interface one more read by DMA a packet, and the
            # interface is what is waited for; RDMA spares the target's part of a get and the reply
            # of a put; a store by RDMA has one message more.
            self.near(us["via+gather"] / us["via"], {"get": 1.10, "put": 1.14, "store": 1.25}[op],
                      op)
            self.near(us["via+rdma"] / us["via"], {"get": 0.505, "put": 0.495, "store": 1.175}[op],
                      op)

    def test_rdma_in_either_body(self):
        fiber, process = (times("via+rdma", "--bulk", "--op", "get", rounds=20,
                                on=("millennium", "--lci", "via", "--body", body))
                          for body in ("fiber", "process"))
        # Expect: to the last digit, though interfaces reach the memory of processes.
        self.assertEqual(fiber, process)

    def test_two_processors_of_a_node(self):
        node = ("millennium", "--lci", "via", "--ranks-per-node", "2")
        for ways in (), ("--two-way",):
            us = times("amvia-shm", *ways, on=node, rounds=1000)
            # Expect: less than 400 ns each, as in section 6.2, and a store, which touches two lines
            # of memory, more than the others.
            self.assertLess(max(us.values()), 0.4)
            self.assertGreater(us["store", 4], 1.2 * us["put", 4])
            self.assertGreater(min(us.values()), 0.1)

    def test_real(self):
        for on in ("shm", "udp"):
            for name in ("direct", "amvia", "amvia-shm", "via", "via-unreliable"):
                us = times(name, on=(on,), rounds=100)
                self.assertEqual({op for op, _ in us}, {"read", "write", "get", "put", "store"})
                self.assertTrue(all(each > 0 for each in us.values()), f"{on} {name}")

    def test_wrong_use(self):
        answer = fairlead("run", "-n", "1", str(BIN / "splitcbench"))
        self.assertEqual(answer.returncode, 2)
        self.assertIn("needs 2 ranks", answer.stderr)
        answer = fairlead("run", "-n", "2", str(BIN / "splitcbench"), "--op", "swap")
        self.assertIn('cannot use "--op"', answer.stderr)

    def test_wrong_use_of_the_command(self):
        # Expect: what is wrong in the place is found by the job that it starts, and answered as
        # what the command finds itself.
        for bench in (("splitc",), ("pingpong", "--api", "via")):
            for on in ("millennium", "shm"):
                answer = fairlead("bench", *bench, "--on", on, "--lci", "bogus")
                self.assertEqual(answer.returncode, 2, answer.stderr)
                self.assertIn("bogus", answer.stderr)


if __name__ == "__main__":
    unittest.main()
