for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  sortable(table, (compare) => body.append(...[...body.rows].sort(compare)));
  const filter = document.querySelector("input[type=search]");
  filter.addEventListener("input", () => {
    const words = filter.value.toLowerCase().split(/\s+/);
    for (const row of body.rows) row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word));
  });
}

for (const section of document.querySelectorAll(".trend")) {
  const plot = section.querySelector(".plot"), cursor = section.querySelector(".cursor"), readout = section.querySelector(".readout");
  // As they stand before anybody sorts them: in the order of the commits.
  const rows = [...section.querySelectorAll(".runs tbody tr")];
  const heads = [...section.querySelectorAll(".runs th")].map((head) => head.textContent);
  const steps = [...section.querySelectorAll(".step")].map((step) => Number(step.getAttribute("d").slice(1).split(" ")[0]));
  const x = (k) => Number(rows[k].dataset.x);
  let at = rows.length - 1;
  const show = (k) => {
    at = Math.min(Math.max(k, 0), rows.length - 1);
    const text = [...rows[at].cells].map((cell, column) => `${heads[column]} ${cell.textContent}`).join(", ");
    cursor.style.cssText = `display: block; left: ${rows[at].dataset.x}%; top: ${rows[at].dataset.y}%`;
    readout.textContent = text;
    plot.setAttribute("aria-valuenow", at + 1);
    plot.setAttribute("aria-valuetext", text);
  };
  const point = (event) => {
    const box = plot.getBoundingClientRect();
    show(Math.floor((event.clientX - box.left) / box.width * rows.length));
  };
  const step = (way) => {
    const places = rows.map((_, k) => k).filter((k) => steps.some((place) => Math.abs(place - x(k)) < 1e-3));
    const found = way > 0 ? places.find((k) => k > at) : places.reverse().find((k) => k < at);
    show(found ?? (way > 0 ? rows.length - 1 : 0));
  };
  const keys = {ArrowLeft: () => show(at - 1), ArrowRight: () => show(at + 1), Home: () => show(0), End: () => show(rows.length - 1),
                PageUp: () => step(-1), PageDown: () => step(1)};
  plot.addEventListener("pointermove", point);
  plot.addEventListener("pointerdown", point);
  plot.addEventListener("focus", () => show(at));
  plot.addEventListener("keydown", (event) => {
    if (!keys[event.key]) return;
    keys[event.key]();
    event.preventDefault();
  });
}
