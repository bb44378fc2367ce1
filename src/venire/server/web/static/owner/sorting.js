// @ts-check
/** Tables that are sorted by a click on a heading. */
import { actionButton, findAll } from "../shared/elements.js";

/** Return what a cell is sorted by: a number where it is one; a dash comes last. @param {string} text @returns {number|string} */
export function sortKey(text) {
  if (text === "–") return -Infinity;
  const number = Number(text.replace(/[,%]/g, ""));
  return text !== "" && !Number.isNaN(number) ? number : text;
}

/** @param {number|string} a @param {number|string} b */
export function compareKeys(a, b) {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b), "en", { numeric: true });
}

/** @param {HTMLTableElement} table @param {number} column @param {Element} head */
function sortTable(table, column, head) {
  const isDescending = head.getAttribute("aria-sort") !== "descending";
  for (const other of findAll("th[aria-sort]", table)) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", isDescending ? "descending" : "ascending");
  const body = table.tBodies[0];
  const rows = Array.from(body.rows, (row) => {
    const cell = row.cells[column];
    return { row, key: sortKey(cell.dataset.value ?? cell.textContent?.trim() ?? "") };
  });
  rows.sort((a, b) => (isDescending ? -1 : 1) * compareKeys(a.key, b.key));
  body.append(...rows.map(({ row }) => row));
}

/** Make the headings of all tables with data-sort buttons. */
export function makeSortable() {
  for (const table of findAll("table[data-sort]")) {
    findAll("thead th", table).forEach((head, column) => {
      if (head.querySelector(".unseen") || !head.textContent?.trim()) return;
      const sort = () => sortTable(/** @type {HTMLTableElement} */ (table), column, head);
      head.replaceChildren(actionButton({ class: "sort" }, sort, ...head.childNodes));
    });
  }
}
