// @ts-check
/** Messages of the judge page that depend on numbers. */
import { countNoun } from "../shared/text.js";

/** @param {string[]} reasons why earlier judgments were refused */
export function describeRefused(reasons) {
  const [first] = reasons;
  return reasons.length === 1
    ? `1 earlier judgment does not count: ${first}.`
    : `${reasons.length} earlier judgments do not count: ${first}.`;
}

/** @param {number} unsent @param {import("../types").SaveState} state */
export function describeUnsent(unsent, state) {
  if (!unsent) return "Saved";
  return state === "sending" && unsent < 3 ? "Saving …" : `${unsent} not sent`;
}

/** @param {number} unsent */
export function describeOffline(unsent) {
  const judgments = unsent === 1 ? "1 judgment is" : `${unsent} judgments are`;
  return `No connection. ${judgments} saved in this browser and will be sent later. You can continue.`;
}

/** Return how many documents of a batch are judged. @param {number} judged @param {number} total */
export function describeJudged(judged, total) {
  const documents = countNoun(total, "document");
  return judged === total ? `all ${documents}` : `${judged} of ${documents}`;
}

/** @param {Pick<import("./session.js").Session, "count"|"isPractice">} session */
export function describeProgress(session) {
  const { done, total, number } = session.count();
  return session.isPractice ? `Practice ${number} of ${total}` : `${done} of ${total} judged`;
}
