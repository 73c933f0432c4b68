for (const table of document.querySelectorAll("table.folded")) {
  const bodies = () => [...table.tBodies];
  const rows = (body) => [...body.rows].slice(1);
  const open = (body, is) => {
    body.classList.toggle("closed", !is);
    body.querySelector("button").setAttribute("aria-expanded", String(is));
  };
  bodies().forEach((body) => {
    open(body, false);
    body.rows[0].addEventListener("click", () => open(body, body.classList.contains("closed")));
  });
  const openTarget = () => {
    const body = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (body && body.tagName === "TBODY") open(body, true);
  };
  window.addEventListener("hashchange", openTarget);
  openTarget();
  document.querySelector(".open-all").addEventListener("click", () => {
    const is = bodies().some((body) => body.classList.contains("closed"));
    bodies().forEach((body) => open(body, is));
  });

  sortable(table, (compare) => {
    bodies().forEach((body) => body.append(...rows(body).sort(compare)));
    // A workload stands where its first row does.
    table.append(...bodies().sort((one, other) => compare(rows(one)[0], rows(other)[0])));
  });

  const filter = document.querySelector("input[type=search]");
  filter.addEventListener("input", () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const body of bodies()) {
      const about = body.rows[0].textContent.toLowerCase();
      for (const row of rows(body)) {
        const text = about + row.textContent.toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
      }
      body.hidden = rows(body).every((row) => row.hidden);
      open(body, words.length > 0 && !body.hidden);
    }
  });
}
