# SPDX-License-Identifier: Apache-2.0
"""The Markdown summary, for a pull request or a README."""

from ..markdown import escaped, markdown_table
from ..quantities import counted
from . import cells, doubts, headline, page
from .charts import growth, threads
from .charts.chart import families


def markdown(material, charts, title, now):
    parts = [f"## {escaped(title)}", *_verdicts(material), *_doubts(material, now), *_setting_lines(material), *_headline(material),
             *_notes(charts), *_unjudged(material), *_not_timed(material), *_terms_of_bench(material)]
    parts += [_details(family, material.subject) for family in families(material)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _verdicts(material):
    return [part for run in material.verified for part in (f"**{run.word}**: {escaped(run.implementation)}: {escaped(run.text)}", _terms(run))]


def _terms(run):
    return "\n".join(f"- {escaped(op)}: {escaped(terms)}" for op, terms in run.terms)


def _terms_of_bench(material):
    lines = [f"- {escaped(', '.join(names))}, {escaped(op)}: {escaped(text)}" for names, op, text in material.terms]
    return ["Terms of the results that were timed:\n\n" + "\n".join(lines)] if lines else []


def _doubts(material, now):
    return [f"> **{doubt.word}**: {escaped(doubt.text)}" for doubt in doubts.doubts(material, now)]


def _setting_lines(material):
    return [f"{escaped(setting.text)}; " + "; ".join(f"{name} {escaped(value)}" for name, value in page.facts(run, setting) if name in _SHOWN)
            for setting, run in material.table.contexts.items()]


_SHOWN = ("FMA limit", "products in float16", "products in float32", "driver", "copy from memory", "A/A noise", "version", "compiler")


def _headline(material):
    head, lines = headline.headline(material)
    return [markdown_table(head, lines)] if lines else []


def _notes(charts):
    shown = [note for chart in charts if chart.section in (growth.SECTION, threads.SECTION) for note in chart.notes]
    if not shown:
        return []
    items = "\n".join(f"- {note}" for note in shown)
    return [f"<details><summary>How cost grows: fits in T, exponents in B and H, thread scaling</summary>\n\n{items}\n\n</details>"]


def _unjudged(material):
    lines = [f"- {row.implementation}: {row.case.name}: {cells.time_text(row)}"
             for row in material.table.rows if row.has_time and not row.is_comparable]
    return ["Timed without judging the results (UNJUDGED), and compared with nothing:\n\n" + "\n".join(lines)] if lines else []


def _not_timed(material):
    lines = [f"- {row.implementation}: {row.case.name}: {escaped(cells.verdict_text(row))}"
             for row in material.table.rows if not row.has_time]
    return ["Not timed:\n\n" + "\n".join(lines)] if lines else []


def _details(family, subject):
    head, lines = cells.shape_table(family, subject)
    return f"<details><summary>{family.title}: {counted(len(lines), 'shape')}</summary>\n\n{markdown_table(head, lines)}\n\n</details>"
