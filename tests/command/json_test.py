"""Keys of JSON output are stable, its numbers sane, and a modelled run repeats itself."""
import json
import tempfile
import unittest
from pathlib import Path

from command import BIN, fairlead, json_lines

MODELLED = ["--on", "myrinet-p3", "--lci", "pio", "-n", "8"]
SOR = [str(BIN / "sor"), "--rows", "64", "--columns", "64", "--iterations", "4"]


class Json(unittest.TestCase):
    def lines(self, *arguments):
        answer = fairlead(*arguments)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        return json_lines(answer.stdout)

    def bench(self, name, *arguments):
        return self.lines("bench", name, "--json", *arguments)

    def test_logp(self):
        for where in (MODELLED, ["--on", "shm", "--repetitions", "200"]):
            (line,) = self.bench("logp", *where)
            # Expect: the keys in this order, and parts that make up the whole.
            self.assertEqual(list(line)[:9], ["bench", "on", "lci", "os_us", "or_us", "l_us",
                                              "g_us", "end_to_end_us", "fetch_add_us"])
            self.assertEqual(line["on"], where[1])
            parts = line["os_us"] + line["l_us"] + line["or_us"]
            self.assertAlmostEqual(parts, line["end_to_end_us"], places=6)
            self.assertGreater(line["g_us"], 0)
            self.assertGreater(line["fetch_add_us"], 0)

    def test_logp_agrees_with_the_models_accounts(self):
        for lci in ("sdma", "pio"):
            logp, *accounts = self.bench("logp", "--accounts", "--on", "myrinet-ppro", "--lci", lci,
                                         "-n", "8")
            by_key = {line["account"]: line for line in accounts}
            for host in ("host_rank0", "host_partner"):
                # Expect: the overheads are the host's busy time, to a nanosecond.
                self.assertLess(abs(by_key[host]["difference_us"]), 0.001, host)
                self.assertAlmostEqual(by_key[host]["measured_us"], logp["os_us"] + logp["or_us"])
            busiest = max(by_key[ni]["accounted_us"] for ni in ("ni_sender", "ni_receiver"))
            # Expect: the gap is the busier interface's time per message.
            self.assertLess(abs(busiest / logp["g_us"] - 1), 0.01)
        refused = fairlead("bench", "logp", "--accounts")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("modelled", refused.stderr)

    def test_latency(self):
        for where in (MODELLED, ["--repetitions", "200"]):
            lines = self.bench("latency", "--sizes", "8,2K,16K", *where)
            # Expect: one line a size, in order; larger ones slower where no other job disturbs.
            self.assertEqual([line["bytes"] for line in lines], [8, 2048, 16384])
            times = [line["one_way_us"] for line in lines]
            self.assertGreater(min(times), 0)
            for line in lines:
                # Expect: of real times, how they lie apart.
                self.assertEqual("one_way_us_p99" in line, where is not MODELLED)
                if where is not MODELLED:
                    self.assertLessEqual(line["one_way_us_min"], line["one_way_us_median"])
                    self.assertLessEqual(line["one_way_us_median"], line["one_way_us_p99"])
            if where is MODELLED:
                self.assertEqual(times, sorted(times))

    def test_benches_of_programming_systems(self):
        model = ["--on", "millennium", "--lci", "via"]
        for api in ("via", "am"):
            (logp,) = self.bench("logp", "--api", api, *model)
            self.assertEqual(list(logp)[:9], ["bench", "on", "lci", "api", "os_us", "or_us", "l_us",
                                              "g_us", "one_way_us"])
            # Expect: parts that make up the whole, to what is printed of them.
            parts = logp["os_us"] + logp["l_us"] + logp["or_us"]
            self.assertAlmostEqual(parts, logp["one_way_us"], places=3)
            lines = self.bench("pingpong", "--api", api, "--sizes", "4,1000", *model)
            self.assertEqual([line["bytes"] for line in lines], [4, 1000])
            self.assertLess(lines[0]["one_way_us"], lines[1]["one_way_us"])
            lines = self.bench("stream", "--api", api, "--sizes", "64,4016", *model)
            self.assertLess(10 * lines[0]["MBps"], lines[1]["MBps"])
            for on in ("shm", "udp"):
                (line,) = self.bench("latency", "--api", api, "--on", on, "--sizes", "16",
                                     "--repetitions", "50")
                self.assertGreater(line["one_way_us"], 0)
        # Expect: Active Messages over virtual interfaces are slower than these.
        (over,) = self.bench("pingpong", "--api", "am", "--am", "amvia", "--sizes", "4", *model)
        (below,) = self.bench("pingpong", "--api", "via", "--sizes", "4", *model)
        self.assertGreater(over["one_way_us"], below["one_way_us"])
        for wrong, why in ((["--api", "am", "--copy"], "--copy is of --api lci"),
                           (["--api", "via", "--am", "amvia"], "--am is of --api am"),
                           (["--api", "am", "--sizes", "4017"], "1 to 4016 bytes")):
            refused = fairlead("bench", "latency", *wrong)
            self.assertEqual(refused.returncode, 2)
            self.assertIn(why, refused.stderr)

    def test_splitc(self):
        lines = self.bench("splitc", "--on", "millennium", "--lci", "via", "--splitc", "via",
                           "--repetitions", "300")
        self.assertEqual([line["op"] for line in lines], ["read", "write", "get", "put", "store"])
        for line in lines:
            self.assertAlmostEqual(line["ratio"], line["two_way_us"] / line["one_way_us"], places=4)
        lines = self.bench("splitc", "--bulk", "--op", "put", "--ways", "one", "--repetitions",
                           "20")
        # Expect: 4 bytes to 4 KiB, and one way alone.
        self.assertEqual([line["bytes"] for line in lines], [4 << i for i in range(11)])
        self.assertTrue(all("two_way_us" not in line for line in lines))
        refused = fairlead("bench", "splitc", "--splitc", "nothing")
        self.assertEqual(refused.returncode, 2)

    def test_what_is_counted_adds_up(self):
        insides = []
        for body in ("fiber", "process"):
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "stats.json"
                traced = fairlead("run", "-n", "4", "--on", "myrinet-p3", "--lci", "nirx",
                                  "--body", body, f"--stats={path}", *SOR)
                self.assertEqual(traced.returncode, 0, traced.stderr)
                stats = json.loads(path.read_text())
            insides.append(stats["inside"])
        fiber, process = insides
        # Expect: the machine does not know what a rank's program runs in.
        for inside in insides:
            # A process looks at its gate a little earlier than a fiber at the queue behind it.
            inside["queues"].pop("receive queue")
        for key in ("handlers", "queues", "message_us", "busiest_link"):
            self.assertEqual(fiber[key], process[key], key)
        for part, percent in fiber["host_percent"].items():
            self.assertAlmostEqual(percent, process["host_percent"][part], places=6, msg=part)
        # Expect: shares of a whole.
        self.assertLess(sum(fiber["host_percent"].values()), 100.1)
        self.assertGreater(sum(fiber["host_percent"].values()), 90)
        self.assertAlmostEqual(sum(h["percent"] for h in fiber["handlers"].values()), 100)
        for name, queue in fiber["queues"].items():
            self.assertLessEqual(queue["mean"], queue["most"], name)
            self.assertLessEqual(queue["p99"], queue["most"], name)
            self.assertLessEqual(queue.get("full_percent", 0), queue["in_use_percent"], name)
        messages = fiber["message_us"]
        self.assertEqual(messages["count"], stats["counters"]["packets_received"])
        self.assertLessEqual(messages["mean"], messages["most"])
        self.assertLessEqual(messages["p99"], messages["most"])

    def test_interfaces_without_a_control_program_are_counted_too(self):
        for place, each in (("infiniband-pcie", "1"), ("firelink", "2"), ("qsnet-es40", "1")):
            insides = []
            for body in ("fiber", "process"):
                with tempfile.TemporaryDirectory() as folder:
                    path = Path(folder) / "stats.json"
                    run = fairlead("run", "-n", "4", "--on", place, "--ranks-per-node", each,
                                   "--body", body, f"--stats={path}", *SOR)
                    self.assertEqual(run.returncode, 0, run.stderr)
                    stats = json.loads(path.read_text())
                insides.append(stats["inside"])
            fiber, process = insides
            # Expect: the machine does not know what a rank's program runs in.
            for key in ("message_us", "busiest_link"):
                self.assertEqual(fiber[key], process[key], (place, key))
            for part, percent in fiber["host_percent"].items():
                self.assertAlmostEqual(percent, process["host_percent"][part], 6, (place, part))
            # Expect: shares of a whole, in which the hosts send, receive, look and wait.
            self.assertLess(sum(fiber["host_percent"].values()), 100.1, place)
            self.assertGreater(sum(fiber["host_percent"].values()), 90, place)
            for part in ("send", "receive", "poll", "wait"):
                self.assertGreater(fiber["host_percent"][part], 0, (place, part))
            # Expect: only what such a machine has; no handler of a control program.
            self.assertEqual(set(fiber["queues"]), {"receive queue", "I/O bus busy, %"}, place)
            self.assertGreater(fiber["queues"]["I/O bus busy, %"]["mean"], 0, place)
            self.assertLessEqual(fiber["queues"]["I/O bus busy, %"]["most"], 100, place)
            self.assertEqual(fiber["handlers"], {}, place)
            # Expect: each message once, in a time that a network can have.
            messages = fiber["message_us"]
            counters = stats["counters"]
            self.assertGreater(messages["count"], 0, place)
            self.assertLessEqual(messages["count"],
                                 counters["packets_sent"] - counters["parts_sent"], place)
            self.assertGreater(messages["p99"], 1, place)
            self.assertLess(messages["most"], stats["virtual_time_us"], place)
            self.assertGreater(fiber["busiest_link"]["percent"], 0, place)

    def test_rate(self):
        (line,) = self.bench("rate", *MODELLED)
        # Expect: 8 bytes unless said otherwise, thousands of messages a second at least.
        self.assertEqual(line["bytes"], 8)
        self.assertGreater(line["rate_per_s"], 1000)

    def test_throughput(self):
        for copy in (False, True):
            arguments = ["--sizes", "2K,64K", *MODELLED, *(["--copy"] if copy else [])]
            lines = self.bench("throughput", *arguments)
            # Expect: both units of one rate, and whether the receiver copied.
            self.assertEqual([line["receiver_copy"] for line in lines], [copy, copy])
            for line in lines:
                self.assertAlmostEqual(line["MBps"] * 1e6 / line["MiBps"] / 2**20, 1.0, places=6)

    def test_overhead(self):
        for lci in ("sdma", "pio"):
            lines = self.bench("overhead", "--sizes", "0,16,1K,2K", "--on", "myrinet-ppro", "--lci",
                               lci, "-n", "8")
            # Expect: one line a size, larger ones no cheaper.
            self.assertEqual([line["bytes"] for line in lines], [0, 16, 1024, 2048])
            times = [line["os_us"] for line in lines]
            self.assertEqual(times, sorted(times))
            (logp,) = self.bench("logp", "--on", "myrinet-ppro", "--lci", lci, "-n", "8")
            # Expect: LogP's o_s at LogP's size.
            self.assertAlmostEqual(times[1], logp["os_us"], places=6)

    def test_multicast(self):
        for where in (MODELLED, ["-n", "4", "--repetitions", "50"]):
            lines = self.bench("multicast", "--sizes", "16,4K,20K", *where)
            self.assertEqual([line["bytes"] for line in lines], [16, 4096, 20480])
            for line in lines:
                # Expect: every node, the tree, figures.
                self.assertEqual(line["nodes"], int(where[where.index("-n") + 1]))
                self.assertIn(line["tree"], ("binary", "binomial"))
                self.assertGreater(line["latency_us"], 0)
                self.assertGreater(line["throughput_MBps"], 0)
        (line,) = self.bench("multicast", "--sizes", "16", "--tree", "binomial", *MODELLED)
        # Expect: the implementation with that tree.
        self.assertEqual((line["tree"], line["lci"]), ("binomial", "pio-binomial"))
        (near,), (far,) = (self.bench("multicast", "--sizes", "16", "--on", "myrinet-p3", "--lci",
                                      "pio", "-n", ranks) for ranks in ("4", "32"))
        # Expect: a deeper tree takes longer.
        self.assertGreater(far["latency_us"], near["latency_us"])

    def test_alltoall(self):
        for where in (MODELLED, ["-n", "4", "--repetitions", "50"]):
            lines = self.bench("alltoall", "--sizes", "16,2K", *where)
            ranks = int(where[where.index("-n") + 1])
            for line, size in zip(lines, (16, 2048), strict=True):
                # Expect: the rate is what the time says.
                self.assertEqual((line["bytes"], line["ranks"]), (size, ranks))
                self.assertAlmostEqual(line["MBps_per_rank"] * line["us"], size * (ranks - 1),
                                       places=3)

    def test_fetchadd(self):
        (logp,) = self.bench("logp", *MODELLED)
        lines = self.bench("fetchadd", *MODELLED)
        # Expect: 1, 2, 4 and all other ranks as clients; alone LogP's latency, together no less.
        self.assertEqual([line["clients"] for line in lines], [1, 2, 4, 7])
        self.assertLess(abs(lines[0]["latency_us"] / logp["fetch_add_us"] - 1), 0.02)
        self.assertGreaterEqual(lines[-1]["latency_us"], lines[0]["latency_us"])

    def test_packets(self):
        *_, last = self.bench("throughput", "--packets", "--sizes", "2K", *MODELLED)
        packets = last["packets"]
        # Expect: 201 messages of one packet each, acknowledged, nothing lost on a good network.
        self.assertGreaterEqual(packets["data"], 201)
        self.assertGreater(packets["acks_explicit"], 0)
        self.assertEqual(packets["retransmissions"], 0)
        self.assertEqual(set(packets["drops"].values()), {0})

    def test_put(self):
        for where in (MODELLED, ["--repetitions", "200"]):
            lines = self.bench("latency", "--put", "--sizes", "8,2K,16K", *where)
            # Expect: said so, and figures.
            self.assertTrue(all(line["put"] and line["one_way_us"] > 0 for line in lines))

    def test_barrier(self):
        for where in (MODELLED, ["-n", "4", "--repetitions", "200"]):
            (line,) = self.bench("barrier", *where)
            # Expect: the number of ranks, and a tail no shorter than the median.
            self.assertEqual(line["ranks"], int(where[where.index("-n") + 1]))
            self.assertGreater(line["us"], 0)
            self.assertGreater(line["p999_us"], 0)

    def stats(self, *where):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "stats.json"
            answer = fairlead("run", f"--stats={path}", *where, *SOR)
            self.assertEqual(answer.returncode, 0, answer.stderr)
            return json.loads(path.read_text())

    def test_run_stats(self):
        real = self.stats("-n", "3")
        # Expect: counters per rank that add up, nothing of the model.
        self.assertEqual(len(real["per_rank"]), 3)
        self.assertGreater(real["counters"]["packets_sent"], 0)
        for name, total in real["counters"].items():
            self.assertEqual(total, sum(rank[name] for rank in real["per_rank"]), name)
        self.assertNotIn("digest", real)

    def test_modelled_run_repeats(self):
        first, second = self.stats(*MODELLED), self.stats(*MODELLED)
        # Expect: the model's facts, the same both times.
        self.assertRegex(first["digest"], "^[0-9a-f]{16}$")
        for key in ("virtual_time_us", "events", "digest", "counters"):
            self.assertEqual(first[key], second[key])
        self.assertGreater(first["virtual_time_us"], 0)
        self.assertGreater(first["events"], 0)

    def test_compare(self):
        answer = fairlead("compare", "--json", "-n", "4", "--on", "myrinet-p3,myrinet-ppro",
                          "--lci", "sdma,pio", *SOR)
        lines = json_lines(answer.stdout)
        # Expect: every combination, the best with ratio 1, a reason for each.
        self.assertEqual(len(lines), 4, answer.stderr)
        self.assertEqual(min(line["ratio"] for line in lines), 1.0)
        for line in lines:
            self.assertTrue(line["why"])
            self.assertGreater(line["packets"], 0)

    def test_lists(self):
        names = [line["name"] for line in self.lines("platforms", "--json")]
        # Expect: both worlds.
        self.assertLessEqual({"shm", "loop", "myrinet-p3", "myrinet-ppro"}, set(names))
        matrix = self.lines("platforms", "--lci", "--json")
        by_name = {line["lci"]: line for line in matrix if line["supported"]}
        # Expect: the buffers of NI memory bound what reserves them, and nothing else.
        self.assertEqual(by_name["sdma"]["most_nodes"], {"1024": 513, "2048": 257, "4096": 129})
        self.assertEqual(set(by_name["pio-nirx-hmc"]["most_nodes"].values()), {None})
        # Expect: every combination of the axes, and a reason where there is none.
        axes = [tuple(line[axis] for axis in ("transfer", "reliability", "multicast"))
                for line in matrix]
        self.assertEqual(len(axes), len(set(axes)))
        self.assertIn(("pio", "hrx", "NI"), axes)
        self.assertTrue(all(line["why_not"] for line in matrix if not line["supported"]))
        (facts,) = self.lines("info", "--json")
        # Expect: what a bug report needs.
        self.assertLessEqual({"version", "commit", "kernel", "usable_cpus", "probes"}, set(facts))


if __name__ == "__main__":
    unittest.main()
