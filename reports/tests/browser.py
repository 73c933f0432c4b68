# SPDX-License-Identifier: Apache-2.0
"""Pages in a real browser: Chromium without a screen."""

import json
import os
import pathlib
import re
import shutil
import subprocess

CHROMIUM = os.environ.get("BACKGAUGE_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
_DARK, _LIGHT = 0, 1  # blink::mojom::PreferredColorScheme

# Runs after the page's own script, when everything is loaded; what it finds stands in the dumped page.
_PROBE = """
<script>
window.addEventListener("load", () => {
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
    columns: {}, overflow: document.documentElement.scrollWidth - window.innerWidth};
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
  const out = document.createElement("pre");
  out.id = "probe";
  out.textContent = JSON.stringify(found);
  document.body.append(out);
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


def probe(page, folder, dark=False, width=DESK):
    """What the loaded page looks like to a script, see _PROBE; its complaints too, which cost no second start."""
    copy = pathlib.Path(folder) / "probe.html"
    copy.write_text(pathlib.Path(page).read_text(encoding="utf-8").replace("</body>", _PROBE + "</body>"), encoding="utf-8")
    done = _run(copy, dark, "--dump-dom", width=width)
    return _probed(done) | {"complaints": _complaints_in(done.stderr)}


def findings(address):
    """What the script of the page at `address` has left as JSON in its element `probe`; it has ten minutes of its own clock."""
    return _probed(_run(address, False, "--dump-dom", "--virtual-time-budget=600000"))


def _probed(done):
    found = re.search(r'<pre id="probe">(.*?)</pre>', done.stdout, re.DOTALL).group(1)
    return json.loads(found.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))


def screenshot(page, out, dark=False, width=DESK, height=3000):
    _run(page, dark, f"--screenshot={out}", width=width, height=height)
    return out
