# SPDX-License-Identifier: Apache-2.0
"""One self-contained HTML page: embedded pictures, sortable tables, nothing fetched."""

import math

import jinja2
import markupsafe

from .. import quantities
from ..quantities import ratio_text
from ..table import groups
from . import cells, doubts, headline, look, pictures
from .charts.chart import LEVELS


def html(material, charts, title, now):
    """`now`, with a time zone, is when the page is made: it says how old its runs are."""
    environment = jinja2.Environment(loader=jinja2.PackageLoader("backgauge.report"), autoescape=True, trim_blocks=True,
                                     lstrip_blocks=True, undefined=jinja2.StrictUndefined)
    sections = [(name, [_shown(chart, material) for chart in of_section])
                for name, of_section in groups(charts, lambda chart: chart.section).items()]
    return environment.get_template("page.html").render(
        title=title, subject=material.subject, verified=material.verified, doubts=doubts.doubts(material, now), sections=sections,
        colours=[theme.variables for theme in look.THEMES], headline=headline.headline(material),
        made=f"{now:%Y-%m-%d %H:%M} UTC", measured=_measured(material),
        machines=[(setting.text, facts(run, setting)) for setting, run in material.table.contexts.items()],
        terms=[(", ".join(names), op, text) for names, op, text in material.terms],
        columns=[(name, is_number) for name, is_number, _ in cells.COLUMNS],
        workloads=[_workload(workload, rows, material) for workload, rows in groups(material.table.rows, lambda row: row.workload).items()])


def _measured(material):
    """Which days the runs are of; empty if they do not say."""
    days = sorted({f"{run.date:%Y-%m-%d}" for run in [*material.runs, *material.verified] if run.date})
    return " to ".join(dict.fromkeys([*days[:1], *days[-1:]]))


def _shown(chart, material):
    listed = {row.workload for row in material.table.rows}
    links = [(workload, cells.anchor(workload) if workload in listed else "") for workload in chart.workloads]
    drawn = [(layout.name, markupsafe.Markup(pictures.inline_svg(chart, layout))) for layout in look.LAYOUTS]
    return {"chart": chart, "drawn": drawn, "links": links}


def _workload(workload, rows, material):
    """One group of the table: a line that says the most important, and one row for each implementation and setting."""
    ratios = cells.best_peer_ratios(rows, material.subject)
    said = [f"{row.implementation} {cells.time_text(row)}" for row in rows if row.implementation == material.subject and row.has_time]
    said += [f"{ratio_text(ratio, max(row.uncertainty for row in rows))} x best peer" for ratio in ratios.values()]
    words = [row.verdict for row in rows if not row.has_time]
    said += [f"{words.count(word)} {word}" for word in dict.fromkeys(words)]
    return {"anchor": cells.anchor(workload), "workload": workload, "name": rows[0].case.name, "said": ", ".join(said),
            "is_wrong": any(row.verdict in ("FAILED", "BROKEN") for row in rows), "rows": [_table_row(row) for row in rows]}


def _table_row(row):
    made = []
    for heading, is_number, cell in cells.COLUMNS:
        text, order = cell(row)
        endless = isinstance(order, float) and math.isnan(order)
        made.append({"text": text, "order": "" if endless else order, "is_number": is_number, "heading": heading})
    return {"cells": made, "has_time": row.has_time, "is_wrong": row.verdict in ("FAILED", "BROKEN")}


def facts(run, setting):
    """[(name, value)] of the machine and the build, from the context of the run; of the device for a setting on one."""
    def rate(key, unit):
        number = run.number(key)
        return "" if math.isnan(number) else f"{quantities.three_digits(number)} {unit}"

    noise = run.number("noise_aa")
    found = [("version", _word(run, "backgauge_version", "commit")), ("compiler", _word(run, "compiler", "build_type")),
             ("instruction set", _word(run, "isa")), ("governor", _word(run, "governor")),
             ("work convention", _word(run, "work_convention")),
             ("A/A noise", "" if math.isnan(noise) else f"{100 * noise:.1f} %")]
    found += _device_facts(run, rate) if setting.device else _cpu_facts(rate)
    return [(name, value) for name, value in found if value]


def _device_facts(run, rate):
    found = [("host", _word(run, "cpu_model")), ("multiprocessors", _word(run, "device_multiprocessors")),
             ("highest clock", rate("device_clock_mhz", "MHz")), ("highest memory clock", rate("device_memory_clock_mhz", "MHz")),
             ("driver", _word(run, "device_driver")), ("CUDA", _word(run, "device_cuda_runtime")), ("cuBLASLt", _word(run, "device_cublaslt"))]
    found += [(f"products in {name}", rate(f"device_gflops_{key}", "GFLOP/s"))
              for name, key in (("float16", "f16"), ("bfloat16", "bf16"), ("TF32", "tf32"), ("float32", "f32"), ("float64", "f64"))]
    return [*found, ("copy in L2", rate("device_copy_gbps_l2", "GB/s")), ("copy from memory", rate("device_copy_gbps_memory", "GB/s")),
            ("launch", rate("device_launch_us", "us"))]


def _cpu_facts(rate):
    found = [("FMA limit", rate("fma_gflops_f32", "GFLOP/s")), ("FMA limit, double", rate("fma_gflops_f64", "GFLOP/s"))]
    found += [(f"read from {name}", rate(f"read_gbps_{key}", "GB/s")) for name, key in LEVELS]
    return found + [(f"copy from {name}" if key == "memory" else f"copy in {name}", rate(f"copy_gbps_{key}", "GB/s"))
                    for name, key in LEVELS]


def _word(run, *keys):
    return " ".join(str(run.context[key]) for key in keys if run.context.get(key) not in (None, ""))
