"use strict";
function makeSortable(table) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    while (head.firstChild) button.append(head.firstChild);
    head.append(button);
    button.addEventListener("click", () => {
      const isNumber = head.classList.contains("n");
      const was = head.getAttribute("aria-sort");
      const isDown = was ? was === "ascending" : isNumber;
      const keyOf = row => {
        const cell = row.cells[column];
        if (!isNumber) return cell.textContent;
        return cell.dataset.v === undefined ? -Infinity : Number(cell.dataset.v);
      };
      const compare = isNumber
        ? (a, b) => (a < b ? -1 : a > b ? 1 : 0)
        : (a, b) => a.localeCompare(b);
      const rows = [...body.rows].map(row => [keyOf(row), row]);
      rows.sort((a, b) => (isDown ? compare(b[0], a[0]) : compare(a[0], b[0])));
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", isDown ? "descending" : "ascending");
      for (const [, row] of rows) body.append(row);
    });
  });
}
for (const table of document.querySelectorAll("table.sortable")) makeSortable(table);
// The rank and step under the pointer on a map of them.
for (const map of document.querySelectorAll(".map img")) {
  const [ranks, steps] = [map.dataset.ranks, map.dataset.steps].map(each => JSON.parse(each));
  const at = (values, share) => values[Math.min(values.length - 1, Math.max(0, Math.floor(share * values.length)))];
  map.addEventListener("mousemove", event => {
    const rank = at(ranks, event.offsetY / map.clientHeight), step = at(steps, event.offsetX / map.clientWidth);
    document.querySelector(".said").textContent = "rank " + rank + ", step " + step;
  });
}
addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details")) details.open = true;
});
