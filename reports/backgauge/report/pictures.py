# SPDX-License-Identifier: Apache-2.0
"""From charts to pictures: PNG and SVG, light and dark."""

import base64
import io

from . import look

_DOTS_PER_INCH = 160  # sharp on screens with two device pixels per pixel, at the width of a page


def picture(chart, theme, kind):
    """The bytes of the chart as `kind`, png or svg; the same bytes for the same numbers."""
    with look.themed(theme):
        made = chart.draw(theme)
        out = io.BytesIO()
        made.savefig(out, format=kind, dpi=_DOTS_PER_INCH, bbox_inches="tight", pad_inches=0.12,
                     metadata={"Date": None} if kind == "svg" else {"Software": None})
    return out.getvalue()


def file_name(chart, theme, kind):
    dark = "" if theme is look.LIGHT else "-dark"
    return f"{chart.name}{dark}.{kind}"


def data_address(svg):
    return "data:image/svg+xml;base64," + base64.b64encode(svg).decode()
