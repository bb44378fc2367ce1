// @ts-check
/**
 * The judge page. A key is an event: it is kept here, shown at once, and sent; the server's word
 * makes it "Saved". What is shown is always a fold over the batch and the events.
 */
import { Offline, Refused, ask } from "./api.js";
import { Clock } from "./clock.js";
import { element, show } from "./document.js";
import { GroupView } from "./groups.js";
import { Outbox, sendLeft } from "./outbox.js";

const AHEAD = 5;
const DONE = ["judged", "cannot", "skipped", "expired", "returned"];
const campaign = document.body.dataset.campaign ?? "";
const user = document.body.dataset.user ?? "";

/** @param {string} id @returns {HTMLElement} */
const $ = (id) => /** @type {HTMLElement} */ (document.getElementById(id));
/** @param {string} id @returns {HTMLDialogElement} */
const dialog = (id) => /** @type {HTMLDialogElement} */ ($(id));

/** @type {any} */
let batch = null;
let at = 0;
let active = true;
let ended = false;
/** @type {Outbox|null} */
let outbox = null;
/** @type {Map<string, Promise<any>>} */
const documents = new Map();
/** What can be undone: places judged at once, or how to take an action back. @type {(number[] | (() => void))[]} */
let history = [];
const clock = new Clock();

/* ---- getting a batch ---- */

async function next() {
  try {
    const refused = await sendLeft(user);
    const found = await ask(`/judge/${campaign}/next`, { method: "POST", body: {} });
    if (found.state === "batch") await begin(found.batch);
    else nothing(found);
    if (refused.length) banner(`${refused.length === 1 ? "One earlier judgment does" : `${refused.length} earlier judgments do`} not count: ${refused[0]}.`, "warn");
  } catch (error) {
    trouble(error, () => void next());
  }
}

/** @param {any} given */
async function begin(given) {
  batch = given;
  ended = false;
  history = [];
  documents.clear();
  outbox = new Outbox(user, batch.batch, { changed, answered });
  const waiting = await outbox.start();
  for (const event of waiting) fold(event);
  await lock(batch.batch);
  instructions();
  const kept = Number(sessionStorage.getItem(`at ${batch.batch}`));
  go(kept && kept < batch.items.length && sessionStorage.getItem(`looking ${batch.batch}`) ? kept : firstLive());
  if (waiting.length) void outbox.flush();
  else changed(0, "saved");
  if (batch.kind === "practice" && !sessionStorage.getItem(`seen ${batch.batch}`)) {
    sessionStorage.setItem(`seen ${batch.batch}`, "1");
    dialog("help").showModal();
  }
}

/** One tab judges; another of the same batch looks on, and takes over when the first closes. */
async function lock(/** @type {string} */ id) {
  if (!navigator.locks) return;
  await new Promise((resolve) => {
    void navigator.locks.request(`venire ${id}`, { ifAvailable: true }, (got) => {
      active = got !== null;
      resolve(undefined);
      if (got) return new Promise(() => {});
      void navigator.locks.request(`venire ${id}`, () => {
        window.location.reload();
        return new Promise(() => {});
      });
      return undefined;
    });
  });
  if (!active) banner("This batch is open in another tab. Here you can only look.", "warn");
}

/* ---- folding events ---- */

/** @param {any} event */
function fold(event) {
  const leases = event.leases ?? [event.lease];
  if (event.kind === "split") return separate(leases);
  for (const item of batch.items) if (leases.includes(item.lease)) apply(event, item);
}

/** @param {string[]} leases */
function separate(leases) {
  const taken = batch.items.map((/** @type {any} */ item) => item.group ?? -1);
  const number = leases.length > 1 ? Math.max(...taken) + 1 : null;
  for (const item of batch.items) if (leases.includes(item.lease)) item.group = number;
}

/** @param {any} event @param {any} item */
function apply(event, item) {
  if (event.kind === "label" || event.kind === "group") Object.assign(item, { state: "judged", label: event.label, reason: null });
  else if (event.kind === "cannot") Object.assign(item, { state: "cannot", label: null, reason: event.reason });
  else if (event.kind === "skip") Object.assign(item, { state: "skipped", label: null, reason: null });
  else if (event.kind === "undo") Object.assign(item, { state: "live", label: null, reason: null });
}

function firstLive() {
  const found = batch.items.findIndex((/** @type {any} */ item) => item.state === "live");
  return found < 0 ? batch.items.length : found;
}

/* ---- showing ---- */

/** @param {number} place @param {boolean} [looking] @returns {void} */
function go(place, looking = false) {
  at = place;
  sessionStorage.setItem(`at ${batch.batch}`, String(at));
  if (looking) sessionStorage.setItem(`looking ${batch.batch}`, "1");
  else sessionStorage.removeItem(`looking ${batch.batch}`);
  progress();
  if (at >= batch.items.length) return complete();
  const item = batch.items[at];
  topic(batch.topics[item.topic]);
  if (item.group !== null) {
    grades(item);
    groups.show(item.group);
    return;
  }
  groups.hide();
  grades(item);
  void shown(item);
  for (let ahead = at + 1; ahead <= at + AHEAD && ahead < batch.items.length; ahead++) {
    fetchDocument(batch.items[ahead].lease);
  }
}

/** @param {string} lease @returns {Promise<any>} */
function fetchDocument(lease) {
  let found = documents.get(lease);
  if (!found) {
    found = ask(`/judge/documents/${lease}`).then((data) => {
      if (data.kind === "image" && !data.missing) new Image().src = `/judge/images/${lease}`;
      return data;
    });
    documents.set(lease, found);
    found.catch(() => documents.delete(lease));
  }
  return found;
}

/** @param {any} item */
async function shown(item) {
  const place = $("document");
  const waiting = setTimeout(() => place.replaceChildren(element("article", {}, element("p", { class: "soft" }, "Loading …"))), 150);
  try {
    const data = await fetchDocument(item.lease);
    if (batch.items[at] !== item) return;
    const article = show(data);
    place.replaceChildren(article);
    place.scrollTop = 0;
    jump(place, article);
    place.dataset.lease = item.lease;
    place.focus({ preventScroll: true });
    say(`Document ${at + 1} of ${batch.items.length}. ${batch.topics[item.topic].title}`);
    clock.restart();
    performance.mark("venire-shown", { detail: at });
  } catch (error) {
    if (batch.items[at] !== item) return;
    trouble(error, () => void shown(item));
  } finally {
    clearTimeout(waiting);
  }
}

/** @param {HTMLElement} place @param {HTMLElement} article */
function jump(place, article) {
  const passage = /** @type {HTMLElement|null} */ (article.querySelector(".densest"));
  if (!passage || article.offsetHeight < place.clientHeight * 1.3) return;
  const button = element("button", { type: "button", class: "jump", "aria-keyshortcuts": "j" }, "Best passage ", element("kbd", {}, "j"));
  button.addEventListener("click", () => passage.scrollIntoView({ block: "center" }));
  place.prepend(button);
}

/** @param {any} one */
function topic(one) {
  $("topic-title").textContent = one.title;
  $("topic-description").textContent = one.description;
  $("topic-narrative").textContent = one.narrative;
  const wide = one.narrative.length > 140 || one.narrative.split("\n").length > 3;
  $("topic-more").hidden = !wide;
  $("topic-fold").hidden = !(one.description || one.narrative);
}

/** @param {any} item */
function grades(item) {
  const main = element("div", { class: "main" });
  for (const grade of batch.grades) {
    const pressed = item.state === "judged" && item.label === grade.value;
    const button = element(
      "button",
      { type: "button", class: "grade", "aria-pressed": String(pressed), "aria-keyshortcuts": grade.key, title: grade.definition },
      element("kbd", {}, grade.key),
      element("span", { class: "name" }, grade.name),
      element("span", { class: "definition" }, grade.definition),
    );
    button.addEventListener("click", () => label(grade.value));
    main.append(button);
  }
  const others = element("div", { class: "others" });
  for (const [key, name, act] of /** @type {[string, string, () => void][]} */ ([
    ["s", item.state === "skipped" ? "Skipped" : "Cannot judge", cannot],
    ["u", "Undo", undo],
    ["c", "Comment", comment],
    ["?", "Help", () => dialog("help").showModal()],
  ])) {
    const button = element("button", { type: "button", "aria-keyshortcuts": key }, element("kbd", {}, key), ` ${name}`);
    if (key === "s") {
      button.setAttribute("aria-pressed", String(["cannot", "skipped"].includes(item.state)));
      if (item.reason) button.title = item.reason;
    }
    button.addEventListener("click", act);
    others.append(button);
  }
  $("grades").replaceChildren(main, others);
  if (!active) $("grades").querySelectorAll("button").forEach((button) => (button.disabled = true));
}

function progress() {
  const done = batch.items.filter((/** @type {any} */ item) => DONE.includes(item.state)).length;
  $("count").textContent = batch.kind === "practice"
    ? `Practice ${Math.min(at + 1, batch.items.length)} of ${batch.items.length}`
    : `${done} of ${batch.items.length} judged`;
}

/** @returns {void} */
function complete() {
  const left = firstLive();
  if (left < batch.items.length) return go(left);
  if (batch.grouped) {
    topic(batch.topics[batch.items[0].topic]);
    return groups.review();
  }
  const judged = batch.items.filter((/** @type {any} */ item) => item.state === "judged").length;
  const practice = batch.kind === "practice";
  const button = element("button", { type: "button", class: "primary", id: "finish" }, practice ? "Begin " : "Hand in ", element("kbd", {}, "Enter"));
  button.addEventListener("click", finish);
  const back = element("button", { type: "button" }, "Undo the last ", element("kbd", {}, "u"));
  back.addEventListener("click", undo);
  $("document").replaceChildren(element(
    "div", { class: "end card" },
    element("h2", {}, practice ? "That was the practice" : "All judged"),
    element("p", {}, practice ? "From now on your judgments count, and no answer is shown." : `${judged} judged, ${batch.items.length - judged} not. You can still undo. Handed in, they are final.`),
    element("p", {}, button, " ", practice ? "" : back),
  ));
  $("grades").replaceChildren();
  $("topic-title").textContent = practice ? "Practice is over" : "Batch complete";
  $("topic-description").textContent = "";
  $("topic-narrative").textContent = "";
  $("topic-more").hidden = true;
  $("topic-fold").hidden = true;
  button.focus();
  say("All documents of this batch are judged. Press Enter to hand it in.");
}

/** @param {any} found */
function nothing(found) {
  batch = null;
  ended = true;
  $("grades").replaceChildren();
  $("count").textContent = "";
  $("topic-title").textContent = found.state === "wait" ? "A short wait" : "Thank you";
  $("topic-description").textContent = "";
  $("topic-narrative").textContent = "";
  const end = element("div", { class: "end card" });
  if (found.state === "wait") {
    const seconds = Math.max(5, Math.ceil(found.retry_seconds ?? 60));
    const words = seconds > 90 ? `${Math.ceil(seconds / 60)} minutes` : `${seconds} seconds`;
    end.append(
      element("h2", {}, "Everything left is with others now"),
      element("p", {}, `Documents that they do not finish come back, in ${words} at the latest. This page looks again by itself.`),
    );
    const again = element("button", { type: "button" }, "Look again now");
    again.addEventListener("click", () => void next());
    end.append(element("p", {}, again));
    setTimeout(() => { if (ended) void next(); }, Math.min(seconds, 30) * 1000);
  } else {
    end.append(element("h2", {}, "Nothing is left to judge"), element("p", {}, "You have judged all there was for you. Thank you."));
  }
  code(end, found.code);
  end.append(element("p", {}, element("a", { class: "button", href: "/work" }, "Your work")));
  $("document").replaceChildren(end);
  say(end.textContent ?? "");
}

/** @param {HTMLElement} place @param {string|null} given */
function code(place, given) {
  if (!given) return;
  place.append(element("p", {}, "Your code for the platform:"), element("p", { class: "code" }, given));
}

/* ---- acting ---- */

/** @param {string} kind @param {Record<string, unknown>} [values] */
function act(kind, values = {}) {
  if (!outbox || !active) return;
  const about = values.leases || ["finish", "leave"].includes(kind) ? {} : { lease: batch.items[at]?.lease };
  const event = { kind, ...about, ...values };
  fold(event);
  void outbox.add(/** @type {any} */ (event));
}

/** @param {number} value */
function label(value) {
  if (!canAct()) return;
  performance.mark("venire-key");
  if (groups.shown) return groups.label(value);
  act("label", { label: value, ...clock.read() });
  moved([at]);
}

/** @param {number[]} places what was judged at once */
function moved(places) {
  history.push(places);
  const place = Math.max(...places);
  if (batch.kind === "practice" && batch.items[place].state === "judged") {
    progress();
    grades(batch.items[place]);
    return;
  }
  const after = batch.items.findIndex((/** @type {any} */ item, /** @type {number} */ where) => where > place && item.state === "live");
  go(after < 0 ? firstLive() : after);
}

function canAct() {
  return Boolean(batch) && active && at < batch.items.length && $("feedback").hidden;
}

function cannot() {
  if (!canAct()) return;
  const list = $("reasons");
  list.replaceChildren();
  const several = groups.shown ? groups.members().length : 1;
  $("cannot-title").textContent = several > 1 ? `Why can none of these ${several} be judged?` : "Why can it not be judged?";
  batch.reasons.forEach((/** @type {string} */ reason, /** @type {number} */ place) => {
    const button = element("button", { type: "button" }, element("kbd", {}, String(place + 1)), ` ${reason}`);
    button.addEventListener("click", () => decline("cannot", { reason, ...clock.read() }));
    list.append(element("li", {}, button));
  });
  const skip = element("button", { type: "button" }, element("kbd", {}, "0"), " Skip it: somebody else should judge this one");
  skip.addEventListener("click", () => decline("skip", clock.read()));
  list.append(element("li", {}, skip));
  dialog("cannot").showModal();
}

/** @param {string} kind @param {Record<string, unknown>} values */
function decline(kind, values) {
  dialog("cannot").close();
  const places = groups.shown ? groups.members().map(({ place }) => place) : [at];
  for (const place of places) act(kind, { lease: batch.items[place].lease, ...values });
  moved(places);
}

function undo() {
  if (!batch || !active) return;
  hideFeedback();
  const last = history.pop();
  if (typeof last === "function") return last();
  const places = last ?? before();
  if (!places.length) return say("There is nothing to undo.");
  act("undo", { leases: places.map((/** @type {number} */ place) => batch.items[place].lease) });
  go(places[0]);
  say(`Undone. Document ${places[0] + 1}.`);
}

/** What was judged last, as far as the order of the batch tells: after a reload. */
function before() {
  let place = at - 1;
  while (place >= 0 && !["judged", "cannot", "skipped"].includes(batch.items[place].state)) place--;
  if (place < 0) return [];
  const { group } = batch.items[place];
  if (group === null) return [place];
  return batch.items.flatMap((/** @type {any} */ item, /** @type {number} */ where) => (item.group === group && item.state === "judged" ? [where] : []));
}

function comment() {
  if (!canAct()) return;
  /** @type {HTMLTextAreaElement} */ ($("comment-text")).value = "";
  dialog("comment").showModal();
}

function finish() {
  if (!outbox || !active) return;
  /** @type {HTMLButtonElement|null} */ (document.getElementById("finish"))?.setAttribute("disabled", "");
  act("finish");
}

/* ---- what the server says ---- */

/** @param {number} unsent @param {string} state @param {unknown} [error] */
function changed(unsent, state, error) {
  const left = unsent === 1 ? "1 not sent" : `${unsent} not sent`;
  $("state").textContent = unsent ? (state === "sending" && unsent < 3 ? "Saving …" : left) : "Saved";
  if (state === "signed-out") signInAgain(error instanceof Refused ? error : undefined);
  else if (state === "offline") {
    banner(`No connection. ${unsent === 1 ? "1 judgment is" : `${unsent} judgments are`} kept here and will be sent. You can go on.`, "warn");
  } else if (state === "failed") banner(`The server did not take a judgment: ${error instanceof Error ? error.message : String(error)}. It is kept here.`, "bad");
  else if (active) banner("");
}

/** @param {any} event @param {any} answer @param {any} whole */
function answered(event, answer, whole) {
  if (answer.feedback) feedback(event, answer.feedback);
  if (answer.status === "refused") {
    if (event.kind === "finish") {
      void refresh(answer.reason);
      return;
    }
    say(answer.reason);
    banner(`One judgment does not count: ${answer.reason}.`, "warn");
  }
  if (event.kind === "finish" && answer.status === "saved") finished(whole.code);
}

/** @param {string} why */
async function refresh(why) {
  try {
    batch = await ask(`/judge/batches/${batch.batch}`);
  } catch (error) {
    return trouble(error, () => void refresh(why));
  }
  if (batch.state !== "open") return void next();
  go(firstLive());
  banner(why, "warn");
}

/** @param {string|null} given */
function finished(given) {
  if (!given) return void next();
  const again = element("button", { type: "button" }, "Judge another batch");
  again.addEventListener("click", () => void next());
  const end = element("div", { class: "end card" }, element("h2", {}, "Handed in. Thank you."));
  code(end, given);
  end.append(element("p", {}, again));
  $("document").replaceChildren(end);
  say("Handed in.");
}

/** @param {any} event @param {{right: boolean, grade: number, note: string}} given */
function feedback(event, given) {
  const name = batch.grades.find((/** @type {any} */ grade) => grade.value === given.grade)?.name ?? given.grade;
  const box = $("feedback");
  const button = element("button", { type: "button", class: "primary" }, "Go on ", element("kbd", {}, "Enter"));
  button.addEventListener("click", goOn);
  box.className = `feedback ${given.right ? "right" : "wrong"}`;
  box.replaceChildren(
    element("span", {}, element("strong", {}, given.right ? "Right. " : "Not quite. "), `It is “${name}”. ${given.note}`),
    button,
  );
  box.hidden = false;
  button.focus();
}

function hideFeedback() {
  $("feedback").hidden = true;
}

function goOn() {
  hideFeedback();
  go(firstLive());
}

/** @param {Refused} [refused] */
function signInAgain(refused) {
  const box = dialog("again");
  const other = refused?.code === "not-found" && refused.facts.kind === "batch";
  $("again-title").textContent = other ? "Somebody else is signed in here" : "Sign in again";
  if (!document.body.dataset.login) {
    $("again-title").textContent = "Open the link again";
    box.querySelector("p")?.replaceChildren("You were signed out. Nothing is lost: open the link from your platform again in this browser, and what is kept here will be sent.");
    $("again-form").hidden = true;
  }
  if (!box.open) box.showModal();
}

/** @param {unknown} error @param {() => void} again */
function trouble(error, again) {
  if (error instanceof Refused && error.status === 401) {
    retry = again;
    signInAgain();
    return;
  }
  if (error instanceof Offline) {
    banner("No connection. This page tries again by itself.", "warn");
    setTimeout(again, 3000);
    return;
  }
  const end = element("div", { class: "end card" }, element("h2", {}, "Not now"), element("p", {}, error instanceof Error ? error.message : String(error)), element("p", {}, element("a", { class: "button", href: "/work" }, "Your work")));
  $("document").replaceChildren(end);
  $("topic-title").textContent = "Judging is not possible now";
  $("grades").replaceChildren();
  say(end.textContent ?? "");
}

/** @param {number} minutes @returns {string} */
function lasting(minutes) {
  const [number, unit] = minutes < 120 ? [minutes, "minute"] : minutes < 2880 ? [Math.floor(minutes / 60), "hour"] : [Math.floor(minutes / 1440), "day"];
  return `${number} ${unit}${number === 1 ? "" : "s"}`;
}

/** @type {(() => void)|null} */
let retry = null;

/** @param {string} words @param {string} [kind] */
function banner(words, kind = "warn") {
  const box = $("banner");
  box.hidden = !words;
  box.className = `banner ${kind}`;
  if (box.textContent !== words) box.textContent = words;
}

/** @param {string} words */
function say(words) {
  $("live").textContent = words;
}

function instructions() {
  // The server has cleaned this Markdown; it is the owner's text, not a document's.
  $("instructions").innerHTML = batch.instructions || "<p>Say how well each document answers what was looked for.</p>";
  const list = $("help-grades");
  list.replaceChildren();
  for (const grade of batch.grades) {
    list.append(element("dt", {}, element("kbd", {}, grade.key), ` ${grade.name}`), element("dd", {}, grade.definition));
  }
  const rows = [["s", "cannot judge, with a reason"], ["u", "undo the last judgment"], ["c", "comment"], ["j", "jump to the best passage"], ["← →", "look at the document before or after"], ...(batch.grouped ? [["o", "open a group, or close it"], ["Space", "in an open group: mark an image as different, again for the next grade"], ["Shift-click", "in an open group: mark all from the last marked to this one"], ["x", "in an open group: split the marked images off"]] : []), ["?", "this help"]];
  $("help-keys").replaceChildren(...rows.map(([key, words]) => element("tr", {}, element("th", { scope: "row" }, element("kbd", {}, key)), element("td", {}, words))));
}

/* ---- keys ---- */

/** @param {KeyboardEvent} event */
function key(event) {
  if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing || event.repeat) return;
  const target = /** @type {HTMLElement} */ (event.target);
  if (target.closest("input, textarea, select, [contenteditable]")) return;
  clock.touch();
  if (dialog("cannot").open) {
    const place = Number(event.key);
    const buttons = $("reasons").querySelectorAll("button");
    const chosen = event.key === "0" ? buttons[buttons.length - 1] : buttons[place - 1];
    if (/^[0-9]$/.test(event.key) && chosen) {
      event.preventDefault();
      chosen.click();
    }
    return;
  }
  if (document.querySelector("dialog[open]")) return;
  if (event.key === "?") return void dialog("help").showModal();
  if (!batch || ended) return;
  if (groups.key(event)) return void event.preventDefault();
  if (event.key === "Enter" && !target.closest("button, a")) {
    if (!$("feedback").hidden) goOn();
    else if (document.getElementById("finish")) finish();
    return;
  }
  const grade = batch.grades.find((/** @type {any} */ one) => one.key === event.key);
  const act = { s: cannot, u: undo, c: comment, j: () => /** @type {HTMLElement|null} */ (document.querySelector(".jump"))?.click(), ArrowLeft: () => look(-1), ArrowRight: () => look(1) }[event.key];
  if (grade) label(grade.value);
  else if (act) act();
  else return;
  event.preventDefault();
}

const groups = new GroupView({
  batch: () => batch,
  place: $("document"),
  document: fetchDocument,
  act,
  moved,
  undoable: (back) => history.push(back),
  go,
  say,
  finish,
  time: () => clock.read(),
  restart: () => clock.restart(),
  canAct: () => Boolean(batch) && active,
});

/** @param {number} step */
function look(step) {
  const place = at + step;
  if ($("feedback").hidden && place >= 0 && place < batch.items.length) go(place, true);
}

document.addEventListener("keydown", key);
for (const name of ["pointerdown", "pointermove", "wheel", "touchstart"]) {
  document.addEventListener(name, () => clock.touch(), { passive: true });
}
document.addEventListener("visibilitychange", () => clock.show(!document.hidden));
window.addEventListener("online", () => void outbox?.resume());
document.querySelectorAll("[data-close]").forEach((button) => {
  button.addEventListener("click", () => button.closest("dialog")?.close());
});
$("help-button").addEventListener("click", () => dialog("help").showModal());
$("leave-button").addEventListener("click", () => {
  if (batch && active && firstLive() < batch.items.length) {
    $("kept-for").textContent = lasting(batch.minutes);
    dialog("leave").showModal();
  } else window.location.assign("/work");
});
$("keep").addEventListener("click", () => window.location.assign("/work"));
$("give-back").addEventListener("click", async () => {
  await outbox?.add({ kind: "leave" });
  for (let waited = 0; outbox?.unsent && waited < 50; waited++) await new Promise((resolve) => setTimeout(resolve, 100));
  window.location.assign("/work");
});
for (const [button, place] of [["topic-more", "topic"], ["topic-fold", "topic"]]) {
  $(button).addEventListener("click", () => {
    const open = $(place).classList.toggle("open");
    $("topic-more").textContent = open ? "Show less" : "Show all";
    $("topic-fold").textContent = open ? "Fold" : "What was looked for";
    $("topic-more").setAttribute("aria-expanded", String(open));
    $("topic-fold").setAttribute("aria-expanded", String(open));
  });
}
$("comment-form").addEventListener("submit", () => {
  const words = /** @type {HTMLTextAreaElement} */ ($("comment-text")).value.trim();
  if (words) act("comment", { text: words });
});
$("again-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = /** @type {HTMLFormElement} */ (event.target);
  try {
    await ask("/sign-in", {
      method: "POST",
      body: { login: form.login.value, password: form.password.value },
    });
    form.password.value = "";
    $("again-error").textContent = "";
    dialog("again").close();
    await outbox?.resume();
    retry?.();
    retry = null;
  } catch (error) {
    $("again-error").textContent = error instanceof Offline ? "No connection." : String(/** @type {Error} */ (error).message);
  }
});

void next();
