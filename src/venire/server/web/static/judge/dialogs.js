// @ts-check
/** The dialogs of the judge page. */
import { Offline, ask } from "../shared/api.js";
import { actionButton, byId, dialogById, element, findAll } from "../shared/elements.js";
import { countNoun, formatMinutes, messageOf } from "../shared/text.js";

/** Let every Cancel button close its dialog. */
export function closeDialogs() {
  for (const button of findAll("[data-close]")) button.addEventListener("click", () => button.closest("dialog")?.close());
}

export function openHelp() {
  dialogById("help").showModal();
}

/**
 * Ask why a document, or all of a group, cannot be judged.
 * @param {string[]} reasons
 * @param {number} count of documents
 * @param {(reason: string|null) => void} decline is called with the reason, or with null to skip
 */
export function openCannot(reasons, count, decline) {
  byId("cannot-title").textContent = count > 1
    ? `Why can't you judge these ${countNoun(count, "document")}?`
    : "Why can't you judge this document?";
  const choose = (/** @type {string|null} */ reason) => {
    dialogById("cannot").close();
    decline(reason);
  };
  const skip = `Skip: let someone else judge ${count > 1 ? "them" : "it"}`;
  const rows = [
    ...reasons.map((reason, place) => reasonRow(String(place + 1), reason, () => choose(reason))),
    reasonRow("0", skip, () => choose(null)),
  ];
  byId("reasons").replaceChildren(...rows);
  dialogById("cannot").showModal();
}

/** @param {string} key @param {string} text @param {() => void} action */
function reasonRow(key, text, action) {
  return element("li", {}, actionButton({}, action, element("kbd", {}, key), ` ${text[0].toUpperCase()}${text.slice(1)}`));
}

/** Choose the reason of a digit: 0 is the last row. @param {string} digit @returns {boolean} whether there is one */
export function chooseReason(digit) {
  const buttons = byId("reasons").querySelectorAll("button");
  const button = digit === "0" ? buttons[buttons.length - 1] : buttons[Number(digit) - 1];
  button?.click();
  return Boolean(button);
}

export function openComment() {
  /** @type {HTMLTextAreaElement} */ (byId("comment-text")).value = "";
  dialogById("comment").showModal();
}

/** @param {(text: string) => void} save */
export function onComment(save) {
  byId("comment-form").addEventListener("submit", () => {
    const text = /** @type {HTMLTextAreaElement} */ (byId("comment-text")).value.trim();
    if (text) save(text);
  });
}

/** @param {number} minutes how long the remaining documents stay reserved */
export function openLeave(minutes) {
  byId("kept-for").textContent = formatMinutes(minutes);
  dialogById("leave").showModal();
}

/** Ask to sign in again. @param {boolean} other whether another person is signed in now */
export function openSignIn(other) {
  const box = dialogById("again");
  byId("again-title").textContent = other ? "Someone else is signed in" : "Sign in again";
  if (!document.body.dataset.login) {
    byId("again-title").textContent = "Open your link again";
    box.querySelector("p")?.replaceChildren(
      "You were signed out. Nothing is lost. Open the link from your platform again in this browser to send your judgments.",
    );
    byId("again-form").hidden = true;
  }
  if (!box.open) box.showModal();
}

/** @param {() => Promise<void>} resume is called once the person is signed in */
export function onSignIn(resume) {
  byId("again-form").addEventListener("submit", async (event) => {
    event.preventDefault();
    const form = /** @type {HTMLFormElement} */ (event.target);
    try {
      await ask("/sign-in", { method: "POST", body: { login: form.login.value, password: form.password.value } });
      form.password.value = "";
      byId("again-error").textContent = "";
      dialogById("again").close();
      await resume();
    } catch (error) {
      byId("again-error").textContent = error instanceof Offline ? "No connection." : messageOf(error);
    }
  });
}
