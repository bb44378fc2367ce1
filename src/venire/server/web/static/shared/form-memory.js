// @ts-check
/**
 * Pages reload when a job ends. Forms that start jobs keep what was typed, in this window; what is
 * half typed into another form comes back once.
 */

/** @typedef {string|boolean|boolean[]|null} FieldState */

/** @param {HTMLFormElement} form */
function keyOf(form) {
  const { send } = form.dataset;
  const alike = Array.from(document.forms).filter((other) => other.dataset.send === send);
  return `form ${location.pathname} ${send} ${alike.indexOf(form)}`;
}

/** @param {HTMLFormElement} form */
const startsJob = (form) => Boolean(form.dataset.send?.endsWith("/jobs"));

/** @param {HTMLInputElement} field */
const isTicked = (field) => ["checkbox", "radio"].includes(field.type);

/** @param {Element} field @returns {FieldState} */
function readState(field) {
  if (field instanceof HTMLSelectElement) return Array.from(field.options, (option) => option.selected);
  if (field instanceof HTMLTextAreaElement) return field.value;
  if (!(field instanceof HTMLInputElement) || ["hidden", "file", "password"].includes(field.type)) return null;
  return isTicked(field) ? field.checked : field.value;
}

/** @param {Element} field @param {FieldState} state */
function writeState(field, state) {
  if (state === null || JSON.stringify(readState(field)) === JSON.stringify(state)) return;
  if (field instanceof HTMLSelectElement) {
    const selected = /** @type {boolean[]} */ (state);
    if (field.options.length !== selected.length) return;
    Array.from(field.options).forEach((option, place) => (option.selected = selected[place]));
  } else if (field instanceof HTMLInputElement && isTicked(field)) field.checked = Boolean(state);
  else /** @type {HTMLInputElement} */ (field).value = String(state);
  field.dispatchEvent(new Event("change", { bubbles: true }));
}

/** @param {HTMLFormElement} form */
function store(form) {
  sessionStorage.setItem(keyOf(form), JSON.stringify(Array.from(form.elements, readState)));
}

/** @type {Set<HTMLFormElement>} */
const typedForms = new Set();

/** Store what is half typed: the page is about to reload. */
export function storeTyped() {
  typedForms.forEach(store);
}

/** Put back what was stored, once everything that listens to changes is loaded. */
export function restoreTyped() {
  for (const form of Array.from(document.forms)) {
    if (!form.dataset.send) continue;
    /** @type {FieldState[]|null} */
    const states = JSON.parse(sessionStorage.getItem(keyOf(form)) ?? "null");
    if (states?.length === form.elements.length) Array.from(form.elements).forEach((field, place) => writeState(field, states[place]));
    if (!startsJob(form)) sessionStorage.removeItem(keyOf(form));
  }
}

document.addEventListener("input", (event) => {
  const { form } = /** @type {HTMLInputElement} */ (event.target);
  if (!form?.dataset.send) return;
  typedForms.add(form);
  if (startsJob(form)) store(form);
});
