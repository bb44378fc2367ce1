// @ts-check
/** What the server answers, and what the page does about it. Errors are told apart by code, never by text. */
import { Offline, Refused, ask } from "../shared/api.js";
import { messageOf } from "../shared/text.js";
import { showSubmittedCard, showTroubleCard } from "./cards.js";
import { openSignIn } from "./dialogs.js";
import { describeOffline, describeUnsent } from "./messages.js";
import { announce, showBanner, showFeedback, showSaveState } from "./view.js";

/** @typedef {import("./judge.js").Judge} Judge */

/** Whether an error means that the batch belongs to somebody else: another person has signed in. @param {unknown} error */
export const isOthersBatch = (error) => error instanceof Refused && error.code === "not-found" && error.facts.kind === "batch";

/**
 * Show how far the events are saved.
 * @param {boolean} active whether this tab judges
 * @param {number} unsent
 * @param {import("../types").SaveState} state
 * @param {unknown} [error]
 */
export function showSaving(active, unsent, state, error) {
  showSaveState(describeUnsent(unsent, state));
  if (state === "signed-out") openSignIn(isOthersBatch(error));
  else if (state === "offline") showBanner(describeOffline(unsent));
  else if (state === "failed") {
    showBanner(`The server did not accept a judgment: ${messageOf(error)}. It is saved in this browser.`, "bad");
  } else if (active) showBanner("");
}

/**
 * @param {Judge} judge
 * @param {import("../types").JudgeEvent} event
 * @param {import("../types").Answer} answer
 * @param {import("../types").Answers} answers
 */
export function takeAnswer(judge, event, answer, answers) {
  const { feedback, status, reason = "" } = answer;
  if (feedback) {
    const name = judge.session?.findGrade(feedback.grade)?.name ?? String(feedback.grade);
    showFeedback(feedback, name, () => judge.continue());
  }
  if (status === "refused") {
    if (event.kind === "finish") return void reloadBatch(judge, reason);
    announce(reason);
    showBanner(`1 judgment does not count: ${reason}.`);
  } else if (event.kind === "finish") {
    if (answers.code) showSubmittedCard(answers.code, () => void judge.start());
    else void judge.start();
  }
}

/** Read the batch again, after it could not be submitted. @param {Judge} judge @param {string} reason @returns {Promise<void>} */
async function reloadBatch(judge, reason) {
  if (!judge.session) return;
  try {
    judge.session.batch = await ask(`/judge/batches/${judge.session.batch.batch}`);
  } catch (error) {
    return handleTrouble(judge, error, () => void reloadBatch(judge, reason));
  }
  if (judge.session.batch.state !== "open") return judge.start();
  judge.go(judge.session.firstOpen);
  showBanner(reason);
}

/** @param {Judge} judge @param {unknown} error @param {() => void} again what to try again */
export function handleTrouble(judge, error, again) {
  if (error instanceof Refused && error.status === 401) {
    judge.retry = again;
    openSignIn(false);
  } else if (error instanceof Offline) {
    showBanner("No connection. This page tries again automatically.");
    setTimeout(again, 3000);
  } else showTroubleCard(messageOf(error));
}
