# SPDX-License-Identifier: Apache-2.0
"""The colours of pages and charts, light and dark; look.py says what they must be."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Theme:
    name: str
    background: str
    ink: str
    muted: str  # axes, secondary text
    grid: str
    series: tuple[str, ...]

    @property
    def variables(self):
        """{name: colour} for the CSS of a page."""
        return {"background": self.background, "ink": self.ink, "muted": self.muted, "grid": self.grid,
                **{f"series-{place}": colour for place, colour in enumerate(self.series)}}


LIGHT = Theme("light", "#ffffff", "#1c2128", "#59636e", "#dfe4ea",
              ("#024c8b", "#fd8f2c", "#913bb7", "#0aa0a9", "#710018", "#028d23"))
DARK = Theme("dark", "#14181e", "#e8ecf1", "#9aa5b1", "#2d343d",
             ("#61a1ff", "#ffcdab", "#bb63e1", "#c4fbff", "#db2541", "#5ad45d"))
THEMES = (LIGHT, DARK)
