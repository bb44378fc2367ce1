// @ts-check
/** The Annotation page: rows of the scale, and instructions as annotators will see them. */
import { ask } from "../shared/api.js";
import { messageOf } from "../shared/text.js";

const PREVIEW_AFTER = 250;
const rows = document.querySelector("tbody[data-rows]");

document.getElementById("add-grade")?.addEventListener("click", () => {
  const last = rows?.querySelector("[data-row]:last-child");
  if (!rows || !last) return;
  const row = /** @type {HTMLElement} */ (last.cloneNode(true));
  const [grade, name, definition] = row.querySelectorAll("input");
  grade.value = String(Number(grade.value) + 1);
  name.value = definition.value = "";
  rows.append(row);
  name.focus();
});
rows?.addEventListener("click", (event) => {
  const button = /** @type {HTMLElement} */ (event.target).closest("[data-remove-row]");
  if (button && rows.querySelectorAll("[data-row]").length > 2) button.closest("[data-row]")?.remove();
});

const area = /** @type {HTMLTextAreaElement|null} */ (document.getElementById("instructions"));
const rendered = document.getElementById("rendered");
let timer = 0;

/** @param {string} markdown @param {HTMLElement} place */
async function preview(markdown, place) {
  try {
    const answer = await ask("/api/instructions", { method: "POST", body: { markdown } });
    // The server has made it harmless: only tags of plain text are left.
    place.innerHTML = answer.html;
  } catch (error) {
    place.textContent = messageOf(error);
  }
}

area?.addEventListener("input", () => {
  clearTimeout(timer);
  timer = window.setTimeout(() => rendered && void preview(area.value, rendered), PREVIEW_AFTER);
});
