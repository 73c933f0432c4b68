# SPDX-License-Identifier: Apache-2.0
"""Maps files of the repository to pages of the site.

A page is named by its docname, as Sphinx calls it: the path of its address without `.html`. A Markdown file keeps its path,
any other file has a page of its path with its name in full, a folder is its README or else a list of its files. The pages of
this folder are at the top of the site.
"""
import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
SITE = "reports/site"
_LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")
_PICTURE = re.compile(r"(?:src|srcset)=\"([^\":]+)\"")


def files():
    """Every file of the repository, those that git ignores left out."""
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True,
                            capture_output=True, text=True).stdout.splitlines()
    return sorted(path for path in listed if (ROOT / path).is_file())


def is_document(path):
    """Markdown to be read; a template is filled in by a program."""
    return path.endswith(".md") and "/templates/" not in path


def page_of(path):
    """The docname of the page for `path`, a file or folder relative to the root of the repository."""
    if (ROOT / path).is_dir():
        readme = os.path.join(path, "README.md")
        path = readme if (ROOT / readme).is_file() else os.path.join(path, "index.md")
    if path.endswith(".md"):
        path = path.removesuffix(".md")
        return os.path.basename(path) if os.path.dirname(path) == SITE else path
    return path


def path_of(page):
    """The Markdown file that is shown as `page`, or would be if there were one."""
    own = f"{SITE}/{page}.md"
    return own if (ROOT / own).is_file() else f"{page}.md"


def target_of(link, path):
    """What a link in the file `path` leads to, relative to the root of the repository."""
    return os.path.normpath(os.path.join(os.path.dirname(path), link))


def links(path):
    """The files and folders that the Markdown file `path` links to."""
    return [target_of(link, path) for link in _LINK.findall((ROOT / path).read_text(encoding="utf-8"))]


def pictures(path):
    """The pictures that the Markdown file `path` shows with HTML."""
    return [target_of(link, path) for link in _PICTURE.findall((ROOT / path).read_text(encoding="utf-8"))]
