// @ts-check
/** A document as annotators see it, and a decision by a key. */
import { ask } from "./api.js";
import { show } from "./document.js";

for (const one of document.querySelectorAll("[data-document]")) {
  const box = /** @type {HTMLElement} */ (one);
  const data = JSON.parse(box.querySelector("script")?.textContent ?? "{}");
  const article = show(data);
  const picture = article.querySelector("img");
  if (picture) picture.src = box.dataset.image ?? "";
  box.replaceChildren(article);
}

const form = /** @type {HTMLFormElement|null} */ (document.getElementById("decide"));
const after = /** @type {HTMLElement|null} */ (document.querySelector("[data-after]"))?.dataset.after;

/** @param {string} grade */
async function decide(grade) {
  if (!form) return;
  const buttons = form.querySelectorAll("button");
  buttons.forEach((button) => (button.disabled = true));
  try {
    await ask(form.dataset.api ?? "", {
      method: "POST",
      body: {
        query_id: form.dataset.query,
        doc_id: form.dataset.doc,
        grade: grade === "" ? null : Number(grade),
        reason: /** @type {HTMLInputElement} */ (document.getElementById("reason")).value,
      },
    });
    if (grade === "") location.reload();
    else location.assign(after ?? location.href);
  } catch (error) {
    /** @type {HTMLElement} */ (form.querySelector(".error-line")).textContent = error instanceof Error ? error.message : String(error);
    buttons.forEach((button) => (button.disabled = false));
  }
}

form?.addEventListener("submit", (event) => event.preventDefault());
form?.addEventListener("click", (event) => {
  const button = /** @type {HTMLElement|null} */ (/** @type {HTMLElement} */ (event.target).closest("[data-grade]"));
  if (button) void decide(button.dataset.grade ?? "");
});
document.addEventListener("keydown", (event) => {
  if (event.repeat || event.ctrlKey || event.altKey || event.metaKey) return;
  if (/** @type {HTMLElement} */ (event.target).closest("input, textarea, select")) return;
  if (event.key === "n") document.getElementById("skip")?.click();
  const button = form?.querySelector(`[data-grade="${CSS.escape(event.key)}"]`);
  if (button && /^\d$/.test(event.key)) void decide(event.key);
});
