// @ts-check
/**
 * Forms that send JSON: `data-send` is the address, `data-next` the page after it, and
 * `data-confirm` asks before anything is lost.
 */
import { Offline, ask } from "./api.js";
import { readForm } from "./form-values.js";
import { messageOf } from "./text.js";

/** @param {HTMLFormElement} form @param {string} text */
function showError(form, text) {
  let line = form.querySelector(".error-line");
  if (!line) {
    line = document.createElement("p");
    line.className = "error-line";
    line.setAttribute("role", "alert");
    form.append(line);
  }
  line.textContent = text;
}

/** @param {HTMLFormElement} form @param {string} path */
function send(form, path) {
  const isUpload = form.enctype === "multipart/form-data";
  return ask(path, {
    method: form.dataset.method ?? "POST",
    ...(isUpload ? { raw: new FormData(form) } : { body: readForm(form) }),
    seconds: isUpload ? 0 : Number(form.dataset.seconds ?? 30),
  });
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
  showError(form, "");
  form.querySelector(".success")?.remove();
  try {
    const answer = await send(form, path);
    const detail = new CustomEvent("sent", { detail: answer, bubbles: true, cancelable: true });
    if (!form.dispatchEvent(detail)) return;
    const next = form.dataset.next || answer?.next;
    if (next) window.location.assign(next);
    else window.location.reload();
  } catch (error) {
    showError(form, error instanceof Offline ? "The server does not respond. Try again." : messageOf(error));
  } finally {
    buttons.forEach((button) => (button.disabled = false));
  }
}

document.addEventListener("submit", (event) => void submit(event));
