// @ts-check
/** What several owner pages do: secrets shown once, reports, sorting, jobs that are watched. */
import { ask } from "./api.js";
import { element } from "./document.js";
import { keepTyped, restoreTyped } from "./kept.js";

document.addEventListener("sent", (event) => {
  const form = /** @type {HTMLFormElement} */ (event.target);
  const answer = /** @type {CustomEvent} */ (event).detail;
  if (form.dataset.secret) {
    event.preventDefault();
    secret(form, answer[form.dataset.secret]);
  } else if (form.dataset.report !== undefined) {
    event.preventDefault();
    report(form, answer);
  } else if (form.dataset.said) {
    event.preventDefault();
    say(form, form.dataset.said);
  }
});

/** @param {HTMLFormElement} form @param {string} text */
function secret(form, text) {
  const box = /** @type {HTMLElement} */ (form.querySelector("[data-once]"));
  const input = /** @type {HTMLInputElement} */ (box.querySelector("input"));
  box.hidden = false;
  input.value = text;
  input.focus();
  input.select();
}

/** @param {HTMLFormElement} form @param {string} text */
function say(form, text) {
  form.querySelector(".said")?.remove();
  const line = element("p", { class: "said", role: "status" }, text);
  form.append(line);
  if (form.querySelector("input[type=password]")) form.reset();
}

/** What was read, and what was left out and why. @param {HTMLFormElement} form @param {any} answer */
function report(form, answer) {
  const box = form.closest(".card")?.querySelector(".report") ?? form;
  const rows = answer.rows ?? [answer];
  const stored = (/** @type {any} */ row) => ["added", "changed", "unchanged"].some((name) => row[name]);
  const lists = answer.rows
    ? [...listed("What was read", rows.filter((/** @type {any} */ row) => !stored(row))), ...listed("What is in the study now", rows.filter(stored))]
    : listed("What was read", rows);
  const notes = element("ul", { class: "small" });
  for (const note of answer.notes ?? []) notes.append(element("li", {}, note));
  const go = element("a", { class: "button", href: answer.next ?? location.href }, answer.next ? "Open the study" : "Show it");
  if (!answer.next) go.addEventListener("click", (event) => { event.preventDefault(); location.reload(); });
  box.replaceChildren(...lists, notes, go);
}

/** @param {string} title @param {any[]} rows @returns {Node[]} */
function listed(title, rows) {
  if (!rows.length) return [];
  return [element("h3", {}, title), element("ul", { class: "plainlist" }, ...rows.map((row) => element("li", {}, ...sentence(row))))];
}

/** @param {any} row @returns {(Node|string)[]} */
function sentence(row) {
  const number = (/** @type {number} */ value) => value.toLocaleString("en");
  const read = row.rows ?? row.read;
  const counts = ["added", "changed", "unchanged", "left_out"]
    .filter((name) => row[name])
    .map((name) => (/^(run|qrels) /.test(row.what ?? "") ? name.replace("added", "new") : `${number(row[name])} ${name.replace("_", " ")}`));
  const words = [read ? `${number(read)} read` : "", ...counts].filter(Boolean).join(", ") || "nothing new";
  return [element("strong", {}, row.what ?? row.kind), ` ${row.name ?? ""} `, words, row.reason ? `: ${row.reason}` : ""];
}

document.addEventListener("click", (event) => {
  const target = /** @type {HTMLElement} */ (event.target);
  const copy = /** @type {HTMLElement|null} */ (target.closest("[data-copy]"));
  if (copy) {
    const input = /** @type {HTMLInputElement} */ (document.getElementById(copy.dataset.copy ?? ""));
    input.select();
    void (navigator.clipboard?.writeText(input.value) ?? Promise.reject())
      .catch(() => document.execCommand("copy"))
      .then(() => (copy.textContent = "Copied"));
  }
});

/** Tables that sort by a click on a heading. */
for (const table of document.querySelectorAll("table[data-sort]")) {
  table.querySelectorAll("thead th").forEach((head, column) => {
    if (head.querySelector(".unseen") || !head.textContent?.trim()) return;
    const words = Array.from(head.childNodes);
    const button = element("button", { type: "button", class: "sort" }, ...words);
    head.replaceChildren(button);
    button.addEventListener("click", () => sort(/** @type {HTMLTableElement} */ (table), column, head));
  });
}

/** @param {HTMLTableElement} table @param {number} column @param {Element} head */
function sort(table, column, head) {
  const down = head.getAttribute("aria-sort") !== "descending";
  table.querySelectorAll("th[aria-sort]").forEach((other) => other.removeAttribute("aria-sort"));
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  const body = table.tBodies[0];
  const rows = Array.from(body.rows).map((row) => ({ row, key: key(row.cells[column]) }));
  rows.sort((a, b) => (down ? -1 : 1) * compare(a.key, b.key));
  body.append(...rows.map(({ row }) => row));
}

/** @param {HTMLTableCellElement} cell @returns {number|string} */
function key(cell) {
  const text = cell.dataset.value ?? cell.textContent?.trim() ?? "";
  if (text === "–") return -Infinity;
  const number = Number(text.replace(/[,%]/g, ""));
  return text !== "" && !Number.isNaN(number) ? number : text;
}

/** @param {number|string} a @param {number|string} b */
function compare(a, b) {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b), "en", { numeric: true });
}

/** Jobs that run are looked at every second; the page is loaded anew when one has ended. */
for (const box of document.querySelectorAll("[data-job]")) void watch(/** @type {HTMLElement} */ (box));

/** @param {HTMLElement} box */
async function watch(box) {
  const bar = /** @type {HTMLProgressElement} */ (box.querySelector("progress"));
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 1000));
    if (document.hidden) continue;
    try {
      const job = await ask(box.dataset.job ?? "");
      if (!["waiting", "running"].includes(job.state)) {
        keepTyped();
        return location.reload();
      }
      /** @type {HTMLElement} */ (box.querySelector("[data-state]")).textContent = job.state === "running" ? "Runs" : "Waits for a worker";
      /** @type {HTMLElement} */ (box.querySelector("[data-message]")).textContent = job.total ? `${job.message} · ${job.done.toLocaleString("en")} of ${job.total.toLocaleString("en")}` : job.message;
      if (job.total) { bar.max = job.total; bar.value = job.done; } else bar.removeAttribute("value");
    } catch { /* the server is away; ask again */ }
  }
}

/** The settings of the model that is chosen. */
const model = /** @type {HTMLSelectElement|null} */ (document.querySelector("[data-model]"));
model?.addEventListener("change", () => {
  for (const set of document.querySelectorAll("fieldset[data-for-model]")) {
    const one = /** @type {HTMLFieldSetElement} */ (set);
    one.hidden = one.disabled = one.dataset.forModel !== model.value;
  }
});

restoreTyped();

/* On a narrow screen the tab one is on may be out of sight. */
document.querySelector(".tabs [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
