"""The InfiniBand platforms: what an abstract says of two of them, in what they differ, and what
bounds that of today."""
import tomllib
import unittest

from command import BIN, SOURCE, fairlead, json_lines

NAMES = ("infiniband-pcie", "infiniband-pcix")
# Published by Liu, Mamidala, Vishnu and Panda, "Performance evaluation of InfiniBand with PCI
# Express": us and 10^6 bytes a second of one port. What PCI-X carries is what PCI-Express has over
# it.
PUBLISHED = {"infiniband-pcie": {"write_us": 3.8, "write_MBps": 968, "both_MBps": 1916},
             "infiniband-pcix": {"write_us": 5.0, "write_MBps": 968 / 1.24,
                                 "both_MBps": 1916 / 2.02}}


def bench(platform, *options, sizes="4,64K"):
    answer = fairlead("bench", "rdma", "--on", platform, "--sizes", sizes, "--json", *options)
    return json_lines(answer.stdout)


class Infiniband(unittest.TestCase):
    def test_latency_and_bandwidth_are_the_published_ones(self):
        for platform in NAMES:
            small, large = bench(platform)
            for key, published in PUBLISHED[platform].items():
                ours = (small if key.endswith("us") else large)[key]
                # Expect: within 5 %.
                self.assertLess(abs(ours / published - 1), 0.05, f"{platform} {key} {ours}")
            # Expect: a read is a way there and back, and as fast as a write where it is long.
            self.assertGreater(small["read_us"], small["write_us"])
            self.assertLess(abs(large["read_MBps"] / large["write_MBps"] - 1), 0.05)

    def test_todays_is_bound_by_its_link(self):
        small, large = bench("infiniband-ndr")
        link = tomllib.loads((SOURCE / "platforms" / "infiniband-ndr.toml").read_text())[
            "network"]["link_MBps"]["value"]
        for key, most in (("write_MBps", link), ("read_MBps", link), ("both_MBps", 2 * link)):
            self.assertLess(large[key], most)
            self.assertGreater(large[key], 0.9 * most)
        # Expect: less than half of what a write took on PCI-Express of the first generation.
        self.assertLess(small["write_us"], 0.5 * PUBLISHED["infiniband-pcie"]["write_us"])

    def test_runs_repeat(self):
        for platform in NAMES:
            self.assertEqual(bench(platform), bench(platform))

    def test_pages_with_many_changes_go_home_in_messages(self):
        def seconds(*options):
            answer = fairlead("run", "-n", "4", "--on", "infiniband-pcie", *options,
                              str(BIN / "fft3d"), "--n", "16", "--steps", "3", "--json")
            self.assertEqual(answer.returncode, 0, answer.stderr)
            return json_lines(answer.stdout)[0]["seconds"]
        # Expect: NEWGENDSM is no slower than ASYNC where half the bytes of a page change, but with
        # a put for each run of them.
        newgen = seconds("--dsm-protocol", "newgen")
        self.assertLess(newgen, 1.05 * seconds("--dsm-protocol", "async"))
        self.assertGreater(seconds("--dsm-protocol", "newgen", "--dsm-faithful"), 1.5 * newgen)

    def test_a_page_and_its_version_are_read_at_once(self):
        for platform in NAMES:
            word, page = (size["read_us"] for size in bench(platform, sizes="4,4096"))
            answer = fairlead("run", "-n", "2", "--on", platform, "--dsm-protocol", "newgen",
                              "--dsm-faithful", str(BIN / "pages_handles"), "--only", "page",
                              "--pages", "64", "--json")
            self.assertEqual(answer.returncode, 0, answer.stderr)
            # Expect: two ways there and back, one for the home and one for both.
            self.assertLess(json_lines(answer.stdout)[0]["page_us"], word + page, platform)

    def test_fibers_share_pages_at_the_times_of_processes(self):
        def seen(body):
            answer = fairlead("run", "-n", "3", "--on", "infiniband-pcie", "--body", body,
                              str(BIN / "pages_handles"), "--pages", "12", "--rounds", "10",
                              "--json")
            self.assertEqual(answer.returncode, 0, answer.stderr)
            return json_lines(answer.stdout)[0]
        fibers = seen("fiber")
        self.assertGreater(fibers["page_us"], 0)
        self.assertEqual(fibers, seen("process"))

    def test_the_bus_alone_is_another(self):
        first, second = (tomllib.loads((SOURCE / "platforms" / f"{name}.toml").read_text())
                         for name in NAMES)
        differ = {key for key in first if first[key] != second.get(key)}
        self.assertEqual(first.keys(), second.keys())
        self.assertEqual(differ, {"description", "bus"})

    def test_pci_x_is_shared(self):
        # Expect: writes that come in take from those that go out, on PCI-X alone.
        alone = {name: bench(name)[1] for name in NAMES}
        self.assertGreater(alone["infiniband-pcie"]["both_MBps"],
                           1.9 * alone["infiniband-pcie"]["write_MBps"])
        self.assertLess(alone["infiniband-pcix"]["both_MBps"],
                        1.3 * alone["infiniband-pcix"]["write_MBps"])
        # Expect: one way it is reads under way that bound it, both ways the bus.
        more = bench("infiniband-pcix", "--set", "bus.reads=8")[1]
        self.assertGreater(more["write_MBps"], 1.1 * alone["infiniband-pcix"]["write_MBps"])
        self.assertLess(more["both_MBps"], 1.01 * alone["infiniband-pcix"]["both_MBps"])


if __name__ == "__main__":
    unittest.main()
