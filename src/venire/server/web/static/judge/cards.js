// @ts-check
/** Cards in place of a document: the end of a batch, nothing to judge, what went wrong. */
import { actionButton, byId, element } from "../shared/elements.js";
import { countNoun } from "../shared/text.js";
import { describeJudged } from "./messages.js";
import { announce, hideGrades, hideTopic } from "./view.js";

const kbd = (/** @type {string} */ key) => element("kbd", {}, key);
const workLink = () => element("p", {}, element("a", { class: "button", href: "/work" }, "Your work"));

/** Show a card, without topic and grades. @param {string} title @param {...(Node|string)} children */
function showCard(title, ...children) {
  byId("document").replaceChildren(element("div", { class: "end card" }, element("h1", {}, title), ...children));
  hideTopic();
  hideGrades();
}

/** Return the code that a platform's worker takes back. @param {string|null} code @returns {Node[]} */
function codeParts(code) {
  return code ? [element("p", {}, "Your completion code:"), element("p", { class: "code" }, code)] : [];
}

/**
 * Show that everything is judged, and how to submit.
 * @param {import("./session.js").Session} session
 * @param {() => void} submit
 * @param {() => void} undo
 */
export function showEndCard(session, submit, undo) {
  const { judged, total } = session.count();
  const practice = session.isPractice;
  const title = practice ? "Practice complete" : "All documents judged";
  const text = practice
    ? "From now on your judgments count, and you will not see the correct answers."
    : `You judged ${describeJudged(judged, total)}. You can still undo. After you submit, you cannot change your answers.`;
  const button = actionButton({ class: "primary", id: "finish" }, submit, practice ? "Start judging " : "Submit ", kbd("Enter"));
  const back = practice ? "" : actionButton({}, undo, "Undo last judgment ", kbd("u"));
  showCard(title, element("p", {}, text), element("p", { class: "row" }, button, back));
  button.focus();
  announce(practice ? "Practice complete. Press Enter to start." : "All documents are judged. Press Enter to submit.");
}

/**
 * Show that there is nothing to judge now.
 * @param {Exclude<import("../types").Next, {state: "batch"}>} next
 * @param {() => void} again
 * @returns {number|null} seconds after which there may be documents; null where there will be none
 */
export function showNothingCard(next, again) {
  const seconds = next.state === "wait" ? Math.max(5, Math.ceil(next.retry_seconds ?? 60)) : null;
  const title = seconds === null ? "No more documents to judge" : "Others are judging the remaining documents";
  const parts = seconds === null ? [
    element("p", {}, "You have judged every document available to you. Thank you."),
  ] : [
    element("p", {}, `You may get documents that they do not finish, within ${describeWait(seconds)}. This page checks again automatically.`),
    element("p", {}, actionButton({}, again, "Check again now")),
  ];
  showCard(title, ...parts, ...codeParts(next.code), workLink());
  announce(byId("document").textContent ?? "");
  return seconds;
}

/** @param {number} seconds */
const describeWait = (seconds) => (seconds > 90 ? countNoun(Math.ceil(seconds / 60), "minute") : countNoun(seconds, "second"));

/** Show the code for a submitted batch. @param {string} code @param {() => void} again */
export function showSubmittedCard(code, again) {
  const button = element("p", {}, actionButton({}, again, "Judge more documents"));
  const card = element("div", { class: "end card" }, element("h1", {}, "Submitted. Thank you."), ...codeParts(code), button);
  hideTopic();
  byId("document").replaceChildren(card);
  announce("Submitted.");
}

/** @param {string} message */
export function showTroubleCard(message) {
  const title = "You cannot judge right now";
  showCard(title, element("p", {}, message), workLink());
  announce(byId("document").textContent ?? "");
}
