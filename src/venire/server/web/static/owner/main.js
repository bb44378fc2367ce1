// @ts-check
/** What several owner pages do: secrets shown once, reports, sorting, jobs, settings of a model. */
import { element, findAll, inputById } from "../shared/elements.js";
import { restoreTyped } from "../shared/form-memory.js";
import { watchJobs } from "./jobs.js";
import { showReport } from "./report.js";
import { makeSortable } from "./sorting.js";

document.addEventListener("sent", (event) => {
  const form = /** @type {HTMLFormElement} */ (event.target);
  const answer = /** @type {CustomEvent} */ (event).detail;
  if (form.dataset.secret) {
    showSecret(form, answer[form.dataset.secret]);
    showMore(form, answer);
  }
  else if (form.dataset.report !== undefined) showReport(form, answer);
  else if (form.dataset.success) showSuccess(form, form.dataset.success);
  else return;
  event.preventDefault();
});

/** @param {HTMLFormElement} form @param {string} text */
function showSecret(form, text) {
  const box = /** @type {HTMLElement} */ (form.querySelector("[data-once]"));
  const input = /** @type {HTMLInputElement} */ (box.querySelector("input"));
  box.hidden = false;
  input.value = text;
  input.focus();
  input.select();
}

/** Show further parts of an answer, each in its place. @param {HTMLFormElement} form @param {Record<string, string>} answer */
function showMore(form, answer) {
  for (const place of findAll("[data-more]", form)) {
    const text = answer[place.dataset.more ?? ""];
    const code = place.querySelector("code");
    place.hidden = !text;
    if (code && text) code.textContent = text;
  }
}

/** @param {HTMLFormElement} form @param {string} text */
function showSuccess(form, text) {
  form.querySelector(".success")?.remove();
  form.append(element("p", { class: "success", role: "status" }, text));
  if (form.querySelector("input[type=password]")) form.reset();
}

/** @param {HTMLElement} button */
async function copy(button) {
  const input = inputById(button.dataset.copy ?? "");
  input.select();
  try {
    await navigator.clipboard.writeText(input.value);
  } catch {
    document.execCommand("copy"); // pages not served over https have no clipboard
  }
  button.textContent = "Copied";
}

document.addEventListener("click", (event) => {
  const button = /** @type {HTMLElement|null} */ (/** @type {HTMLElement} */ (event.target).closest("[data-copy]"));
  if (button) void copy(button);
});

/** The settings of the selected model. */
const model = /** @type {HTMLSelectElement|null} */ (document.querySelector("[data-model]"));
model?.addEventListener("change", () => {
  for (const fields of /** @type {NodeListOf<HTMLFieldSetElement>} */ (document.querySelectorAll("fieldset[data-for-model]"))) {
    fields.hidden = fields.disabled = fields.dataset.forModel !== model.value;
  }
});

makeSortable();
watchJobs();
restoreTyped();

/* On a narrow screen the current tab may be out of sight. */
for (const tab of findAll(".tabs [aria-current]")) tab.scrollIntoView({ block: "nearest", inline: "center" });
