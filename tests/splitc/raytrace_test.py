"""apps/raytrace draws one picture, whoever draws which tile, and writes it as PNG."""
import struct
import sys
import tempfile
import unittest
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "command"))
from app_runs import AppRuns  # noqa: E402
from command import BIN, fairlead, json_lines  # noqa: E402
from implementations import IMPLEMENTATIONS, OTHER_PLACES  # noqa: E402


def paeth(left, above, corner):
    near = [abs(above - corner), abs(left - corner), abs(left + above - 2 * corner)]
    return (left, above, corner)[near.index(min(near))]


def read_png(data):
    """Width, height and the bytes of all pixels, which have 8 bits of red, green and blue."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, packed = 8, b""
    while at < len(data):
        size, kind = struct.unpack_from(">I4s", data, at)
        body = data[at + 8:at + 8 + size]
        if kind == b"IHDR":
            width, height, bits, colour = struct.unpack_from(">IIBB", body)
            assert (bits, colour) == (8, 2)
        packed += body if kind == b"IDAT" else b""
        at += 12 + size
    rows, line = zlib.decompress(packed), 3 * width
    before, pixels = bytearray(line), bytearray()
    for start in range(0, len(rows), line + 1):
        kind, row = rows[start], bytearray(rows[start + 1:start + 1 + line])
        for i in range(line):
            left, corner = (row[i - 3], before[i - 3]) if i >= 3 else (0, 0)
            guess = (0, left, before[i], (left + before[i]) // 2,
                     paeth(left, before[i], corner))[kind]
            row[i] = (row[i] + guess) & 255
        pixels += row
        before = row
    return width, height, bytes(pixels)


def fnv1a(data):
    value = 14695981039346656037
    for byte in data:
        value = (value ^ byte) * 1099511628211 & 0xffffffffffffffff
    return f"{value:016x}"


class Raytrace(AppRuns):
    SMALL = ("--width", "60", "--height", "45")

    def test_one_picture_everywhere(self):
        found = {self.verified_everywhere("raytrace", "hash", *self.SMALL)}
        for name in IMPLEMENTATIONS:
            for where, ranks in OTHER_PLACES:
                result = self.run_app("raytrace", [*where, "--splitc", name], ranks, *self.SMALL)
                found.add(result["hash"])
        # Expect: one picture, by every implementation.
        self.assertEqual(len(found), 1)

    def test_png(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "teapot.png"
            answer = fairlead("run", "-n", "2", str(BIN / "raytrace"), "--json", "--samples", "2",
                              "--png", str(path), *self.SMALL)
            if "built without libpng" in answer.stderr:
                self.skipTest("there is no libpng")
            self.assertEqual(answer.returncode, 0, answer.stderr)
            (result,) = json_lines(answer.stdout)
            width, height, pixels = read_png(path.read_bytes())
        # Expect: what was drawn is what the file has.
        self.assertEqual((width, height, fnv1a(pixels)), (60, 45, result["hash"]))

    def test_files_that_cannot_be_written(self):
        answer = fairlead("run", "-n", "2", str(BIN / "raytrace"), "--png", "/no/such/place.png",
                          *self.SMALL)
        self.assertNotEqual(answer.returncode, 0)
        self.assertIn("raytrace: /no/such/place.png: ", answer.stderr)

    def test_modelled_speed_up(self):
        for name in ("amvia", "via"):
            seconds = {}
            for ranks in (1, 8):
                result = self.run_app("raytrace", ["myrinet-p3", "--splitc", name], ranks)
                seconds[ranks] = result["seconds"]
            # Expect: as the model has it now, 7.46: tiles are taken as ranks get ready for them.
            self.assertAlmostEqual(seconds[1] / seconds[8], 7.46, delta=0.4, msg=name)

    def test_bodies_and_repetitions_agree(self):
        self.bodies_agree("raytrace", *self.SMALL)


if __name__ == "__main__":
    unittest.main()
