"""Nodes with two networks between them: pairs of ranks use both, and one that fails under load
loses nothing (hosts_test.py)."""
import re
import subprocess
import time

from deadlines import SLACK


class TwoRails:
    """What a suite adds whose nodes have the addresses 10.77.NET.x and 10.78.NET.x; it says what
    each rail has sent (bytes_sent)."""

    RANK = ""  # the programs launchers_rank and hosts_stream
    STREAM = ""
    ENGINES = ()  # options that give each node an NI engine

    def both_rails(self):
        return ("--address", f"10.77.{self.NET}.0/24,10.78.{self.NET}.0/24")

    def test_two_rails(self):
        spread = []
        for more in ((), (), (), ("--auth", "encrypt"), ("--faults", "drop=0.02")):
            with self.subTest(more=more):
                def sent():
                    return [sum(self.bytes_sent(node, rail) for node in (0, 1)) for rail in (0, 1)]
                before = sent()
                code, out, errors = self.job(self.RANK,
                                             more=(*self.both_rails(), "--show-paths", *more))
                moved = [now - then for now, then in zip(sent(), before)]
                self.assertEqual(code, 0, errors)
                self.check_exchange(4, out)
                self.assertRegex(errors, r"rank 0 to 2-3: udp from 10\.77\..* and 10\.78\.")
                # Expect: pairs of ranks are spread over both
                spread.append(min(moved) > 1 << 19)
        # Expect: but where a busy machine made a rank look silent
        self.assertIn(True, spread)

    def test_engines_with_two_rails(self):
        def sent(rail):
            return sum(self.bytes_sent(node, rail) for node in (0, 1))
        before = [sent(rail) for rail in (0, 1)]
        code, out, errors = self.job(
            self.RANK, more=(*self.both_rails(), *self.ENGINES, "--show-paths"))
        self.assertEqual(code, 0, errors)
        self.check_exchange(4, out)
        self.assertRegex(errors, r"udp from 10\.77\.[\d.:]+ and 10\.78\..*\(nirx\)")
        self.assertGreater(sum(sent(rail) - before[rail] for rail in (0, 1)), 1 << 20)

    def test_a_rail_that_fails_under_load(self):
        self.lose_a_rail(())

    def test_a_rail_of_ni_engines_that_fails_under_load(self):
        self.lose_a_rail(self.ENGINES)

    def lose_a_rail(self, more):
        """Nothing is lost, doubled or reordered (the program looks); the other rail carries the
        traffic within 200 ms, and the own one again when it is back."""
        runs = []
        # A run in which the machine stood still for that long says nothing of the rails.
        while not any(in_time for in_time, _ in runs) and len(runs) < 4:
            runs.append(self.run_without_a_rail(more))
        self.assertTrue(runs[-1][0], runs)

    def run_without_a_rail(self, more):
        """Whether the traffic moved in time, there and back; and what is known of it."""
        node = self.HOSTS[0].split(":")[0]
        own, other = 0, 1  # rails of ranks 0 and 1

        def sent():
            return [self.bytes_sent(0, rail) for rail in (own, other)]

        job = self.begin(self.STREAM, "4", "65536", more=(*self.both_rails(), *more),
                         hosts=[host.replace(":2", ":1") for host in self.HOSTS])
        looks = []
        for change in ("down", "up"):
            time.sleep(1.2)
            looks.append(sent())
            subprocess.run(["ip", "-n", node, "link", "set", f"rail{own}", change], check=True)
        code, out, errors = self.end(job)
        looks.append(sent())
        self.assertEqual(code, 0, out + errors)
        self.assertRegex(out, r"[1-9]\d+ messages, 0 wrong")
        pause = float(re.search(r"longest pause ([\d.]+) ms", out).group(1))
        down, up = ([after - before for before, after in zip(*pair)]
                    for pair in zip(looks, looks[1:]))
        moved = down[other] > max(down[own], 10 << 20) and up[own] > 10 << 20
        return moved and pause < 200 * SLACK, {"pause, ms": pause, "down": down, "up": up}
