# SPDX-License-Identifier: Apache-2.0
"""Pages in a real browser: Chromium without a screen.

Its windows are never narrower than 500 pixels, whatever --window-size says. So a page for a phone is looked at in a frame. Several frames
share one start, which takes longer than most pages.
"""

import html
import json
import os
import pathlib
import re
import shutil
import subprocess

CHROMIUM = os.environ.get("BACKGAUGE_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
_DARK, _LIGHT = 0, 1  # blink::mojom::PreferredColorScheme

# Runs after the page's own script, when everything is loaded; what it leaves in `found` is what in_frames() returns.
_PROBE = """
  const found = {
    charts: [...document.querySelectorAll("figure [role=img]")].map((chart) => {
      const drawn = [...chart.querySelectorAll("svg")].filter((svg) => svg.getBoundingClientRect().width > 0);
      const svg = drawn[0], box = svg.getBoundingClientRect();
      const texts = [...svg.querySelectorAll("text")].map((text) => {
        const place = text.getBoundingClientRect();
        // An SVG is scaled as a whole, and its texts with it.
        const size = parseFloat(getComputedStyle(text).fontSize) * box.width / svg.viewBox.baseVal.width;
        return {text: text.textContent, size, left: place.left, right: place.right, top: place.top, bottom: place.bottom};
      });
      const mark = svg.querySelector("defs path");
      return {name: chart.getAttribute("aria-label"), shown: drawn.length, left: box.left, right: box.right, top: box.top,
              bottom: box.bottom, texts, color: mark ? getComputedStyle(mark).stroke : ""};
    }),
    smallest: Math.min(...[...document.querySelectorAll("body *")].filter((each) => !each.closest("svg") && each.offsetParent &&
        [...each.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent.trim()))
        .map((each) => parseFloat(getComputedStyle(each).fontSize))),
    header: document.querySelector("header").innerText,
    height: document.documentElement.scrollHeight,
    background: getComputedStyle(document.body).backgroundColor,
    columns: {}, width: window.innerWidth, overflow: document.documentElement.scrollWidth - window.innerWidth};
  const table = document.querySelector("table.folded");
  if (table) {
    const rows = () => [...table.tBodies].flatMap((body) => [...body.rows].slice(1));
    const isOpen = (row) => row.getBoundingClientRect().height > 0;
    const column = (k) => [...table.tBodies].map((body) => [...body.rows].slice(1).map((row) => row.cells[k].dataset.order));
    found.folded = rows().filter(isOpen).length;
    document.querySelector(".open-all").click();
    found.opened = rows().filter(isOpen).length;
    [...table.tHead.rows[0].cells].forEach((head, k) => {
      head.querySelector("button").click();
      const up = column(k);
      head.querySelector("button").click();
      found.columns[head.textContent] = {up, down: column(k), sort: head.getAttribute("aria-sort")};
    });
    const filter = document.querySelector("input[type=search]");
    filter.value = "onednn";
    filter.dispatchEvent(new Event("input"));
    found.filtered = rows().filter(isOpen).map((row) => row.cells[0].textContent);
  }
"""

# The page around the frames. Each frame is as high as its page, so that a picture shows all of it.
_HOST = """<!DOCTYPE html>
<meta charset="utf-8">
<style>body { margin: 0; display: flex; align-items: flex-start; } iframe { border: 0; flex: none; }</style>
<pre id="probe" hidden>{}</pre>
<script>
const all = {}, probe = document.getElementById("probe");
addEventListener("message", ({data: [name, found, height]}) => {
  all[name] = found;
  document.getElementsByName(name)[0].height = height;
  probe.textContent = JSON.stringify(all);
});
</script>
"""


DESK, PHONE = 1280, 390  # pixels


def _run(page, dark, *options, width=DESK, height=3000):
    address = page if "://" in str(page) else pathlib.Path(page).as_uri()
    scheme = f"--blink-settings=preferredColorScheme={_DARK if dark else _LIGHT}"
    return subprocess.run(
        [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--enable-logging=stderr",
         "--virtual-time-budget=10000", f"--window-size={width},{height}", scheme, *options, address],
        capture_output=True, text=True, timeout=240, check=True)


def complaints(page, dark=False):
    """What the page's scripts and pictures complain of on the console."""
    return _complaints_in(_run(page, dark, "--dump-dom").stderr)


def _complaints_in(log):
    return re.findall(r':CONSOLE[^\]]*\] "(.*)", source', log)


def in_frames(pages, script, folder, dark=False, height=3000, picture=None):
    """{name: what the loaded page looks like to `script`, which leaves it in `found`}, and what all of them complain of.

    pages: {name: (its text, its width)}. picture: a PNG of all pages in a row, up to a height."""
    def framed(name, text, width):
        last = (f'<script>window.addEventListener("load", () => {{ {script}\n'
                f"parent.postMessage([{json.dumps(name)}, found, document.documentElement.scrollHeight], '*'); }});</script>")
        page = text.replace("</body>", last + "</body>")
        return f'<iframe name="{html.escape(name)}" width="{width}" height="{height}" srcdoc="{html.escape(page)}"></iframe>'

    host = pathlib.Path(folder) / "frames.html"
    host.write_text(_HOST + "".join(framed(name, *page) for name, page in pages.items()), encoding="utf-8")
    options = ["--dump-dom", *([f"--screenshot={picture}"] if picture else [])]
    done = _run(host, dark, *options, width=sum(width for _, width in pages.values()), height=height)
    return _probed(done), _complaints_in(done.stderr)


def probe(page, folder, dark=False, widths=(DESK, PHONE)):
    """[what the loaded page looks like to _PROBE] at each width, with the complaints of all."""
    text = pathlib.Path(page).read_text(encoding="utf-8")
    found, complained = in_frames({str(width): (text, width) for width in widths}, _PROBE, folder, dark)
    return [found[str(width)] | {"complaints": complained} for width in widths]


def findings(address):
    """What the script of the page at `address` has left as JSON in its element `probe`; it has ten minutes of its own clock."""
    return _probed(_run(address, False, "--dump-dom", "--virtual-time-budget=600000"))


def _probed(done):
    found = re.search(r'<pre id="probe"[^>]*>(.*?)</pre>', done.stdout, re.DOTALL).group(1)
    return json.loads(found.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))


def screenshot(page, out, dark=False, width=DESK, height=3000):
    _run(page, dark, f"--screenshot={out}", width=width, height=height)
    return out
