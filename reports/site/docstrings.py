# SPDX-License-Identifier: Apache-2.0
"""Docstrings of this repository as reStructuredText, which autodoc reads.

They are plain text: arguments at the margin, each with what it is in a column of its own; code indented, or between
backticks."""
import re

_NAMES = re.compile(r"\w+(, \w+)*$")
_ENTRY = re.compile(r"\w+(?:, \w+)*  +(?=\S)")


def _inline(lines):
    """A paragraph as one line. What is between backticks is code, and all else means itself."""
    parts = re.split(r"`([^`]+)`", " ".join(line.strip() for line in lines))
    for k, part in enumerate(parts):
        follows = parts[k + 1][:1] if k + 1 < len(parts) else ""
        parts[k] = f"``{part}``" + ("\\ " if follows.isalnum() else "") if k % 2 else re.sub(r"([*_|\\])", r"\\\1", part)
    return "".join(parts)


def _column(block):
    """The column at which the explanations of a block of arguments begin; 0 if it is not such a block."""
    entry = next(filter(None, map(_ENTRY.match, block)), None)
    if entry:
        return entry.end()
    indented = [len(line) - len(line.lstrip()) for line in block[1:] if line.startswith(" ")]
    return indented[0] if indented and _NAMES.match(block[0]) else 0


def _entry_names(line, column):
    """The arguments that a line explains, and how its explanation begins; None if it begins none."""
    if column and _NAMES.match(line):
        return line, ""
    names = line[:column].rstrip()
    if column and line[column - 1 : column] == " " and _NAMES.match(names):
        return names, line[column:]
    return None


def _paragraphs(block):
    """Pairs of the arguments, "" for text that is about none, and the lines about them."""
    column, out = _column(block), []
    for line in block:
        entry = _entry_names(line, column)
        if entry:
            out.append((entry[0], [entry[1]]))
        elif out and (line.startswith(" ") or not out[-1][0]):
            out[-1][1].append(line)
        else:
            out.append(("", [line]))
    return out


def as_restructured_text(lines):
    out, blocks = [], re.split(r"\n\s*\n", "\n".join(lines).strip("\n"))
    for block in (text.splitlines() for text in blocks if text.strip()):
        if all(line.startswith("    ") for line in block):
            out += ["::", "", *block, ""]
            continue
        for names, text in _paragraphs(block):
            out += [", ".join(f"``{name}``" for name in names.split(", ")), "    " + _inline(text), ""] if names else [_inline(text), ""]
    return out


def _rewrite(app, what, name, thing, options, lines):
    # autodoc has taken away the margin that all lines but the first have in common. That of a module may be code alone.
    lines[:] = as_restructured_text(thing.__doc__.splitlines() if what == "module" else lines)


def _public(app, env, node, contnode):
    """A class of the package is documented as backgauge.Name, wherever it is defined."""
    name = "backgauge." + node.get("reftarget", "").rpartition(".")[2]
    python = env.get_domain("py")
    if node.get("refdomain") != "py" or name not in python.objects or not node["reftarget"].startswith("backgauge."):
        return None
    return python.resolve_xref(env, node["refdoc"], app.builder, "class", name, node, contnode)


def setup(app):
    app.connect("autodoc-process-docstring", _rewrite)
    app.connect("missing-reference", _public)
