"use strict";
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => head.addEventListener("click", () => {
    const ascending = head.getAttribute("aria-sort") !== "ascending";
    const isNumber = head.classList.contains("number") || [...body.rows].every(
        (row) => row.cells[column].dataset.order === "" || Number.isFinite(Number(row.cells[column].dataset.order)));
    const order = (row) => row.cells[column].dataset.order;
    const compare = (one, other) => {
      if (order(one) === "" || order(other) === "") return (order(one) === "") - (order(other) === "");
      const difference = isNumber ? order(one) - order(other) : order(one).localeCompare(order(other));
      return ascending ? difference : -difference;
    };
    body.append(...[...body.rows].sort(compare));
    heads.forEach((each) => each.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", ascending ? "ascending" : "descending");
  }));
  const filter = document.querySelector("input[type=search]");
  filter.addEventListener("input", () => {
    const words = filter.value.toLowerCase().split(/\s+/);
    for (const row of body.rows) row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word));
  });
}
