// @ts-check
/** The overview keeps itself up to date: values change in place, nothing moves. */
import { ask } from "./api.js";
import { element } from "./document.js";

const box = /** @type {HTMLElement} */ (document.querySelector("[data-overview]"));
const EVERY = 10_000;

/** @param {any} value @param {string} as */
function shown(value, as) {
  if (value === null || value === undefined) return "–";
  if (as === "number") return Number(value).toLocaleString("en");
  if (as === "number1") return Number(value).toLocaleString("en", { minimumFractionDigits: 1, maximumFractionDigits: 1 });
  if (as === "percent") return `${Math.round(value * 100)}%`;
  if (as === "hours") return value < 1 ? `${Math.round(value * 60)} min` : value < 48 ? `${value.toFixed(1)} h` : `${(value / 24).toFixed(1)} days`;
  return String(value);
}

/** @param {Element|null} part @param {any} row */
function fill(part, row) {
  if (!part) return;
  for (const one of part.querySelectorAll("[data-field]")) {
    const field = /** @type {HTMLElement} */ (one);
    const value = (field.dataset.field ?? "").split(".").reduce((at, name) => at?.[name], row);
    const text = shown(value, field.dataset.as ?? "");
    if (field.textContent !== text) field.textContent = text;
  }
  const meter = /** @type {HTMLMeterElement|null} */ (part.querySelector("[data-meter] meter"));
  if (meter) { meter.max = row.asked || 1; meter.value = row.filled; }
}

async function refresh() {
  if (document.hidden) return;
  const stamp = /** @type {HTMLElement} */ (document.getElementById("stamp"));
  try {
    const found = await ask(box.dataset.overview ?? "");
    for (const row of found.campaigns) fill(box.querySelector(`[data-campaign="${CSS.escape(row.campaign_id)}"]`), row);
    for (const row of found.topics) fill(box.querySelector(`[data-topic="${CSS.escape(`${row.campaign_id} ${row.query_id}`)}"]`), row);
    const list = /** @type {HTMLElement} */ (document.getElementById("alarms"));
    const now = found.alarms.map((/** @type {any} */ one) => one.text).join("\n");
    if (now !== Array.from(list.children, (one) => one.textContent).join("\n")) {
      list.replaceChildren(...found.alarms.map((/** @type {any} */ one) => element("li", { class: `notice ${one.kind === "done" ? "good" : "warn"}` }, one.text)));
    }
    stamp.textContent = "";
  } catch {
    stamp.textContent = "The server does not answer; the figures are those of the last look.";
  }
}

setInterval(() => void refresh(), EVERY);
document.addEventListener("visibilitychange", () => void refresh());
