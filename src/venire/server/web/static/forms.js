// @ts-check
/**
 * Forms that speak JSON: `data-send` is the address, `data-next` where to go after it.
 * Fields become values by name and type; `data-confirm` asks once before anything is lost.
 */
import { Offline, ask } from "./api.js";

/** @param {HTMLFormElement} form @returns {Record<string, unknown>} */
export function values(form) {
  /** @type {Record<string, any>} */
  const found = {};
  for (const field of Array.from(form.elements)) {
    const input = /** @type {HTMLInputElement} */ (field);
    if (!input.name || input.matches(":disabled")) continue;
    if (input.type === "radio" && !input.checked) continue;
    /** @type {unknown} */
    let value = input.value;
    if (input.type === "checkbox") value = input.checked;
    else if (input.type === "number" || input.dataset.type === "number") {
      value = input.value === "" ? null : Number(input.value);
    } else if (input.dataset.type === "numbers") {
      value = input.value.split(/[\s,;]+/).filter(Boolean).map((one) => (Number.isNaN(Number(one)) ? one : Number(one)));
    } else if (input.dataset.type === "lines") {
      value = input.value.split("\n").map((line) => line.trim()).filter(Boolean);
    } else if (input instanceof HTMLSelectElement && input.multiple) {
      value = Array.from(input.selectedOptions).map((option) => option.value);
      if (input.dataset.none === "all" && !input.selectedOptions.length) continue;
      if (input.dataset.none !== undefined && !input.selectedOptions.length) value = null;
    }
    if (input.dataset.list !== undefined) {
      found[input.name] ??= [];
      if (input.type !== "checkbox") found[input.name].push(value);
      else if (input.checked) found[input.name].push(input.value);
    } else place(found, input.name.split("."), value);
  }
  for (const table of form.querySelectorAll("[data-rows]")) {
    const rows = Array.from(table.querySelectorAll("[data-row]"), cells);
    place(found, /** @type {HTMLElement} */ (table).dataset.rows?.split(".") ?? [], rows);
  }
  return found;
}

/** The cells of one row, by name. @param {Element} row @returns {Record<string, unknown>} */
function cells(row) {
  /** @type {Record<string, unknown>} */
  const found = {};
  for (const cell of row.querySelectorAll("[data-cell]")) {
    const input = /** @type {HTMLInputElement} */ (cell);
    found[input.dataset.cell ?? ""] = input.type === "number" ? Number(input.value) : input.value;
  }
  return found;
}

/** @param {Record<string, any>} into @param {string[]} path @param {unknown} value */
function place(into, path, value) {
  const [first, ...rest] = path;
  if (!rest.length) into[first] = value;
  else place((into[first] ??= {}), rest, value);
}

/** @param {HTMLFormElement} form @param {string} text */
function complain(form, text) {
  let line = form.querySelector(".error-line");
  if (!line) {
    line = document.createElement("p");
    line.className = "error-line";
    line.setAttribute("role", "alert");
    form.append(line);
  }
  line.textContent = text;
}

/** @param {SubmitEvent} event */
async function submit(event) {
  const form = /** @type {HTMLFormElement} */ (event.target);
  const path = form.dataset.send;
  if (!path) return;
  event.preventDefault();
  if (form.dataset.confirm && !window.confirm(form.dataset.confirm)) return;
  const buttons = form.querySelectorAll("button");
  buttons.forEach((button) => (button.disabled = true));
  complain(form, "");
  form.querySelector(".said")?.remove();
  try {
    const upload = form.enctype === "multipart/form-data";
    const answer = await ask(path, {
      method: form.dataset.method ?? "POST",
      ...(upload ? { raw: new FormData(form) } : { body: values(form) }),
      seconds: upload ? 0 : Number(form.dataset.seconds ?? 30),
    });
    const detail = new CustomEvent("sent", { detail: answer, bubbles: true, cancelable: true });
    if (!form.dispatchEvent(detail)) return;
    const next = form.dataset.next || answer?.next;
    if (next) window.location.assign(next);
    else window.location.reload();
  } catch (error) {
    complain(form, error instanceof Offline ? "The server does not answer. Try again." : String(error instanceof Error ? error.message : error));
  } finally {
    buttons.forEach((button) => (button.disabled = false));
  }
}

document.addEventListener("submit", (event) => void submit(event));
