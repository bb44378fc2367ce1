// @ts-check
/** Steps 5 and 6: the charts of each annotator type, and one setting beside one at a time. */
import { draw } from "./charts.js";
import { element } from "./document.js";
import { chosen, data, keep } from "./simulation-state.js";

/** @param {string} id */
const $ = (id) => /** @type {HTMLElement} */ (document.getElementById(id));
const found = data.found;
let shown = "";

/** @param {(setting: string) => void} compare what a click on a setting does */
export function results(compare) {
  if (!found) return;
  const tabs = /** @type {HTMLElement[]} */ ([...document.querySelectorAll("#type-tabs [role=tab]")]);
  const choose = (/** @type {HTMLElement} */ tab) => {
    for (const one of tabs) {
      one.setAttribute("aria-selected", String(one === tab));
      one.tabIndex = one === tab ? 0 : -1;
    }
    $("panel").setAttribute("aria-labelledby", tab.id);
    type(tab.dataset.type ?? "", compare);
  };
  tabs.forEach((tab, place) => {
    tab.addEventListener("click", () => choose(tab));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = tabs[(place + step + tabs.length) % tabs.length];
      next.focus();
      choose(next);
    });
  });
  for (const button of document.querySelectorAll("[data-compare]")) {
    button.addEventListener("click", () => compare(/** @type {HTMLElement} */ (button).dataset.compare ?? ""));
  }
}

/** The charts are drawn when they are seen: a hidden box has no width. @param {(setting: string) => void} compare */
export function drawResults(compare) {
  if (!found) return;
  type(shown || found.order[0], compare);
}

/** @param {string} name @param {(setting: string) => void} compare */
function type(name, compare) {
  shown = name;
  for (const table of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-table]"))) table.hidden = table.dataset.table !== name;
  for (const id of ["scatter", "bars"]) {
    const box = /** @type {any} */ ($(id));
    draw(box, found.charts[name][id]);
    box.removeAllListeners?.("plotly_click");
    box.on?.("plotly_click", (/** @type {any} */ event) => compare(event.points[0].customdata));
  }
}

/** One setting beside one at a time, for every annotator type. @param {string} setting */
export function comparison(setting) {
  if (!found) return;
  const name = found.types[setting] ? setting : found.setting;
  chosen.setting = name;
  keep();
  /** @type {HTMLSelectElement} */ ($("setting")).value = name;
  const use = /** @type {HTMLAnchorElement|null} */ (document.getElementById("use"));
  if (use) use.href = `${data.here}/annotation?${new URLSearchParams({ grouping: name, encoder: found.encoder })}#grouping`;
  const before = new Map(found.types["one-at-a-time"].map((/** @type {any} */ row) => [row.annotator, row]));
  const within = `Within ${Math.round(found.points * 1000) / 10} points`;
  const heads = ["Annotator type", "Seconds an image", "One at a time", "Saved", "Recall", "One at a time", "Change in points", within, "Not looked at"];
  const body = element("tbody");
  const order = (/** @type {any} */ row) => found.order.indexOf(row.annotator);
  for (const row of [...found.types[name]].sort((a, b) => order(a) - order(b))) {
    const one = before.get(row.annotator);
    const bound = !found.chosen.includes(row.annotator);
    const range = row.loss_low === null ? "" : ` (${signed(-row.loss_high)} to ${signed(-row.loss_low)})`;
    const label = element("th", { scope: "row" }, row.annotator, bound ? element("span", { class: "badge" }, "bound") : "");
    const cells = [row.seconds_per_image.toFixed(2), one.seconds_per_image.toFixed(2), `${(row.saved * 100).toFixed(0)}%`, row.recall.toFixed(3), one.recall.toFixed(3), `${signed(-row.loss)}${range}`];
    body.append(element(
      "tr", {}, label,
      ...cells.map((text) => element("td", { class: "number" }, text)),
      element("td", { class: row.within ? "good" : "bad" }, row.within ? "✓ yes" : "no"),
      element("td", { class: "number" }, `${(row.never_looked * 100).toFixed(0)}%`),
    ));
  }
  const head = element("thead", {}, element("tr", {}, ...heads.map((text, at) => element("th", { scope: "col", ...(at && at !== 7 ? { class: "number" } : {}) }, text))));
  const star = name === found.setting ? " ★ recommended" : "";
  $("comparison").replaceChildren(element("table", {}, element("caption", {}, `${found.words[name]}${star}, beside judging one at a time`), head, body));
  $("sentences").replaceChildren(...found.order.map((/** @type {string} */ who) => element("li", {}, element("strong", {}, `${who}: `), found.sentences[name][who])));
}

/** A share as points with a sign. @param {number} share */
function signed(share) {
  const text = (Math.abs(share) * 100).toFixed(1);
  return text === "0.0" ? text : `${share > 0 ? "+" : "−"}${text}`;
}
