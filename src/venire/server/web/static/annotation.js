// @ts-check
/** The Annotation page: rows of the scale, and instructions as annotators will see them. */
import { ask } from "./api.js";

const rows = document.querySelector("tbody[data-rows]");
document.getElementById("add-grade")?.addEventListener("click", () => {
  const last = rows?.querySelector("[data-row]:last-child");
  if (!rows || !last) return;
  const made = /** @type {HTMLElement} */ (last.cloneNode(true));
  const inputs = made.querySelectorAll("input");
  inputs[0].value = String(Number(inputs[0].value) + 1);
  inputs[1].value = inputs[2].value = "";
  rows.append(made);
  inputs[1].focus();
});
rows?.addEventListener("click", (event) => {
  const button = /** @type {HTMLElement} */ (event.target).closest("[data-remove-row]");
  if (button && rows.querySelectorAll("[data-row]").length > 2) button.closest("[data-row]")?.remove();
});

const area = /** @type {HTMLTextAreaElement|null} */ (document.getElementById("instructions"));
const rendered = document.getElementById("rendered");
let timer = 0;
area?.addEventListener("input", () => {
  clearTimeout(timer);
  timer = window.setTimeout(async () => {
    try {
      const answer = await ask("/api/instructions", { method: "POST", body: { markdown: area.value } });
      // The server has made it harmless: only tags of plain text are left.
      if (rendered) rendered.innerHTML = answer.html;
    } catch (error) {
      if (rendered) rendered.textContent = error instanceof Error ? error.message : String(error);
    }
  }, 250);
});
