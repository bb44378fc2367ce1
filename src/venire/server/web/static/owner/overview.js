// @ts-check
/** The overview keeps itself up to date: values change in place, nothing moves. */
import { ask } from "../shared/api.js";
import { element, findAll } from "../shared/elements.js";
import { labelOf } from "../shared/labels.js";
import { formatValue } from "./overview-values.js";

const box = /** @type {HTMLElement} */ (document.querySelector("[data-overview]"));
const EVERY = 10_000;

/** @param {HTMLElement|null} part @param {import("../types").Progress} row */
function fill(part, row) {
  if (!part) return;
  for (const field of findAll("[data-field]", part)) {
    const text = formatValue(readPath(row, field.dataset.field ?? ""), field.dataset.as ?? "");
    if (field.textContent !== text) field.textContent = text;
    const interval = field.parentElement;
    if (interval?.hidden && text !== "–") interval.hidden = false;
  }
  const badge = /** @type {HTMLElement|null} */ (part.querySelector("[data-campaign-state]"));
  if (badge && "state" in row) {
    badge.textContent = labelOf("campaign", String(row.state));
    badge.classList.toggle("good", row.state === "open");
  }
  const meter = /** @type {HTMLMeterElement|null} */ (part.querySelector("[data-meter] meter"));
  if (meter) {
    meter.max = row.asked || 1;
    meter.value = row.filled;
  }
}

/** Return the value at a path such as `pace.per_hour`. @param {unknown} row @param {string} path @returns {unknown} */
function readPath(row, path) {
  return path.split(".").reduce((value, name) => /** @type {Record<string, unknown>|null|undefined} */ (value)?.[name], row);
}

/** @param {import("../types").Overview["alarms"]} alarms */
function showAlarms(alarms) {
  const list = /** @type {HTMLElement} */ (document.getElementById("alarms"));
  const texts = alarms.map(({ text }) => text).join("\n");
  if (texts === Array.from(list.children, (item) => item.textContent).join("\n")) return;
  list.replaceChildren(...alarms.map(({ kind, text }) => element("li", { class: `notice ${kind === "done" ? "good" : "warn"}` }, text)));
}

async function refresh() {
  if (document.hidden) return;
  const stamp = /** @type {HTMLElement} */ (document.getElementById("stamp"));
  try {
    /** @type {import("../types").Overview} */
    const { campaigns, topics, alarms } = await ask(box.dataset.overview ?? "");
    for (const row of campaigns) fill(box.querySelector(`[data-campaign="${CSS.escape(row.campaign_id)}"]`), row);
    for (const row of topics) fill(box.querySelector(`[data-topic="${CSS.escape(`${row.campaign_id} ${row.query_id}`)}"]`), row);
    showAlarms(alarms);
    stamp.textContent = "";
  } catch {
    stamp.textContent = "The server does not respond. The figures may be out of date.";
  }
}

setInterval(() => void refresh(), EVERY);
document.addEventListener("visibilitychange", () => void refresh());
