// @ts-check
/** The judge page: everything is put together and listens. */
import { byId } from "../shared/elements.js";
import { closeDialogs, onComment, onSignIn, openHelp } from "./dialogs.js";
import { Judge } from "./judge.js";
import { handleKey } from "./keys.js";
import { foldTopic } from "./view.js";

const { campaign = "", user = "" } = document.body.dataset;
const judge = new Judge(campaign, user);

document.addEventListener("keydown", (event) => handleKey(judge, event));
for (const name of ["pointerdown", "pointermove", "wheel", "touchstart"]) {
  document.addEventListener(name, () => judge.clock.touch(), { passive: true });
}
document.addEventListener("visibilitychange", () => judge.clock.setVisible(!document.hidden));
window.addEventListener("online", () => void judge.outbox?.resume());

closeDialogs();
foldTopic();
onComment((text) => judge.saveComment(text));
onSignIn(async () => {
  await judge.outbox?.resume();
  judge.retry?.();
  judge.retry = null;
});
byId("help-button").addEventListener("click", openHelp);
byId("leave-button").addEventListener("click", () => judge.leave());
byId("keep").addEventListener("click", () => window.location.assign("/work"));
byId("give-back").addEventListener("click", () => void judge.returnRest());

void judge.start();
