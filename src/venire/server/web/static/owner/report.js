// @ts-check
/** The report of an import: what was read, what was left out and why. */
import { element } from "../shared/elements.js";
import { formatNumber } from "../shared/text.js";

/** @typedef {import("../types").ImportRow} ImportRow */
/** @typedef {"added"|"changed"|"unchanged"|"left_out"} CountName */

/** @type {CountName[]} */
const STORED = ["added", "changed", "unchanged"];
const COUNT_LABELS = { added: "added", changed: "changed", unchanged: "unchanged", left_out: "left out" };
/** A run or a file of qrels is stored whole: it is new, changed or unchanged. */
const WHOLE_FILES = ["run", "qrels"];

/** @param {ImportRow} row */
const isStored = (row) => STORED.some((name) => row[name]);

/** Return the counts of a row as text. @param {ImportRow} row */
export function describeCounts(row) {
  const isWhole = WHOLE_FILES.includes(row.kind ?? "");
  const read = typeof row.rows === "number" ? row.rows : row.read;
  const parts = read ? [`${formatNumber(read)} read`] : [];
  for (const name of /** @type {CountName[]} */ ([...STORED, "left_out"])) {
    const count = row[name];
    if (!count) continue;
    if (isWhole && name !== "left_out") parts.push(name === "added" ? "new" : COUNT_LABELS[name]);
    else parts.push(`${formatNumber(count)} ${COUNT_LABELS[name]}`);
  }
  return parts.join(", ") || "nothing new";
}

/** @param {ImportRow} row @returns {HTMLElement} */
function listItem(row) {
  const name = row.what ?? row.kind ?? "";
  const reason = row.reason ? ` (${row.reason})` : "";
  const label = /[./]/.test(name) ? name : name.charAt(0).toUpperCase() + name.slice(1);
  return element("li", {}, element("strong", {}, label), ` ${row.name ?? ""}: `.replace(" :", ":"), describeCounts(row), reason);
}

/** @param {string} title @param {ImportRow[]} rows @returns {Node[]} */
function listSection(title, rows) {
  if (!rows.length) return [];
  return [element("h3", {}, title), element("ul", { class: "plainlist" }, ...rows.map(listItem))];
}

/**
 * Show the report of an import beside its form.
 * @param {HTMLFormElement} form
 * @param {import("../types").ImportReport} answer
 */
export function showReport(form, answer) {
  const box = form.closest(".card")?.querySelector(".report") ?? form;
  const { rows } = answer;
  const lists = Array.isArray(rows)
    ? [...listSection("Read", rows.filter((row) => !isStored(row))), ...listSection("Stored in the study", rows.filter(isStored))]
    : listSection("Read", [/** @type {ImportRow} */ (answer)]);
  const notes = element("ul", { class: "small" }, ...(answer.notes ?? []).map((note) => element("li", {}, note)));
  const link = element("a", { class: "button", href: answer.next ?? location.href }, answer.next ? "Open the study" : "Show the data");
  if (!answer.next) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      location.reload();
    });
  }
  box.replaceChildren(...lists, notes, link);
}
