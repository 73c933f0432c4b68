# SPDX-License-Identifier: Apache-2.0
"""From charts to pictures: PNG and SVG files, light and dark, and SVG inside the page.

A chart is drawn once for each width. The SVG of the other theme is the same text with other colours, since no two colours
of a theme are equal; inside the page they are variables of CSS.
"""

import functools
import io
import re

from . import look
from .themes import DARK, LIGHT

_DOTS_PER_INCH = 160  # sharp on screens with two device pixels per pixel, at the width of a page
# Verdana has the widths of DejaVu Sans, and what else a browser takes is narrower.
_FONTS = f"'{look.FONT}', Verdana, sans-serif"


def picture(chart, theme, kind, layout=look.WIDE):
    """The bytes of the chart as `kind`, png or svg; the same bytes for the same numbers."""
    if kind == "svg":
        return _svg(chart, layout, theme).encode()
    return _saved(chart, theme, layout, format=kind, dpi=_DOTS_PER_INCH, metadata={"Software": None})


def inline_svg(chart, layout):
    """An element for the page, whose colours are the variables of its theme."""
    text = _light_svg(chart, layout)
    text = text[text.index("<svg"):]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    # Groups need no names, and what is referred to must not be taken for that of another picture.
    text = re.sub(r'<(g|svg) ([^>]*?)\bid="[^"]*" ?', r"<\1 \2", text)
    own = f"{chart.name}-{layout.name}-"
    text = re.sub(r'(\bid="|url\(#|xlink:href="#)', rf"\g<1>{own}", text)
    for name, value in LIGHT.variables.items():
        text = text.replace(value, f"var(--{name})")
    # Presentation attributes do not know variables; styles do.
    return re.sub(r'\b(fill|stroke)="(var\([^"]*)"', r'style="\1: \2"', text)


def file_name(chart, theme, kind):
    dark = "" if theme is LIGHT else "-dark"
    return f"{chart.name}{dark}.{kind}"


@functools.cache
def _light_svg(chart, layout):
    return _saved(chart, LIGHT, layout, format="svg", metadata={"Date": None}).decode().replace(f"'{look.FONT}'", _FONTS)


def _svg(chart, layout, theme):
    text = _light_svg(chart, layout)
    if theme is LIGHT:
        return text
    return re.sub(r"#[0-9a-f]{6}\b", lambda found: _TO_DARK.get(found[0], found[0]), text)


_TO_DARK = {value: DARK.variables[name] for name, value in LIGHT.variables.items()}


def _saved(chart, theme, layout, **options):
    out = io.BytesIO()
    with look.themed(theme):
        made = chart.draw(theme, layout)
        made.savefig(out, **options)
    return out.getvalue()
