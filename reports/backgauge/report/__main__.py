# SPDX-License-Identifier: Apache-2.0
"""backgauge report: from saved runs to a folder with a page, a summary, a table and charts."""

import datetime
import pathlib

from .. import errors
from ..quantities import counted
from . import cells, look, page, pictures, summary
from . import options as command_line
from .catalogue import all_charts
from .charts import growth
from .sources import read_material


def main(arguments):
    options = command_line.parse(arguments)
    material = read_material(options.runs, options.impl)
    charts = all_charts(material)
    now = datetime.datetime.now(datetime.UTC)
    out = pathlib.Path(options.out)
    try:
        out.mkdir(parents=True, exist_ok=True)
        written = _write(out, options, material, charts, now)
    except OSError as error:
        raise errors.CommandError(f"--out={out}: {error}") from error
    for chart in charts:
        if chart.section == growth.SECTION:
            print(*chart.notes, sep="\n")
    print(f"{counted(len(charts), 'chart')}, {counted(len(material.table.rows), 'timing')}: {', '.join(written)}")
    return errors.GOOD


def _write(out, options, material, charts, now):
    """The names of the written files, for the screen; pictures are only counted."""
    written = []
    texts = {"html": ("index.html", lambda: page.html(material, charts, options.title, now)),
             "md": ("summary.md", lambda: summary.markdown(material, charts, options.title, now)),
             "csv": ("table.csv", lambda: cells.as_csv(material.table.rows))}
    for kind in options.format:
        if kind in texts:
            name, make = texts[kind]
            (out / name).write_text(make(), encoding="utf-8")
            written.append(str(out / name))
        else:
            for chart in charts:
                for theme in look.THEMES:
                    (out / pictures.file_name(chart, theme, kind)).write_bytes(pictures.picture(chart, theme, kind))
            written.append(f"{2 * len(charts)} {kind.upper()}")
    return written


if __name__ == "__main__":
    errors.run_command(main)
