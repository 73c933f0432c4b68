# SPDX-License-Identifier: Apache-2.0
"""Makes links between files of the repository links between pages of the site."""
import os

from docutils import nodes
from repository import ROOT, page_of, path_of, target_of
from sphinx.addnodes import download_reference, pending_xref
from sphinx.transforms import SphinxTransform


class RepositoryLinks(SphinxTransform):
    """What myst takes for a link to a page or to a file that can be downloaded, both relative to the file in the repository."""

    default_priority = 100

    def apply(self, **kwargs):
        for node in [each for kind in (pending_xref, download_reference) for each in self.document.findall(kind)]:
            if node.get("reftype") == "myst" and not node["reftarget"].startswith("#"):
                self._lead(node)

    def _lead(self, node):
        link, _, anchor = node["reftarget"].partition("#")
        target = target_of(link, path_of(self.env.docname))
        if not (ROOT / target).exists():
            return  # Sphinx complains of it
        page = os.path.relpath(page_of(target), os.path.dirname(self.env.docname) or ".")
        found = pending_xref(node.rawsource, *node.children, **node.attributes)
        found["refwarn"], found["reftarget"] = True, f"{page}.md#{anchor}" if anchor else page
        found.source, found.line = node.source, node.line
        for part in found.findall(nodes.inline):
            part["classes"] = ["xref", "myst"]
        node.replace_self(found)


def setup(app):
    app.add_transform(RepositoryLinks)
