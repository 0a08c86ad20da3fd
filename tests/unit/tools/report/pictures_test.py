import struct
import unittest
import zlib

from made import bundle_of, record
from report.pictures import Drawn, level_of, palette, row_lengths, spy
from report.png import COLOURS, png


class PicturesTest(unittest.TestCase):
    def test_a_picture_holds_the_levels_that_went_in(self):
        levels = [[0, 1, 15], [2, 3, 4]]
        data = png(levels, palette())
        at = data.index(b"IDAT")
        lines = zlib.decompress(data[at + 4:at + 4 + struct.unpack(">I", data[at - 4:at])[0]])
        self.assertEqual(lines, bytes([0, 0x01, 0xf0, 0, 0x23, 0x40]))
        self.assertEqual(struct.unpack(">II", data[16:24]), (3, 2))

    def test_levels_rise_with_the_share_and_keep_none_apart(self):
        level = level_of(1e-6)
        self.assertEqual([level(share) for share in (0, 1e-6, 1.0, 2.0)], [0, 1, COLOURS - 1, COLOURS - 1])
        rising = [level(10 ** (-6 + i / 10)) for i in range(61)]
        self.assertEqual(rising, sorted(rising))
        self.assertEqual(len(palette()), COLOURS)

    def test_one_scale_for_all(self):
        case = bundle_of(record()).cases[0]
        figures = list(spy([Drawn(case, [[share]], [(1, 1)]) for share in (1e-5, 0.5)]))
        self.assertTrue(all("from 1e-05 to 1" in figure.caption for figure in figures))
        self.assertNotEqual(figures[0].svg(300), figures[1].svg(300))

    def test_row_lengths_say_the_longest_and_the_mean(self):
        case = bundle_of(record()).cases[0]
        figure, = row_lengths([Drawn(case, [[1.0]], [(1, 90), (40, 2)])])
        self.assertIn("Longest 40; dashed: the mean, 10.0", figure.caption)
        self.assertIn("dashed", figure.svg(300))


if __name__ == "__main__":
    unittest.main()
