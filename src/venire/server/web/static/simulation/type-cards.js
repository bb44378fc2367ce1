// @ts-check
/** Step 2: a card for each annotator type with every value. */
import { actionButton, byId, element } from "../shared/elements.js";
import { storeSelection, wizard } from "./state.js";

/** @typedef {import("../types").AnnotatorType} AnnotatorType */
/** @typedef {import("../types").Field} Field */

/** @type {Record<string, string>} */
const TITLES = { novice: "Novice", typical: "Typical", expert: "Expert", perfect: "Perfect", "group-only": "Group-only" };
/** @type {Record<string, string>} */
const DESCRIPTIONS = {
  perfect: "Always simulated, as a bound. Looks at every image, makes no errors and corrects every wrong label: "
    + "the fewest actions that a setting allows.",
  "group-only": "Always simulated, as a bound. Gives each group the label that its image most similar to the query appears "
    + "to have, and corrects nothing.",
};
/** @type {Record<string, string[]>} values that make a bound what it is */
const FIXED = {
  perfect: ["accuracy_relevant", "accuracy_not_relevant", "check_all", "check_probability"],
  "group-only": ["check_all", "check_probability"],
};
/** @type {[string, string, [string|boolean, string][]][]} */
const RULES = [
  ["tie", "Label of a group with equally many relevant and non-relevant images", [["relevant", "relevant"], ["not-relevant", "not relevant"]]],
  ["review", "Images in the review", [["looked-at", "images looked at"], ["all", "all images"]]],
  ["split", "Split a group where that saves time", [[false, "no"], [true, "yes"]]],
];

export function showTypeCards() {
  byId("types").replaceChildren(...wizard.listTypes().map(typeCard));
}

/** @param {AnnotatorType} type */
function typeCard(type) {
  const title = TITLES[type.id] ?? wizard.nameOf(type);
  const isOn = wizard.isOn(type);
  const values = element("div", { class: "type-values" });
  if (type.kind === "own") values.append(nameInput(type));
  if (DESCRIPTIONS[type.id]) values.append(element("p", { class: "small soft" }, DESCRIPTIONS[type.id]));
  const fields = wizard.data.fields.values.filter(({ key }) => !FIXED[type.id]?.includes(key));
  values.append(...fields.map((field) => valueInput(type, field)));
  const times = wizard.data.fields.times.map((field) => valueInput(type, field));
  values.append(element("details", {}, element("summary", {}, "Times, in seconds"), ...times));
  if (type.kind !== "bound") values.append(ruleInputs(type));
  for (const note of type.pilot?.notes ?? []) values.append(element("p", { class: "small soft" }, note));
  return element("section", { class: `card type${isOn ? "" : " off"}`, "aria-label": title }, cardHeading(type, title, isOn), values);
}

/** @param {AnnotatorType} type @param {string} title @param {boolean} isOn */
function cardHeading(type, title, isOn) {
  if (type.kind === "bound") return element("h3", {}, title, element("span", { class: "badge" }, "bound"));
  const box = /** @type {HTMLInputElement} */ (element("input", { type: "checkbox" }));
  box.checked = isOn;
  box.addEventListener("change", () => {
    wizard.selection.on[type.id] = box.checked;
    box.closest(".type")?.classList.toggle("off", !box.checked);
    storeSelection();
  });
  const heading = element("h3", {}, element("label", {}, box, title));
  if (type.kind === "pilot") heading.append(element("span", { class: "badge good" }, "pilot"));
  if (type.kind === "own") heading.append(actionButton({ class: "plain small" }, () => removeType(type), "Remove"));
  return heading;
}

/** @param {AnnotatorType} type */
function removeType(type) {
  wizard.removeType(type.id);
  storeSelection();
  showTypeCards();
}

/** @param {AnnotatorType} type */
function nameInput(type) {
  const attributes = { type: "text", class: "name-of-own", "aria-label": "Name of the type", maxlength: "60" };
  const input = /** @type {HTMLInputElement} */ (element("input", attributes));
  input.value = wizard.nameOf(type);
  input.addEventListener("input", () => input.setCustomValidity(""));
  input.addEventListener("change", () => {
    const name = input.value.trim();
    if (name && wizard.isNameFree(type, name)) {
      wizard.edit(type, "name", name);
      storeSelection();
      showTypeCards();
      return;
    }
    input.setCustomValidity(name ? "Another type has this name." : "Enter a name.");
    input.reportValidity();
  });
  return input;
}

/** @param {AnnotatorType} type @param {Field} field */
function valueInput(type, field) {
  const isSeconds = field.key.endsWith("_seconds");
  const isWhole = field.key === "check_all";
  const input = /** @type {HTMLInputElement} */ (element("input", { type: "number", min: "0", step: isWhole ? "1" : "any" }));
  if (!isSeconds && !isWhole) input.max = "1";
  const value = Number(wizard.valuesOf(type)[field.key]);
  input.value = String(Math.round(value * 10_000) / 10_000);
  input.addEventListener("change", () => {
    if (input.value === "" || !input.checkValidity()) {
      input.reportValidity();
      return;
    }
    wizard.edit(type, field.key, Number(input.value));
    storeSelection();
  });
  const row = element("label", { class: "value" }, element("span", {}, field.words), input);
  const help = describeMeasured(type, field.key);
  if (help) row.append(element("span", { class: "help" }, help));
  return row;
}

/** Return what the pilot measured, with its interval. @param {AnnotatorType} type @param {string} key */
function describeMeasured(type, key) {
  const share = { accuracy_relevant: type.pilot?.relevant, accuracy_not_relevant: type.pilot?.not_relevant }[key];
  if (!share?.total) return "";
  return `measured: ${share.right} of ${share.total} correct, ${share.low.toFixed(2)} to ${share.high.toFixed(2)}`;
}

/** @param {AnnotatorType} type */
function ruleInputs(type) {
  const box = element("details", {}, element("summary", {}, "Rules"));
  for (const [key, label, choices] of RULES) {
    const select = /** @type {HTMLSelectElement} */ (element("select"));
    for (const [value, text] of choices) select.append(new Option(text, String(value)));
    select.value = String(wizard.valuesOf(type)[key]);
    select.addEventListener("change", () => {
      wizard.edit(type, key, choices[select.selectedIndex][0]);
      storeSelection();
    });
    box.append(element("label", { class: "value wide-value" }, element("span", {}, label), select));
  }
  return box;
}

/** Add a type of one's own, and let it be named. */
export function addType() {
  wizard.addType();
  storeSelection();
  showTypeCards();
  const inputs = /** @type {NodeListOf<HTMLInputElement>} */ (document.querySelectorAll(".name-of-own"));
  const last = inputs[inputs.length - 1];
  last?.focus();
  last?.select();
}
