// @ts-check
/** Steps 5 and 6: the charts of each annotator type, and one setting compared with one at a time. */
import { drawChart } from "../shared/charts.js";
import { byId, element, findAll } from "../shared/elements.js";
import { ONE_AT_A_TIME } from "./settings.js";
import { storeSelection, wizard } from "./state.js";

/** @typedef {import("../types").Results} Results */
/** @typedef {import("../types").SettingRow} SettingRow */
/** @typedef {(setting: string) => void} Compare what a click on a setting does */

const results = wizard.data.found;
let visibleType = "";

/** Let the tabs and the settings of the tables be clicked. @param {Compare} compare */
export function listenToResults(compare) {
  if (!results) return;
  const tabs = findAll("#type-tabs [role=tab]");
  tabs.forEach((tab, place) => {
    tab.addEventListener("click", () => selectTab(tabs, tab, compare));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = tabs[(place + step + tabs.length) % tabs.length];
      next.focus();
      selectTab(tabs, next, compare);
    });
  });
  for (const button of findAll("[data-compare]")) {
    button.addEventListener("click", () => compare(button.dataset.compare ?? ""));
  }
}

/** @param {HTMLElement[]} tabs @param {HTMLElement} tab @param {Compare} compare */
function selectTab(tabs, tab, compare) {
  for (const other of tabs) {
    other.setAttribute("aria-selected", String(other === tab));
    other.tabIndex = other === tab ? 0 : -1;
  }
  byId("panel").setAttribute("aria-labelledby", tab.id);
  if (results) showType(results, tab.dataset.type ?? "", compare);
}

/** Draw the charts once they are visible: a hidden box has no width. @param {Compare} compare */
export function drawResults(compare) {
  if (results) showType(results, visibleType || results.order[0], compare);
}

/** @param {Results} results @param {string} type @param {Compare} compare */
function showType({ charts }, type, compare) {
  visibleType = type;
  for (const table of findAll("[data-table]")) table.hidden = table.dataset.table !== type;
  for (const id of ["scatter", "bars"]) {
    const box = /** @type {import("../types").ChartElement} */ (byId(id));
    drawChart(box, charts[type][id]);
    box.removeAllListeners?.("plotly_click");
    box.on?.("plotly_click", ({ points }) => compare(points[0].customdata));
  }
}

/** Compare one setting with one at a time, for every annotator type. @param {string|undefined} setting the recommended one by default */
export function showComparison(setting) {
  if (!results) return;
  const name = setting && results.types[setting] ? setting : results.setting;
  wizard.selection.setting = name;
  storeSelection();
  /** @type {HTMLSelectElement} */ (byId("setting")).value = name;
  const link = /** @type {HTMLAnchorElement|null} */ (byId("use"));
  const query = new URLSearchParams({ grouping: name, encoder: results.encoder });
  if (link) link.href = `${wizard.data.here}/annotation?${query}#grouping`;
  const recommended = name === results.setting ? " ★ recommended" : "";
  const caption = element("caption", {}, `${results.words[name]}${recommended}, compared with one at a time`);
  byId("comparison").replaceChildren(element("table", {}, caption, comparisonHead(results), comparisonBody(results, name)));
  byId("sentences").replaceChildren(...results.order.map((type) => (
    element("li", {}, element("strong", {}, `${type}: `), results.sentences[name][type])
  )));
}

/** @param {Results} results */
function comparisonHead({ points }) {
  const within = `Within ${Math.round(points * 1000) / 10} points`;
  /** @type {[string, boolean][]} */
  const heads = [
    ["Annotator type", false], ["Seconds per image", true], ["One at a time", true], ["Time saved", true], ["Recall", true],
    ["One at a time", true], ["Change in points", true], [within, false], ["Not looked at", true],
  ];
  const cells = heads.map(([text, isNumber]) => element("th", { scope: "col", ...(isNumber ? { class: "number" } : {}) }, text));
  return element("thead", {}, element("tr", {}, ...cells));
}

/** @param {Results} results @param {string} setting */
function comparisonBody({ types, order, chosen }, setting) {
  const baseline = new Map(types[ONE_AT_A_TIME].map((row) => [row.annotator, row]));
  const rows = [...types[setting]].sort((a, b) => order.indexOf(a.annotator) - order.indexOf(b.annotator));
  return element("tbody", {}, ...rows.map((row) => {
    const badge = chosen.includes(row.annotator) ? "" : element("span", { class: "badge" }, "bound");
    const cells = comparisonCells(row, /** @type {SettingRow} */ (baseline.get(row.annotator)));
    return element(
      "tr", {},
      element("th", { scope: "row" }, row.annotator, badge),
      ...cells.map((text) => element("td", { class: "number" }, text)),
      element("td", { class: row.within ? "good" : "bad" }, row.within ? "✓ yes" : "no"),
      element("td", { class: "number" }, `${(row.never_looked * 100).toFixed(0)}%`),
    );
  }));
}

/** @param {SettingRow} row @param {SettingRow} baseline */
function comparisonCells(row, baseline) {
  const range = row.loss_low === null || row.loss_high === null ? "" : ` (${formatPoints(-row.loss_high)} to ${formatPoints(-row.loss_low)})`;
  return [
    row.seconds_per_image.toFixed(2), baseline.seconds_per_image.toFixed(2), `${(row.saved * 100).toFixed(0)}%`,
    row.recall.toFixed(3), baseline.recall.toFixed(3), `${formatPoints(-row.loss)}${range}`,
  ];
}

/** Return a share as points with a sign. @param {number} share */
function formatPoints(share) {
  const text = (Math.abs(share) * 100).toFixed(1);
  return text === "0.0" ? text : `${share > 0 ? "+" : "−"}${text}`;
}
