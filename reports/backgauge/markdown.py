# SPDX-License-Identifier: Apache-2.0
"""Tables of GitHub's Markdown."""


def escaped(text):
    """What a run says of itself is text, not markup."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("|", "\\|").replace("\n", " ")


def markdown_table(head, lines, numbers=None):
    """On input cells as text; `numbers`: the columns that are set flush right, by default all but the first."""
    numbers = range(1, len(head)) if numbers is None else numbers
    ruler = ["--:" if column in numbers else "---" for column in range(len(head))]
    cells = [[escaped(cell) for cell in head], ruler, *([escaped(cell) for cell in line] for line in lines)]
    return "\n".join("| " + " | ".join(line) + " |" for line in cells)
