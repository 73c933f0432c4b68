# SPDX-License-Identifier: Apache-2.0
"""Writes what Sphinx reads: stage.py FOLDER

    FOLDER/pages      the Markdown files, and a page for each source file and folder that they link to
    FOLDER/pictures   the pictures that they show with HTML
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

from pygments.lexers import get_lexer_for_filename, guess_lexer
from pygments.util import ClassNotFound
from repository import ROOT, SITE, files, is_document, links, page_of, pictures

# Not in the navigation. The search would find a word of the code more often in sources than in what explains it.
_ASIDE = "---\norphan: true\nnosearch: true\n---\n"


def source_page(path):
    text = (ROOT / path).read_text(encoding="utf-8")
    try:
        language = get_lexer_for_filename(path).aliases[0]
    except ClassNotFound:
        language = guess_lexer(text).aliases[0] if text.startswith("#!") else "text"
    # As in Markdown, a header is C++ unless it is one of those for C.
    language = "cpp" if path.endswith((".h", ".inc")) else language
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{_ASIDE}# `{path}`\n\n{fence}{language}\n{text}{fence}\n"


def folder_page(path, members):
    rows = "".join(f"- [`{os.path.relpath(member, path)}`]({os.path.relpath(member, path)})\n" for member in members)
    return f"{_ASIDE}# `{path}/`\n\n{rows}"


def children(readme, documents):
    """The Markdown files below the folder of a README that are not below another one."""
    folder = os.path.dirname(readme)

    def nearest(path):
        above = pathlib.PurePath(path).parent if os.path.basename(path) != "README.md" else pathlib.PurePath(path).parent.parent
        while above != above.parent and f"{above}/README.md" not in documents:
            above = above.parent
        return str(above)

    return [path for path in documents if path != readme and nearest(path) == folder and os.path.dirname(path) != SITE]


def document(path, documents):
    """A Markdown file of the repository. A README leads to the documents below it."""
    text = (ROOT / path).read_text(encoding="utf-8")
    below = children(path, documents) if os.path.basename(path) == "README.md" and "/" in path else []
    if below:
        entries = "".join(f"/{page_of(child)}\n" for child in below)
        text += f"\n```{{toctree}}\n:hidden:\n{entries}```\n"
    return text


def all_pages(every):
    """dict of docname to text."""
    documents = list(filter(is_document, every))
    out = {page_of(path): document(path, documents) for path in documents}
    waiting = [target for path in documents for target in links(path)]
    while waiting:
        path = waiting.pop()
        page = page_of(path)
        if page in out or not (ROOT / path).exists():
            continue  # what is missing, Sphinx complains of
        if (ROOT / path).is_dir():
            members = [each for each in every if each.startswith(path + "/")]
            out[page] = folder_page(path, members)
            waiting += members
        else:
            out[page] = source_page(path)
    return out


def program():
    """The built command: $BACKGAUGE_COMMAND, or that of a build tree; None if there is none."""
    places = [os.environ.get("BACKGAUGE_COMMAND"), *(ROOT / "build" / preset / "ci/backgauge" for preset in ("release", "dev"))]
    return next((str(place) for place in places if place and os.access(place, os.X_OK)), None)


def help_of_all():
    """The help of every subcommand, as Markdown."""
    command = program()
    if command is None:
        return "The command was not built when this site was: `ci/verify`, then `ci/site`.\n"

    def section(title, *words):
        text = subprocess.run([command, "help", *words], check=True, capture_output=True, text=True).stdout
        return text, f"## `{title}`\n\n```text\n{text}```\n\n"

    overview, out = section("backgauge")
    listed = overview.partition("\nSubcommands:\n")[2].partition("\n\n")[0]
    return out + "".join(section(f"backgauge {name}", name)[1] for name in (line.split()[0] for line in listed.splitlines()))


def write(folder, name, text):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def main(folder):
    shutil.rmtree(folder, ignore_errors=True)
    every = files()
    for page, text in all_pages(every).items():
        write(folder / "pages", page + ".md", text)
    write(folder / "pages", "generated/help.md", help_of_all())
    for path in (picture for document in filter(is_document, every) for picture in pictures(document)):
        (folder / "pictures" / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, folder / "pictures" / path)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(f"usage: {SITE}/stage.py FOLDER")
    main(pathlib.Path(sys.argv[1]).resolve())
