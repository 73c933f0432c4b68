"use strict";
// A click on a heading of `table` calls reorder(compare): compare(one, other) orders two rows by that column.
const sortable = (table, reorder) => {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => head.addEventListener("click", () => {
    const ascending = head.getAttribute("aria-sort") !== "ascending", isNumber = head.classList.contains("number");
    const order = (row) => row.cells[column].dataset.order;
    // What has no value stands last, either way.
    reorder((one, other) => {
      if (order(one) === "" || order(other) === "") return (order(one) === "") - (order(other) === "");
      const difference = isNumber ? order(one) - order(other) : order(one).localeCompare(order(other));
      return ascending ? difference : -difference;
    });
    heads.forEach((each) => each.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", ascending ? "ascending" : "descending");
  }));
};
