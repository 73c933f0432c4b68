# SPDX-License-Identifier: Apache-2.0
"""Every chart of the catalogue is drawn, and the numbers that charts compute are right."""

import pathlib
import re
import tempfile
import unittest

import matplotlib.text
import numpy as np
from backgauge.records import TensorRatio
from backgauge.report import catalogue, look, pictures
from backgauge.report.charts import growth, ratio, roofline, shape_rows, threads, throughput
from backgauge.report.charts.chart import Material
from backgauge.report.fit import linear_fit, power_fit
from backgauge.report.sources import read_material
from backgauge.run import read_run
from backgauge.table import table_of
from synthetic import DEVICE, Noise, Synthetic, block_line, sweep_lines

QUIET = Noise(0, 0, 0, 0, 0)


class MaterialTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def material(self, *runs, subject="cpu"):
        paths = [run.write(self.folder / f"run{k}.json") for k, run in enumerate(runs)]
        return read_material(paths, subject)


class CatalogueTest(MaterialTest):
    def test_every_chart_has_its_place(self):
        two_threads = {"threads": 2, "fma_gflops_f32": 222.0}
        material = self.material(Synthetic(sweep_lines()), Synthetic(sweep_lines()[:3], context=two_threads))
        charts = catalogue.all_charts(material)
        self.assertEqual({chart.section for chart in charts}, {maker.SECTION for maker in catalogue.MAKERS})
        names = [chart.name for chart in charts]
        self.assertEqual(len(set(names)), len(names), "two charts would write one file")

    def test_every_chart_draws_in_both_themes(self):
        material = self.material(Synthetic(sweep_lines()), Synthetic(sweep_lines()[:3], context={"threads": 2}))
        drawn = {}
        for chart in catalogue.all_charts(material):
            if chart.section not in drawn:
                drawn[chart.section] = [pictures.picture(chart, theme, "svg") for theme in look.THEMES]
        for section, (light, dark) in drawn.items():
            self.assertIn(look.LIGHT.background.encode(), light, section)
            self.assertIn(look.DARK.background.encode(), dark, section)
            self.assertNotIn(look.LIGHT.ink.encode(), dark, section)
            self.assertNotRegex(light.decode(), r"<path (?![^>]*\bd=)", f"{section}: something lies outside the picture")

    def test_the_same_numbers_give_the_same_bytes(self):
        charts = [catalogue.all_charts(self.material(Synthetic(sweep_lines()[:2])))[0] for _ in range(2)]
        self.assertNotEqual(*charts)  # equal ones would be drawn once
        for kind in ("svg", "png"):
            self.assertEqual(*(pictures.picture(chart, look.LIGHT, kind) for chart in charts))

    def test_the_dark_picture_is_the_light_one_in_other_colours(self):
        chart = catalogue.all_charts(self.material(Synthetic(sweep_lines()[:4])))[0]
        light, dark = (pictures.picture(chart, theme, "svg").decode() for theme in look.THEMES)
        self.assertEqual(re.sub("#[0-9a-f]{6}", "#", light), re.sub("#[0-9a-f]{6}", "#", dark))
        for theme, text in ((look.LIGHT, light), (look.DARK, dark)):
            used = set(re.findall("#[0-9a-f]{6}", text))
            self.assertLessEqual(used, set(theme.variables.values()))
        self.assertNotIn("#", re.sub(r'(href="|url\()#', "", pictures.inline_svg(chart, look.WIDE)))

    def test_markers_do_not_cover_each_other(self):
        self.assertEqual(shape_rows.lanes([0.5, 0.1, 0.9], 0.2), [0, 0, 0])
        self.assertEqual(shape_rows.lanes([0.5, 0.51, 0.52, 0.53], 0.2), [0, 1, -1, 2])
        self.assertEqual(shape_rows.lanes([0.3, 0.5, 0.4], 0.15), [0, 0, 1])
        for seed in range(20):
            places = list(np.random.default_rng(seed).random(12))
            found = shape_rows.lanes(places, 0.1)
            for lane in set(found):
                apart = np.diff(sorted(place for place, own in zip(places, found) if own == lane))
                self.assertTrue((apart >= 0.1).all())

    def test_the_roofline_fits_its_points(self):
        charts = roofline.charts(self.material(Synthetic(sweep_lines(), noise=QUIET)))
        self.assertEqual([chart.title for chart in charts], ["BlockLSTMGradV2 f32, 1 thread", "LSTMBlockCellGrad f32, 1 thread", "CudnnRNNBackprop f64, 1 thread"])
        for chart in charts:
            with look.themed(look.LIGHT):
                axes, = chart.draw(look.LIGHT, look.WIDE).axes
            points = np.concatenate([line.get_xydata() for line in axes.lines if line.get_linestyle() == "None"])
            for limits, values in ((axes.get_xlim(), points[:, 0]), (axes.get_ylim(), points[:, 1])):
                self.assertTrue(limits[0] < values.min() <= 2 * limits[0], chart.title)
                self.assertTrue(values.max() < limits[1], chart.title)
            self.assertLessEqual(axes.get_xlim()[1], 2 * points[:, 0].max())

    def test_limits_of_the_cpu_are_never_beside_times_on_a_device(self):
        material = self.material(Synthetic(sweep_lines(), noise=QUIET, shares={"cpu": 0.9, "cuda": 0.7},
                                           on_device=frozenset({"cuda"}), context=DEVICE))
        for op in (roofline, throughput):
            for chart in op.charts(material):
                with look.themed(look.LIGHT):
                    figure = chart.draw(look.LIGHT, look.WIDE)
                text = " ".join(each.get_text() for each in figure.findobj(matplotlib.text.Text)) + chart.text
                on_device = "Synthetic GPU" in chart.title
                self.assertEqual("cuda" in text, on_device, chart.title)
                if on_device:
                    self.assertNotIn("FMA limit", text)
                    self.assertNotIn("L1", text)
                    self.assertTrue("cuBLASLt" in text or "copy L2 5000" in text or "copy bandwidth memory" in text
                                    or "f64" in chart.title, f"{chart.title}: {text}")
                else:
                    self.assertNotIn("cuBLASLt", text)
        names = [chart.name for chart in catalogue.all_charts(material)]
        self.assertEqual(len(names), len(set(names)))

    def test_a_run_of_one_implementation_is_enough(self):
        charts = catalogue.all_charts(self.material(Synthetic([block_line("t5b3i5h7")], shares={"cpu": 0.5})))
        self.assertNotIn(ratio.SECTION, {chart.section for chart in charts})
        for chart in charts:
            pictures.picture(chart, look.LIGHT, "png")

    def test_a_run_without_limits_counters_and_errors(self):
        path = Synthetic(sweep_lines()[:4]).write(self.folder / "run.json")
        text = path.read_text()
        for key in ("share_of_limit", "error_over_bound", "fma_gflops", "_gbps_", "GB/s"):
            text = text.replace(key, "absent_" + key.replace("_", "-"))
        path.write_text(text)
        path.with_suffix(".samples.jsonl").unlink()
        for chart in catalogue.all_charts(read_material([path], None)):
            pictures.picture(chart, look.LIGHT, "png")

    def test_ratios_far_beyond_their_bound_still_draw(self):
        ratios = [TensorRatio("cpu", "block_lstm_grad_v2", "f32", name, value, "op b1i1h1", 1)
                  for name, value in (("x_grad", 0.3), ("w_grad", 1e6), ("b_grad", np.inf))]
        material = Material(table_of([]), "cpu", ratios)
        chart, = catalogue.all_charts(material)
        for theme in look.THEMES:
            pictures.picture(chart, theme, "png")

    def test_many_shapes_stay_one_row_each(self):
        lines = [block_line(f"t40b{b}i{h}h{h}") for b in (1, 8, 13, 32, 67, 128) for h in (128, 250, 512, 650, 1024, 1350)]
        chart = catalogue.all_charts(self.material(Synthetic(lines, shares={"cpu": 0.9, "eigen": 0.4})))[0]
        with look.themed(look.LIGHT):
            made = chart.draw(look.LIGHT, look.WIDE)
        self.assertGreaterEqual(made.get_size_inches()[1] / len(lines), 0.2)


class NumbersTest(MaterialTest):
    def test_ratio_to_the_best_peer(self):
        lines = [block_line("t25b16i512h512"), block_line("t25b64i512h512")]
        run = Synthetic(lines, shares={"cpu": 0.8, "onednn": 0.4, "torch": 0.2}, noise=QUIET, slower={("torch", lines[1]): 0.25})
        found = ratio.ratios_of(self.material(run).timed, "cpu")
        self.assertAlmostEqual(found.best[lines[0]][0], 2)
        self.assertEqual([found.best[line][1] for line in lines], ["onednn", "torch"])
        self.assertAlmostEqual(found.best[lines[1]][0], 1)
        self.assertAlmostEqual(found.mean, np.sqrt(2))

    def test_a_result_that_is_wrong_is_no_peer(self):
        line = block_line("t25b16i512h512")
        run = Synthetic([line], shares={"cpu": 0.4, "fast": 0.9, "slow": 0.2}, noise=QUIET, failed={("fast", line): ("FAILED", "")})
        self.assertEqual(ratio.ratios_of(self.material(run).timed, "cpu").best[line][1], "slow")

    def test_thread_scaling(self):
        line = block_line("t25b16i512h512")
        runs = [Synthetic([line], shares={"cpu": 0.5}, noise=QUIET, context={"threads": n}, speed=speed)
                for n, speed in ((1, 1.0), (2, 1.9), (4, 3.0))]
        scaled = threads.scaled_rows(self.material(*runs).timed)
        self.assertEqual([(s.row.setting.threads, round(s.speed_up, 6)) for s in scaled], [(2, 1.9), (4, 3.0)])

    def test_sweeps_hold_everything_else(self):
        rows = self.material(Synthetic(sweep_lines(), shares={"cpu": 0.9}, noise=QUIET)).timed
        rows = [row for row in rows if row.case.op == "block_lstm_grad_v2"]
        over_t, over_b, over_h = (growth.sweeps_of(rows, dim)[0] for dim in "TBH")
        self.assertEqual((over_t.title, over_t.points("cpu", "T")[0]), ("B16 I512 H512", [5, 10, 25, 50, 100]))
        self.assertEqual((over_b.title, over_b.points("cpu", "B")[0]), ("T25 I512 H512", [1, 4, 16, 64, 128]))
        self.assertEqual((over_h.title, over_h.points("cpu", "H")[0]), ("T25 B64 I=H", [128, 256, 512, 1024, 2048]))
        self.assertEqual(growth.sweeps_of(rows[:2], "T"), [])

    def test_panels_are_spread_over_all_sweeps(self):
        self.assertEqual(growth.spread(list(range(11)), 6), [0, 2, 4, 6, 8, 10])
        self.assertEqual(growth.spread([1, 2], 6), [1, 2])

    def test_the_line_through_times(self):
        fit = linear_fit([5, 10, 25, 100], [0.3 + 0.2 * t for t in (5, 10, 25, 100)])
        self.assertAlmostEqual(fit.fixed, 0.3)
        self.assertAlmostEqual(fit.per_step, 0.2)
        self.assertLess(fit.largest_deviation, 1e-9)
        self.assertLess(fit.exponent, 1)
        self.assertIn("200 ms · T + 300 ms", fit.text)

    def test_what_is_not_linear_deviates(self):
        steps = np.array([10, 50, 100, 200])
        self.assertGreater(linear_fit(steps, steps**1.3).largest_deviation, 0.1)
        self.assertAlmostEqual(power_fit(steps, steps**1.3), 1.3)

    def test_the_fit_is_printed_in_notes(self):
        charts = growth.charts(self.material(Synthetic(sweep_lines(), shares={"cpu": 0.9}, noise=QUIET)))
        self.assertTrue(any("B16 I512 H512, cpu: " in note and "· T" in note for chart in charts for note in chart.notes))

    def test_limits_come_from_the_run(self):
        material = self.material(Synthetic(sweep_lines()[:1]))
        run = next(iter(material.table.contexts.values()))
        self.assertEqual(run.number("fma_gflops_f32"), 112)
        self.assertTrue(np.isnan(read_run(self.folder / "run0.json").number("absent")))


if __name__ == "__main__":
    unittest.main()
