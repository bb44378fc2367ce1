// @ts-check
/** Steps 2 and 3: a card for each annotator type with every value, and the methods with theirs. */
import { draw } from "./charts.js";
import { element } from "./document.js";
import { available, chosen, data, isOn, keep, start, tried, types, valuesOf, settings } from "./simulation-state.js";

/** @param {string} id */
const $ = (id) => /** @type {HTMLElement} */ (document.getElementById(id));
const TITLES = /** @type {Record<string, string>} */ ({ novice: "Novice", typical: "Typical", expert: "Expert", perfect: "Perfect", "group-only": "Group-only" });
const WORDS = /** @type {Record<string, string>} */ ({
  perfect: "Always simulated, as a bound. Looks at every image, never errs, corrects every wrong one: the fewest actions a setting allows.",
  "group-only": "Always simulated, as a bound. Gives each group the label that the one image most similar to the query appears to have; corrects nothing.",
});
/** Values that make a bound what it is. */
const FIXED = /** @type {Record<string, string[]>} */ ({
  perfect: ["accuracy_relevant", "accuracy_not_relevant", "check_all", "check_probability"],
  "group-only": ["check_all", "check_probability"],
});

export function cards() {
  $("types").replaceChildren(...types().map(card));
}

/** @param {import("./simulation-state.js").Type} type */
function card(type) {
  const values = valuesOf(type);
  const title = TITLES[type.id] ?? values.name;
  const on = isOn(type);
  const box = element("section", { class: `card type${on ? "" : " off"}`, "aria-label": title });
  box.append(heading(type, title, on));
  const inner = element("div", { class: "type-values" });
  box.append(inner);
  if (type.kind === "own") inner.append(name(type));
  if (WORDS[type.id]) inner.append(element("p", { class: "small soft" }, WORDS[type.id]));
  for (const field of data.fields.values) if (!FIXED[type.id]?.includes(field.key)) inner.append(value(type, field));
  const times = element("details", {}, element("summary", {}, "Times, in seconds"));
  for (const field of data.fields.times) times.append(value(type, field));
  inner.append(times);
  if (type.kind !== "bound") inner.append(rules(type));
  for (const note of type.facts?.notes ?? []) inner.append(element("p", { class: "small soft" }, note));
  return box;
}

/** @param {import("./simulation-state.js").Type} type @param {string} title @param {boolean} on */
function heading(type, title, on) {
  if (type.kind === "bound") return element("h3", {}, title, element("span", { class: "badge" }, "bound"));
  const check = /** @type {HTMLInputElement} */ (element("input", { type: "checkbox" }));
  check.checked = on;
  check.addEventListener("change", () => {
    chosen.on[type.id] = check.checked;
    check.closest(".type")?.classList.toggle("off", !check.checked);
    keep();
  });
  const line = element("h3", {}, element("label", {}, check, title));
  if (type.kind === "pilot") line.append(element("span", { class: "badge good" }, "pilot"));
  if (type.kind === "own") {
    const remove = element("button", { type: "button", class: "plain small" }, "Remove");
    remove.addEventListener("click", () => {
      chosen.own = chosen.own.filter((id) => id !== type.id);
      delete chosen.edits[type.id];
      delete chosen.on[type.id];
      keep();
      cards();
    });
    line.append(remove);
  }
  return line;
}

/** @param {import("./simulation-state.js").Type} type */
function name(type) {
  const input = /** @type {HTMLInputElement} */ (element("input", { type: "text", class: "name-of-own", "aria-label": "Name of the type", maxlength: "60" }));
  input.value = valuesOf(type).name;
  input.addEventListener("input", () => input.setCustomValidity(""));
  input.addEventListener("change", () => {
    const taken = types().some((one) => one.id !== type.id && valuesOf(one).name === input.value.trim());
    if (!input.value.trim() || taken) {
      input.setCustomValidity(taken ? "Another type has this name" : "A type needs a name");
      input.reportValidity();
      return;
    }
    edit(type, "name", input.value.trim());
    cards();
  });
  return input;
}

/** @param {import("./simulation-state.js").Type} type @param {{key: string, words: string}} field */
function value(type, field) {
  const seconds = field.key.endsWith("_seconds");
  const whole = field.key === "check_all";
  const input = /** @type {HTMLInputElement} */ (element("input", { type: "number", min: "0", step: whole ? "1" : "any", ...(seconds || whole ? {} : { max: "1" }) }));
  const now = valuesOf(type)[field.key];
  input.value = String(Math.round(now * 10_000) / 10_000);
  input.addEventListener("change", () => {
    if (input.value === "" || !input.checkValidity()) {
      input.reportValidity();
      return;
    }
    edit(type, field.key, Number(input.value));
  });
  const row = element("label", { class: "value" }, element("span", {}, field.words), input);
  const help = measured(type, field.key);
  if (help) row.append(element("span", { class: "help" }, help));
  return row;
}

/** What the pilot says, with its interval. @param {import("./simulation-state.js").Type} type @param {string} key */
function measured(type, key) {
  const share = { accuracy_relevant: type.facts?.relevant, accuracy_not_relevant: type.facts?.not_relevant }[key];
  if (!share?.total) return "";
  return `measured: ${share.right} of ${share.total} right, ${share.low.toFixed(2)} to ${share.high.toFixed(2)}`;
}

/** @param {import("./simulation-state.js").Type} type */
function rules(type) {
  const box = element("details", {}, element("summary", {}, "Rules"));
  for (const [key, words, choices] of /** @type {[string, string, [any, string][]][]} */ ([
    ["tie", "A group with as many that appear relevant as not is labelled", [["relevant", "relevant"], ["not-relevant", "not relevant"]]],
    ["review", "The review round shows", [["looked-at", "images looked at"], ["all", "all images"]]],
    ["split", "Splits a group where that saves time", [[false, "no"], [true, "yes"]]],
  ])) {
    const select = /** @type {HTMLSelectElement} */ (element("select"));
    for (const [choice, label] of choices) select.append(new Option(label, String(choice)));
    select.value = String(valuesOf(type)[key]);
    select.addEventListener("change", () => edit(type, key, choices[select.selectedIndex][0]));
    box.append(element("label", { class: "value wide-value" }, element("span", {}, words), select));
  }
  return box;
}

/** @param {import("./simulation-state.js").Type} type @param {string} key @param {any} value */
function edit(type, key, value) {
  chosen.edits[type.id] = { ...chosen.edits[type.id], [key]: value };
  keep();
}

export function addType() {
  let number = 1;
  while (types().some((type) => type.id === `own ${number}` || valuesOf(type).name === `own ${number}`)) number++;
  chosen.own.push(`own ${number}`);
  keep();
  cards();
  const names = document.querySelectorAll(".name-of-own");
  const last = /** @type {HTMLInputElement|undefined} */ (names[names.length - 1]);
  last?.focus();
  last?.select();
}

/* ---- methods ---- */

export function methods() {
  $("methods").replaceChildren(...data.methods.map(method));
  for (const box of /** @type {NodeListOf<HTMLInputElement>} */ (document.querySelectorAll("#caps input"))) {
    box.checked = chosen.caps.includes(box.value);
    box.onchange = () => {
      const all = /** @type {NodeListOf<HTMLInputElement>} */ (document.querySelectorAll("#caps input"));
      chosen.caps = Array.from(all).filter((one) => one.checked).map((one) => one.value);
      if (!chosen.caps.length) {
        chosen.caps = ["none"];
        all[all.length - 1].checked = true;
      }
      keep();
    };
  }
  counted();
  cosines();
}

export function counted() {
  const n = settings().length;
  const also = data.current.setting ? "one at a time and the current setting" : "one at a time";
  $("count-settings").textContent = `${n} ${n === 1 ? "setting" : "settings"}, ${also} among them.`;
}

/** @param {any} given */
function method(given) {
  const usable = available(given);
  const box = element("fieldset", { class: "plain method" });
  const all = /** @type {HTMLInputElement} */ (element("input", { type: "checkbox" }));
  all.checked = tried(given).length > 0;
  all.disabled = !usable;
  all.addEventListener("change", () => {
    chosen.methods[given.name] = all.checked ? given.values : [];
    keep();
    methods();
  });
  box.append(element("legend", {}, element("label", {}, all, given.words)));
  const pills = element("span", { class: "pills" });
  const values = [...given.values, ...(chosen.extra[given.name] ?? [])];
  for (const one of values) pills.append(pill(given, one, usable, all));
  pills.append(other(given, usable));
  box.append(pills);
  if (!usable) box.append(element("p", { class: "soft small" }, "Needs perceptual hashes: compute vectors of the images in step 1."));
  return box;
}

/** @param {any} given @param {number} value @param {boolean} usable @param {HTMLInputElement} all */
function pill(given, value, usable, all) {
  const input = /** @type {HTMLInputElement} */ (element("input", { type: "checkbox", "aria-label": `${given.name} ${given.parameter.replace("_", " ")} ${value}` }));
  input.checked = tried(given).includes(value);
  input.disabled = !usable;
  input.addEventListener("change", () => {
    const now = tried(given).filter((one) => one !== value);
    chosen.methods[given.name] = input.checked ? [...now, value] : now;
    all.checked = chosen.methods[given.name].length > 0;
    keep();
    counted();
  });
  return element("label", { class: "pill" }, input, element("span", {}, String(value)));
}

/** @param {any} given @param {boolean} usable */
function other(given, usable) {
  const input = /** @type {HTMLInputElement} */ (element("input", { type: "text", inputmode: "decimal", placeholder: "other value", "aria-label": `Another ${given.parameter.replace("_", " ")} for ${given.name}` }));
  input.disabled = !usable;
  const [least, most] = given.limits;
  const range = least !== null && most !== null ? `from ${least} to ${most}` : least !== null ? `of at least ${least}` : most !== null ? `of at most ${most}` : "";
  input.addEventListener("input", () => input.setCustomValidity(""));
  input.addEventListener("change", () => {
    const value = Number(input.value.replace(",", "."));
    if (input.value.trim() === "") return;
    const wrong = Number.isNaN(value) || (given.whole && !Number.isInteger(value)) || (least !== null && value < least) || (most !== null && value > most);
    if (wrong) {
      input.setCustomValidity(`It takes a ${given.whole ? "whole " : ""}number ${range}`.trim());
      input.reportValidity();
      return;
    }
    const known = [...given.values, ...(chosen.extra[given.name] ?? [])];
    if (!known.includes(value)) chosen.extra[given.name] = [...(chosen.extra[given.name] ?? []), value];
    if (!tried(given).includes(value)) chosen.methods[given.name] = [...tried(given), value];
    keep();
    methods();
  });
  return input;
}

function cosines() {
  const rows = start.cosines.filter((/** @type {any} */ row) => row.above > 0 && row.low >= -0.2);
  $("cosines").hidden = $("cosine-table").hidden = !rows.length;
  if (!rows.length) return;
  const box = /** @type {Element} */ ($("cosines").firstElementChild);
  draw(box, {
    data: [{
      type: "bar",
      x: rows.map((/** @type {any} */ row) => (row.low + row.high) / 2),
      y: rows.map((/** @type {any} */ row) => row.share * 100),
      customdata: rows.map((/** @type {any} */ row) => [row.low, row.high, row.above * 100]),
      hovertemplate: "%{y:.1f}% of the pairs from %{customdata[0]:.2f} to %{customdata[1]:.2f}<br>%{customdata[2]:.1f}% at least %{customdata[0]:.2f}<extra></extra>",
    }],
    layout: { height: 240, bargap: 0.05, xaxis: { title: { text: "cosine" } }, yaxis: { title: { text: "% of the pairs" } } },
  });
  const body = element("tbody");
  for (const row of rows) {
    body.append(element("tr", {}, ...[row.low.toFixed(2), `${(row.share * 100).toFixed(1)}%`, `${(row.above * 100).toFixed(1)}%`].map((text) => element("td", { class: "number" }, text))));
  }
  const head = element("thead", {}, element("tr", {}, ...["Cosine from", "Pairs", "At least this"].map((text) => element("th", { scope: "col", class: "number" }, text))));
  $("cosine-table").querySelector(".scroll")?.replaceChildren(element("table", {}, head, body));
}
