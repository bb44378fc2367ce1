// @ts-check
/** The Pool page: fields of the chosen strategy, a preview, building. */
import { ask } from "./api.js";
import { element } from "./document.js";
import { values } from "./forms.js";

const form = /** @type {HTMLFormElement|null} */ (document.getElementById("pool"));
const result = /** @type {HTMLElement|null} */ (document.getElementById("result"));

/** @returns {string[]} */
function fields() {
  const select = /** @type {HTMLSelectElement} */ (form?.elements.namedItem("strategy"));
  const own = (select.selectedOptions[0]?.dataset.fields ?? "").split(" ").filter(Boolean);
  return ["qrels", "all"].includes(select.value) ? own : [...own, "runs", "seed"];
}

function follow() {
  const wanted = fields();
  for (const part of form?.querySelectorAll("[data-of]") ?? []) {
    const one = /** @type {HTMLElement} */ (part);
    one.hidden = !wanted.includes(one.dataset.of ?? "");
    for (const input of one.querySelectorAll("input, select")) /** @type {HTMLInputElement} */ (input).disabled = one.hidden;
  }
}

function choice() {
  const found = /** @type {any} */ (values(/** @type {HTMLFormElement} */ (form)));
  found.settings ??= {};
  for (const one of form?.querySelectorAll("[data-numbers]") ?? []) {
    const input = /** @type {HTMLInputElement} */ (one);
    const numbers = input.value.split(/[\s,;]+/).filter(Boolean).map(Number);
    if (!input.disabled && numbers.length) found.settings[(input.dataset.numbers ?? "").split(".")[1]] = numbers;
  }
  if (found.seed === undefined) found.seed = 0;
  return found;
}

/** @param {string} path @returns {Promise<any>} */
async function send(path) {
  const line = /** @type {HTMLElement} */ (form?.querySelector(".error-line"));
  const buttons = form?.querySelectorAll("button") ?? [];
  buttons.forEach((button) => (button.disabled = true));
  line.textContent = "";
  try {
    return await ask(`${form?.dataset.api}${path}`, { method: "POST", body: choice(), seconds: 0 });
  } catch (error) {
    line.textContent = error instanceof Error ? error.message : String(error);
    return null;
  } finally {
    buttons.forEach((button) => (button.disabled = false));
  }
}

/** @param {any} facts @param {string} title */
function show(facts, title) {
  if (!result) return;
  const list = element("dl", { class: "facts dense" });
  const named = { pairs: "Pairs", topics: "Topics", documents_per_topic: "Documents a topic", share_of_lists: "Share of all ranks", new: "New", gone: "Leave the pool", gone_with_judgments: "of these judged already", left_out: "Left out" };
  for (const [name, label] of Object.entries(named)) {
    const value = facts[name];
    if (value === undefined || value === null) continue;
    const text = name === "share_of_lists" ? `${Math.round(value * 100)}%` : Number(value).toLocaleString("en", { maximumFractionDigits: 1 });
    list.append(element("div", {}, element("dt", {}, label), element("dd", {}, text)));
  }
  const parts = [element("h2", { class: "first" }, title), list];
  for (const note of facts.notes ?? []) parts.push(element("p", { class: "soft small" }, note));
  if (facts.by_run?.length) parts.push(table(facts.by_run));
  result.className = "card";
  result.hidden = false;
  result.replaceChildren(...parts);
}

/** @param {any[]} rows */
function table(rows) {
  const names = Object.keys(rows[0]);
  const head = element("tr", {}, ...names.map((name, at) => element("th", { scope: "col", ...(at ? { class: "number" } : {}) }, name)));
  const body = rows.map((row) => element("tr", {}, ...names.map((name, at) => element("td", at ? { class: "number" } : { class: "mono" }, at ? Number(row[name]).toLocaleString("en") : row[name]))));
  return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "By run" }, element("table", {}, element("caption", {}, "What each run gives; alone: ranked by no other run"), element("thead", {}, head), element("tbody", {}, ...body)));
}

if (form) {
  follow();
  form.addEventListener("change", follow);
  document.getElementById("preview")?.addEventListener("click", async () => {
    const facts = await send("/pool/preview");
    if (facts) show(facts, "This would be chosen");
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const words = /** @type {HTMLElement|null} */ (form.querySelector("[type=submit]"))?.dataset.confirm;
    if (words && !window.confirm(words)) return;
    if (await send("/pool")) window.location.reload();
  });
}
