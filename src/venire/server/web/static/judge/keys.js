// @ts-check
/** The keys of the judge page. */
import { byId, dialogById } from "../shared/elements.js";
import { chooseReason, openHelp } from "./dialogs.js";
import { isFeedbackVisible } from "./view.js";

/** Return what a key does, beside the grades; undefined where it does nothing.
 * @param {import("./judge.js").Judge} judge
 * @param {string} key
 * @returns {(() => void)|undefined}
 */
function findAction(judge, key) {
  return {
    s: () => judge.askReason(),
    u: () => judge.undo(),
    c: () => judge.comment(),
    j: () => /** @type {HTMLElement|null} */ (document.querySelector(".jump"))?.click(),
    ArrowLeft: () => judge.look(-1),
    ArrowRight: () => judge.look(1),
  }[key];
}

/** @param {import("./judge.js").Judge} judge @param {KeyboardEvent} event */
export function handleKey(judge, event) {
  if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing || event.repeat) return;
  const target = /** @type {HTMLElement} */ (event.target);
  if (target.closest("input, textarea, select, [contenteditable]")) return;
  judge.clock.touch();
  if (dialogById("cannot").open) {
    if (/^[0-9]$/.test(event.key) && chooseReason(event.key)) event.preventDefault();
    return;
  }
  if (document.querySelector("dialog[open]")) return;
  if (event.key === "?") return openHelp();
  if (!judge.session || judge.ended) return;
  if (judge.groups.press(event)) return event.preventDefault();
  if (event.key === "Enter" && !target.closest("button, a")) return pressEnter(judge);
  const grade = judge.session.batch.grades.find(({ key }) => key === event.key);
  const action = findAction(judge, event.key);
  if (grade) judge.label(grade.value);
  else if (action) action();
  else return;
  event.preventDefault();
}

/** @param {import("./judge.js").Judge} judge */
function pressEnter(judge) {
  if (isFeedbackVisible()) judge.continue();
  else if (byId("finish")) judge.submit();
}
