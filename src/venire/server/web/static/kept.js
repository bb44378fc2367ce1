// @ts-check
/**
 * Pages load anew when a job ends. What stands in a form that starts jobs stays as it was typed,
 * in this window; what is half typed into another form comes back once.
 */

/** @param {HTMLFormElement} form */
function key(form) {
  const same = Array.from(document.forms).filter((one) => one.dataset.send === form.dataset.send);
  return `form ${location.pathname} ${form.dataset.send} ${same.indexOf(form)}`;
}

/** @param {HTMLFormElement} form */
const starts = (form) => Boolean(form.dataset.send?.endsWith("/jobs"));

/** @param {Element} field @returns {unknown} */
function read(field) {
  if (field instanceof HTMLSelectElement) return Array.from(field.options, (option) => option.selected);
  if (field instanceof HTMLTextAreaElement) return field.value;
  if (!(field instanceof HTMLInputElement) || ["hidden", "file", "password"].includes(field.type)) return null;
  return ["checkbox", "radio"].includes(field.type) ? field.checked : field.value;
}

/** @param {Element} field @param {any} value */
function write(field, value) {
  if (value === null || JSON.stringify(read(field)) === JSON.stringify(value)) return;
  if (field instanceof HTMLSelectElement) {
    if (field.options.length !== value.length) return;
    Array.from(field.options).forEach((option, at) => (option.selected = value[at]));
  } else if (field instanceof HTMLInputElement && ["checkbox", "radio"].includes(field.type)) field.checked = value;
  else /** @type {HTMLInputElement} */ (field).value = value;
  field.dispatchEvent(new Event("change", { bubbles: true }));
}

/** @param {HTMLFormElement} form */
function keep(form) {
  sessionStorage.setItem(key(form), JSON.stringify(Array.from(form.elements, read)));
}

/** @type {Set<HTMLFormElement>} */
const typed = new Set();

/** Keep what is half typed: the page is about to load anew. */
export function keepTyped() {
  typed.forEach(keep);
}

/** Put back what was kept; once everything that listens to changes is there. */
export function restoreTyped() {
  for (const form of Array.from(document.forms)) {
    if (!form.dataset.send) continue;
    const kept = JSON.parse(sessionStorage.getItem(key(form)) ?? "null");
    if (kept?.length === form.elements.length) Array.from(form.elements).forEach((field, at) => write(field, kept[at]));
    if (!starts(form)) sessionStorage.removeItem(key(form));
  }
}

document.addEventListener("input", (event) => {
  const { form } = /** @type {HTMLInputElement} */ (event.target);
  if (!form?.dataset.send) return;
  typed.add(form);
  if (starts(form)) keep(form);
});
