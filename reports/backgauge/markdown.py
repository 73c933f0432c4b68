# SPDX-License-Identifier: Apache-2.0
"""Tables: as text for a terminal, and as GitHub's Markdown."""


def escaped(text):
    """Text from a run, escaped so that it is not markup."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("|", "\\|").replace("\n", " ")


def text_table(head, lines, numbers):
    """On input cells as text; `numbers`: the right-aligned columns."""
    widths = [max(map(len, column)) for column in zip(head, *lines)]
    return "\n".join("  ".join(cell.rjust(widths[k]) if k in numbers else cell.ljust(widths[k])
                               for k, cell in enumerate(line)).rstrip() for line in [head, *lines])


def markdown_table(head, lines, numbers=None):
    """On input cells as text; `numbers`: the right-aligned columns, by default all except the first."""
    numbers = range(1, len(head)) if numbers is None else numbers
    ruler = ["--:" if column in numbers else "---" for column in range(len(head))]
    cells = [[escaped(cell) for cell in head], ruler, *([escaped(cell) for cell in line] for line in lines)]
    return "\n".join("| " + " | ".join(line) + " |" for line in cells)
