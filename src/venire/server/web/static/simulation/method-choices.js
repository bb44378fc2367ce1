// @ts-check
/** Step 3: the grouping methods with their values, and the cosines that thresholds can be read off. */
import { drawChart } from "../shared/charts.js";
import { byId, element } from "../shared/elements.js";
import { countNoun } from "../shared/text.js";
import { describeRange, isAllowed } from "./settings.js";
import { storeSelection, wizard } from "./state.js";

/** @typedef {import("../types").Method} Method */

/** Cosines below this are not shown. */
const LOWEST_COSINE = -0.2;

export function showMethods() {
  byId("methods").replaceChildren(...wizard.data.methods.map(methodFields));
  const boxes = /** @type {HTMLInputElement[]} */ ([...document.querySelectorAll("#caps input")]);
  for (const box of boxes) {
    box.checked = wizard.selection.caps.includes(box.value);
    box.onchange = () => selectCaps(boxes);
  }
  showSettingCount();
  showCosines();
}

/** @param {HTMLInputElement[]} boxes the last one is "none" */
function selectCaps(boxes) {
  if (!boxes.some((box) => box.checked)) boxes[boxes.length - 1].checked = true;
  wizard.selection.caps = boxes.filter((box) => box.checked).map((box) => box.value);
  storeSelection();
}

export function showSettingCount() {
  const included = wizard.data.current.setting ? "one at a time and the current setting" : "one at a time";
  byId("count-settings").textContent = `${countNoun(wizard.listSettings().length, "setting")}, including ${included}.`;
}

/** @param {Method} method */
function methodFields(method) {
  const isAvailable = wizard.isAvailable(method);
  const all = /** @type {HTMLInputElement} */ (element("input", { type: "checkbox" }));
  all.checked = wizard.selectedValues(method).length > 0;
  all.disabled = !isAvailable;
  all.addEventListener("change", () => {
    wizard.selection.methods[method.name] = all.checked ? method.values : [];
    storeSelection();
    showMethods();
  });
  const pills = wizard.offeredValues(method).map((value) => valuePill(method, value, all));
  const box = element(
    "fieldset", { class: "plain method" },
    element("legend", {}, element("label", {}, all, method.words)),
    element("span", { class: "pills" }, ...pills, otherValue(method)),
  );
  if (!isAvailable) box.append(element("p", { class: "soft small" }, "Needs perceptual hashes. Compute vectors of the images in step 1."));
  return box;
}

/** @param {Method} method */
const parameterName = (method) => method.parameter.replaceAll("_", " ");

/** @param {Method} method @param {number} value @param {HTMLInputElement} all the box of the method */
function valuePill(method, value, all) {
  const label = `${method.name} ${parameterName(method)} ${value}`;
  const input = /** @type {HTMLInputElement} */ (element("input", { type: "checkbox", "aria-label": label }));
  input.checked = wizard.selectedValues(method).includes(value);
  input.disabled = !wizard.isAvailable(method);
  input.addEventListener("change", () => {
    wizard.selectValue(method, value, input.checked);
    all.checked = wizard.selectedValues(method).length > 0;
    storeSelection();
    showSettingCount();
  });
  return element("label", { class: "pill" }, input, element("span", {}, String(value)));
}

/** @param {Method} method */
function otherValue(method) {
  const label = `Another ${parameterName(method)} for ${method.name}`;
  const attributes = { type: "text", inputmode: "decimal", placeholder: "Other value", "aria-label": label };
  const input = /** @type {HTMLInputElement} */ (element("input", attributes));
  input.disabled = !wizard.isAvailable(method);
  input.addEventListener("input", () => input.setCustomValidity(""));
  input.addEventListener("change", () => {
    const text = input.value.trim().replace(",", ".");
    if (text === "") return;
    if (!isAllowed(method, Number(text))) {
      input.setCustomValidity(`Must be ${describeRange(method)}.`);
      input.reportValidity();
      return;
    }
    wizard.addValue(method, Number(text));
    storeSelection();
    showMethods();
  });
  return input;
}

/** @param {number} share */
const percent = (share) => `${(share * 100).toFixed(1)}%`;

function showCosines() {
  const rows = wizard.start.cosines.filter((row) => row.above > 0 && row.low >= LOWEST_COSINE);
  byId("cosines").hidden = byId("cosine-table").hidden = !rows.length;
  if (!rows.length) return;
  drawChart(/** @type {Element} */ (byId("cosines").firstElementChild), {
    data: [{
      type: "bar",
      x: rows.map((row) => (row.low + row.high) / 2),
      y: rows.map((row) => row.share * 100),
      customdata: rows.map((row) => [row.low, row.high, row.above * 100]),
      hovertemplate: "%{y:.1f}% of pairs: %{customdata[0]:.2f} to %{customdata[1]:.2f}<br>"
        + "%{customdata[2]:.1f}% of pairs: %{customdata[0]:.2f} or more<extra></extra>",
    }],
    layout: { height: 240, bargap: 0.05, xaxis: { title: { text: "cosine" } }, yaxis: { title: { text: "% of pairs" } } },
  });
  const body = rows.map((row) => tableRow("td", {}, [row.low.toFixed(2), percent(row.share), percent(row.above)]));
  const head = tableRow("th", { scope: "col" }, ["Cosine from", "Share of pairs", "This cosine or higher"]);
  const table = element("table", {}, element("thead", {}, head), element("tbody", {}, ...body));
  byId("cosine-table").querySelector(".scroll")?.replaceChildren(table);
}

/** @param {"td"|"th"} name @param {Record<string, string>} attributes @param {string[]} texts */
function tableRow(name, attributes, texts) {
  return element("tr", {}, ...texts.map((text) => element(name, { class: "number", ...attributes }, text)));
}
