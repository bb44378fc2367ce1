// @ts-check
/** The Pool page: fields of the selected strategy, a preview, building. */
import { ask } from "../shared/api.js";
import { element, findAll } from "../shared/elements.js";
import { readForm, splitNumbers } from "../shared/form-values.js";
import { messageOf } from "../shared/text.js";

/** @typedef {import("../types").PoolFacts} PoolFacts */

const form = /** @type {HTMLFormElement|null} */ (document.getElementById("pool"));
const result = /** @type {HTMLElement|null} */ (document.getElementById("result"));
/** Strategies that need no runs. */
const WITHOUT_RUNS = ["qrels", "all"];
/** @type {[keyof PoolFacts, string][]} */
const FACTS = [
  ["pairs", "Pairs"],
  ["topics", "Topics"],
  ["documents_per_topic", "Documents per topic"],
  ["share_of_lists", "Share of all ranked documents"],
  ["new", "New pairs"],
  ["gone", "Removed pairs"],
  ["gone_with_judgments", "Removed pairs with judgments"],
  ["left_out", "Left out"],
];

/** Return the settings of the selected strategy. @param {HTMLFormElement} pool @returns {string[]} */
function listSettings(pool) {
  const select = /** @type {HTMLSelectElement} */ (pool.elements.namedItem("strategy"));
  const own = (select.selectedOptions[0]?.dataset.fields ?? "").split(" ").filter(Boolean);
  return WITHOUT_RUNS.includes(select.value) ? own : [...own, "runs", "seed"];
}

/** @param {HTMLFormElement} pool */
function showFields(pool) {
  const { selectedOptions } = /** @type {HTMLSelectElement} */ (pool.elements.namedItem("strategy"));
  const help = /** @type {HTMLElement} */ (pool.querySelector("#strategy-help"));
  help.textContent = selectedOptions[0]?.dataset.help ?? "";
  const settings = listSettings(pool);
  for (const part of findAll("[data-of]", pool)) {
    part.hidden = !settings.includes(part.dataset.of ?? "");
    for (const input of findAll("input, select", part)) /** @type {HTMLInputElement} */ (input).disabled = part.hidden;
  }
}

/** @param {HTMLFormElement} pool */
function readPool(pool) {
  const values = readForm(pool);
  const settings = /** @type {Record<string, unknown>} */ (values.settings ?? {});
  for (const input of /** @type {HTMLInputElement[]} */ (findAll("[data-numbers]", pool))) {
    const numbers = splitNumbers(input.value).map(Number);
    if (!input.disabled && numbers.length) settings[(input.dataset.numbers ?? "").split(".")[1]] = numbers;
  }
  return { seed: 0, ...values, settings };
}

/** @param {HTMLFormElement} pool @param {string} path @returns {Promise<PoolFacts|null>} null where the server refused */
async function send(pool, path) {
  const line = /** @type {HTMLElement} */ (pool.querySelector(".error-line"));
  const buttons = pool.querySelectorAll("button");
  buttons.forEach((button) => (button.disabled = true));
  line.textContent = "";
  try {
    return await ask(`${pool.dataset.api}${path}`, { method: "POST", body: readPool(pool), seconds: 0 });
  } catch (error) {
    line.textContent = messageOf(error);
    return null;
  } finally {
    buttons.forEach((button) => (button.disabled = false));
  }
}

/** @param {PoolFacts} facts @returns {HTMLElement} */
function factList(facts) {
  const list = element("dl", { class: "facts dense" });
  for (const [name, label] of FACTS) {
    const value = facts[name];
    if (value === undefined || value === null) continue;
    const number = Number(value);
    const text = name === "share_of_lists" ? `${Math.round(number * 100)}%` : number.toLocaleString("en", { maximumFractionDigits: 1 });
    list.append(element("div", {}, element("dt", {}, label), element("dd", {}, text)));
  }
  return list;
}

/** @param {string} name */
const headingOf = (name) => name[0].toUpperCase() + name.slice(1).replaceAll("_", " ");

/** @param {Record<string, string|number>[]} rows @returns {HTMLElement} */
function runTable(rows) {
  const names = Object.keys(rows[0]);
  const head = names.map((name, place) => element("th", { scope: "col", ...(place ? { class: "number" } : {}) }, headingOf(name)));
  const body = rows.map((row) => element("tr", {}, ...names.map((name, place) => (
    place ? element("td", { class: "number" }, Number(row[name]).toLocaleString("en")) : element("td", { class: "mono" }, String(row[name]))
  ))));
  const table = element(
    "table", {},
    element("caption", {}, "Contribution of each run; alone: ranked by no other run"),
    element("thead", {}, element("tr", {}, ...head)),
    element("tbody", {}, ...body),
  );
  return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Contribution of each run" }, table);
}

/** @param {PoolFacts} facts */
function showPreview(facts) {
  if (!result) return;
  const notes = (facts.notes ?? []).map((note) => element("p", { class: "soft small" }, note));
  const table = facts.by_run?.length ? [runTable(facts.by_run)] : [];
  result.className = "card";
  result.hidden = false;
  result.replaceChildren(element("h2", { class: "first" }, "Preview"), factList(facts), ...notes, ...table);
}

if (form) {
  showFields(form);
  form.addEventListener("change", () => showFields(form));
  document.getElementById("preview")?.addEventListener("click", async () => {
    const facts = await send(form, "/pool/preview");
    if (facts) showPreview(facts);
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const question = /** @type {HTMLElement|null} */ (form.querySelector("[type=submit]"))?.dataset.confirm;
    if (question && !window.confirm(question)) return;
    if (await send(form, "/pool")) window.location.reload();
  });
}
