# SPDX-License-Identifier: Apache-2.0
"""The documentation site: builds without a warning, has no broken link, loads nothing from elsewhere, and can be read and searched
in a real browser, on a phone too."""
import functools
import html.parser
import http.server
import json
import os
import pathlib
import posixpath
import re
import subprocess
import threading
import unittest
import urllib.parse

import browser

ROOT = pathlib.Path(__file__).resolve().parents[2]
SITE = ROOT / "build/site"
PHONE, DESK = 390, 1280  # px
# Words, and a page that search must find with them.
SEARCHES = {"seq_len_max": "/reference/semantics.html", "MISTRUSTED": "/faq.html", "assert_conforms": "/python.html",
            "backgauge_find": "/c.html", "peephole": "/tutorial.html"}
LOADED = {"link": "href", "script": "src", "img": "src", "source": "srcset", "iframe": "src"}


class Page(html.parser.HTMLParser):
    """The ids of a page, what it links to, and what it loads."""

    def __init__(self, path):
        super().__init__()
        self.ids, self.links, self.loaded = set(), [], []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.ids |= {found[name] for name in ("id", "name") if found.get(name)}
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        if found.get(LOADED.get(tag)) and found.get("rel") not in ("index", "search", "next", "prev", "canonical"):
            self.loaded.append(found[LOADED[tag]])


def broken_links(pages):
    """Each link of `pages`, dict of path to Page, that leads to no page, file or id of the site."""
    out = []
    for path, page in pages.items():
        for link in [*page.links, *page.loaded]:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = posixpath.normpath(posixpath.join(posixpath.dirname(path), urllib.parse.unquote(parts.path))) if parts.path else path
            anchor = urllib.parse.unquote(parts.fragment)
            if not (SITE / target).is_file() or (anchor and target in pages and anchor not in pages[target].ids):
                out.append(f"{path}: {link}")
    return out


class Handler(http.server.SimpleHTTPRequestHandler):
    def translate_path(self, path):
        own = urllib.parse.urlsplit(path).path == "/site_probe.html"
        return str(pathlib.Path(__file__).with_name("site_probe.html")) if own else super().translate_path(path)

    def log_message(self, *arguments):
        pass


class SiteTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        environment = {**os.environ, "PATH": f"/usr/bin:{os.environ['PATH']}"}
        done = subprocess.run([ROOT / "ci/site"], env=environment, capture_output=True, text=True, timeout=300)
        if done.returncode == 3:
            raise unittest.SkipTest(done.stderr.strip())
        assert done.returncode == 0, done.stdout + done.stderr
        paths = sorted(str(path.relative_to(SITE)) for path in SITE.rglob("*.html"))
        cls.pages = {path: Page(SITE / path) for path in paths}

    def test_every_document_of_the_repository_has_its_page(self):
        listed = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
        documents = [path for path in listed if "/templates/" not in path]
        expected = {path.removeprefix("reports/site/").removesuffix(".md") + ".html" for path in documents}
        self.assertGreater(len(expected), 40)
        self.assertEqual(expected - self.pages.keys(), set())

    def test_no_link_is_broken(self):
        self.assertGreater(sum(len(page.links) for page in self.pages.values()), 1000)
        self.assertEqual(broken_links(self.pages), [])

    def test_a_broken_link_is_noticed(self):
        page, other = Page(SITE / "index.html"), Page(SITE / "faq.html")
        page.links = ["faq.html", "faq.html#nowhere", "nowhere.html", "https://example.com/", "#nowhere"]
        self.assertEqual(broken_links({"index.html": page, "faq.html": other}),
                         ["index.html: faq.html#nowhere", "index.html: nowhere.html", "index.html: #nowhere"])

    def test_nothing_is_loaded_from_elsewhere(self):
        loaded = {address for page in self.pages.values() for address in page.loaded}
        self.assertGreater(len(loaded), 5)
        self.assertEqual([address for address in loaded if urllib.parse.urlsplit(address).netloc], [])
        for sheet in SITE.rglob("*.css"):
            self.assertNotRegex(sheet.read_text(encoding="utf-8"), r"(url\(|@import)\s*['\"]?(https?:)?//", sheet)

    def test_the_apis_are_complete(self):
        python, c = Page(SITE / "python.html").ids, (SITE / "c.html").read_text(encoding="utf-8")
        import backgauge
        self.assertEqual([name for name in backgauge.__all__ if f"backgauge.{name}" not in python], [])
        for said in ("backgauge_op_claims", "dropout_has_state", "BACKGAUGE_FP32_3XTF32", "same call, same bits",
                     "Elements of a tensor whose shape has been validated", "backgauge_cpu_refusal"):
            self.assertIn(said, c)
        # Code in a docstring keeps its lines.
        self.assertIn("import strategies\n\n\n@given", re.sub(r"<[^>]*>", "", (SITE / "python.html").read_text(encoding="utf-8")))
        command = (SITE / "command.html").read_text(encoding="utf-8")
        for name in ("verify", "oracle", "museum", "compare"):
            self.assertIn(f'id="backgauge-{name}"', command)

    def test_every_schema_has_its_row(self):
        """On the page that says what stays the same."""
        sources = subprocess.run(["git", "grep", "-hoE", r"backgauge\.[a-z.-]+/[0-9]+", "--", ":!*test*", ":!*.md"], cwd=ROOT,
                                 capture_output=True, text=True, check=True).stdout.split()
        self.assertGreater(len(set(sources)), 10)
        stated = (ROOT / "reports/site/stability.md").read_text(encoding="utf-8")
        self.assertEqual(sorted(schema for schema in set(sources) if f"`{schema}`" not in stated), [])

    def seen(self, width, words=()):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=SITE))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        # The page of the search is empty until there are words to search for.
        pages = [path for path in self.pages if path != "search.html"]
        wish = {"width": width, "pages": pages, "words": list(words)}
        address = f"http://127.0.0.1:{server.server_port}/site_probe.html#{urllib.parse.quote(json.dumps(wish))}"
        found = browser.findings(address)
        self.assertEqual(found["pages"], len(pages))
        self.assertFalse(found["wrong"], "\n".join(f"{page}: {'; '.join(wrong)}" for page, wrong in found["wrong"].items()))
        return found

    @unittest.skipUnless(browser.CHROMIUM, "no chromium on PATH, and BACKGAUGE_CHROMIUM is not set")
    def test_can_be_read_on_a_phone(self):
        self.seen(PHONE)

    @unittest.skipUnless(browser.CHROMIUM, "no chromium on PATH, and BACKGAUGE_CHROMIUM is not set")
    def test_can_be_read_and_searched_on_a_desk(self):
        found = self.seen(DESK, SEARCHES)["found"]
        for words, page in SEARCHES.items():
            self.assertIn(page, found[words], words)


if __name__ == "__main__":
    unittest.main()
