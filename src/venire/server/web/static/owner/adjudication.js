// @ts-check
/** A document as annotators see it, and a decision by a key. */
import { ask } from "../shared/api.js";
import { showDocument } from "../shared/document.js";
import { findAll, inputById } from "../shared/elements.js";
import { messageOf } from "../shared/text.js";

for (const box of findAll("[data-document]")) {
  const article = showDocument(JSON.parse(box.querySelector("script")?.textContent ?? "{}"));
  const image = article.querySelector("img");
  if (image) image.src = box.dataset.image ?? "";
  box.replaceChildren(article);
}

const form = /** @type {HTMLFormElement|null} */ (document.getElementById("decide"));
const nextPage = /** @type {HTMLElement|null} */ (document.querySelector("[data-after]"))?.dataset.after;

/** Decide the grade; without one, withdraw the decision. @param {HTMLFormElement} decision @param {string} grade */
async function decide(decision, grade) {
  const buttons = decision.querySelectorAll("button");
  buttons.forEach((button) => (button.disabled = true));
  try {
    const { query, doc, api = "" } = decision.dataset;
    const reason = inputById("reason").value;
    await ask(api, { method: "POST", body: { query_id: query, doc_id: doc, grade: grade === "" ? null : Number(grade), reason } });
    if (grade === "") location.reload();
    else location.assign(nextPage ?? location.href);
  } catch (error) {
    /** @type {HTMLElement} */ (decision.querySelector(".error-line")).textContent = messageOf(error);
    buttons.forEach((button) => (button.disabled = false));
  }
}

form?.addEventListener("submit", (event) => event.preventDefault());
form?.addEventListener("click", (event) => {
  const button = /** @type {HTMLElement|null} */ (/** @type {HTMLElement} */ (event.target).closest("[data-grade]"));
  if (button) void decide(form, button.dataset.grade ?? "");
});
document.addEventListener("keydown", (event) => {
  if (event.repeat || event.ctrlKey || event.altKey || event.metaKey) return;
  if (/** @type {HTMLElement} */ (event.target).closest("input, textarea, select")) return;
  if (event.key === "n") document.getElementById("skip")?.click();
  const button = form?.querySelector(`[data-grade="${CSS.escape(event.key)}"]`);
  if (form && button && /^\d$/.test(event.key)) void decide(form, event.key);
});
