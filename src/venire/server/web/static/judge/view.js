// @ts-check
/** What the judge page shows: topic, document, grades, messages. It knows no rules. */
import { element, actionButton, byId } from "../shared/elements.js";
import { showDocument } from "../shared/document.js";

/** @typedef {import("../types").Item} Item */
/** @typedef {{cannot: () => void, undo: () => void, comment: () => void, help: () => void, label: (value: number) => void}} Actions */

/** Milliseconds until a document that has not arrived is said to load. */
const LOADING_AFTER = 150;
const WIDE_NARRATIVE = 140;

/** Announce something to screen readers. @param {string} text */
export function announce(text) {
  byId("live").textContent = text;
}

/** Show a message above the page; an empty one removes it. @param {string} text @param {"warn"|"bad"} [kind] */
export function showBanner(text, kind = "warn") {
  const box = byId("banner");
  box.hidden = !text;
  box.className = `banner ${kind}`;
  if (box.textContent !== text) box.textContent = text;
}

/** @param {string} text */
export function showSaveState(text) {
  byId("state").textContent = text;
}

/** @param {string} text */
export function showCount(text) {
  byId("count").textContent = text;
}

/** @param {import("../types").Topic} topic */
export function showTopic({ title, description, narrative }) {
  byId("topic").hidden = false;
  byId("topic-title").textContent = title;
  byId("topic-description").textContent = description;
  byId("topic-narrative").textContent = narrative;
  byId("topic-more").hidden = narrative.length <= WIDE_NARRATIVE && narrative.split("\n").length <= 3;
  byId("topic-fold").hidden = !(description || narrative);
}

export function hideTopic() {
  byId("topic").hidden = true;
}

/** Let the two buttons of the topic unfold it. */
export function foldTopic() {
  for (const id of ["topic-more", "topic-fold"]) {
    byId(id).addEventListener("click", () => {
      const open = byId("topic").classList.toggle("open");
      byId("topic-more").textContent = open ? "Show less" : "Show more";
      byId("topic-fold").textContent = open ? "Hide details" : "Show details";
      byId("topic-more").setAttribute("aria-expanded", String(open));
      byId("topic-fold").setAttribute("aria-expanded", String(open));
    });
  }
}

/** Show the buttons of the grades, and those of the other actions.
 * @param {import("../types").Batch} batch
 * @param {Item} item
 * @param {Actions} actions
 * @param {boolean} active
 */
export function showGrades(batch, item, actions, active) {
  const main = element("div", { class: "main" }, ...batch.grades.map((grade) => {
    const pressed = item.state === "judged" && item.label === grade.value;
    return actionButton(
      { class: "grade", "aria-pressed": String(pressed), "aria-keyshortcuts": grade.key, title: grade.definition },
      () => actions.label(grade.value),
      element("kbd", {}, grade.key),
      element("span", { class: "name" }, grade.name),
      element("span", { class: "definition" }, grade.definition),
    );
  }));
  const pressed = ["cannot", "skipped"].includes(item.state);
  const cannot = otherButton("s", item.state === "skipped" ? "Skipped" : "Cannot judge", actions.cannot);
  cannot.setAttribute("aria-pressed", String(pressed));
  if (item.reason) cannot.title = item.reason;
  const others = element(
    "div", { class: "others" },
    cannot,
    otherButton("u", "Undo", actions.undo),
    otherButton("c", "Comment", actions.comment),
    otherButton("?", "Help", actions.help),
  );
  byId("grades").replaceChildren(main, others);
  if (!active) byId("grades").querySelectorAll("button").forEach((button) => (button.disabled = true));
}

/** @param {string} key @param {string} name @param {() => void} action */
function otherButton(key, name, action) {
  return actionButton({ "aria-keyshortcuts": key }, action, element("kbd", {}, key), ` ${name}`);
}

export function hideGrades() {
  byId("grades").replaceChildren();
}

/** Say that the document loads, where it takes long. @returns {() => void} what ends the wait */
export function expectDocument() {
  const timer = setTimeout(() => byId("document").replaceChildren(element("article", {}, element("p", { class: "soft" }, "Loading …"))), LOADING_AFTER);
  return () => clearTimeout(timer);
}

/** @param {import("../types").DocumentData} data @param {string} lease */
export function showArticle(data, lease) {
  const place = byId("document");
  const article = showDocument(data);
  place.replaceChildren(article);
  place.scrollTop = 0;
  addJump(place, article);
  place.dataset.lease = lease;
  place.focus({ preventScroll: true });
}

/** Offer a jump to the best passage of a long document. @param {HTMLElement} place @param {HTMLElement} article */
function addJump(place, article) {
  const passage = /** @type {HTMLElement|null} */ (article.querySelector(".densest"));
  if (!passage || article.offsetHeight < place.clientHeight * 1.3) return;
  const scroll = () => passage.scrollIntoView({ block: "center" });
  place.prepend(actionButton({ class: "jump", "aria-keyshortcuts": "j" }, scroll, "Best passage ", element("kbd", {}, "j")));
}

/** Show the feedback to a practice document.
 * @param {import("../types").Feedback} feedback
 * @param {string} name of the right grade
 * @param {() => void} onward
 */
export function showFeedback({ right, note }, name, onward) {
  const box = byId("feedback");
  const button = actionButton({ class: "primary" }, onward, "Continue ", element("kbd", {}, "Enter"));
  box.className = `feedback ${right ? "right" : "wrong"}`;
  const verdict = element("strong", {}, right ? "Correct. " : "Not quite. ");
  const answer = right ? `It is “${name}”.` : `The correct answer is “${name}”.`;
  box.replaceChildren(element("span", {}, verdict, note ? `${answer} ${note}` : answer), button);
  box.hidden = false;
  button.focus();
}

export function hideFeedback() {
  byId("feedback").hidden = true;
}

export const isFeedbackVisible = () => !byId("feedback").hidden;

/** Keys beside what they do. @param {boolean} grouped @returns {[string, string][]} */
function listKeys(grouped) {
  /** @type {[string, string][]} */
  const groupKeys = [
    ["o", "Open or close a group"],
    ["Space", "In an open group: mark a document as different; press again for the next grade"],
    ["Shift-click", "In an open group: mark everything from the last marked document to this one"],
    ["x", "In an open group: split off the marked documents"],
  ];
  return [
    ["s", "Cannot judge, or skip"],
    ["u", "Undo the last judgment"],
    ["c", "Comment"],
    ["j", "Jump to the best passage"],
    ["← →", "Go to the previous or next document"],
    ...(grouped ? groupKeys : []),
    ["?", "Show this help"],
  ];
}

/** Fill the help with instructions, grades and keys. @param {import("../types").Batch} batch */
export function fillHelp(batch) {
  // The server has cleaned this Markdown; it is the owner's text, not a document's.
  byId("instructions").innerHTML = batch.instructions || "<p>Choose how well each document answers the search.</p>";
  byId("help-grades").replaceChildren(...batch.grades.flatMap((grade) => [
    element("dt", {}, element("kbd", {}, grade.key), ` ${grade.name}`),
    element("dd", {}, grade.definition),
  ]));
  byId("help-keys").replaceChildren(...listKeys(batch.grouped).map(([key, words]) => (
    element("tr", {}, element("th", { scope: "row" }, element("kbd", {}, key)), element("td", {}, words))
  )));
}
