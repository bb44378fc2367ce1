// @ts-check
/**
 * Judging: an action becomes an event, which is stored, folded over the batch and sent. What the
 * page shows always follows from the batch and its events.
 */
import { ask } from "../shared/api.js";
import { byId } from "../shared/elements.js";
import { handleTrouble, showSaving, takeAnswer } from "./answers.js";
import { showEndCard, showNothingCard } from "./cards.js";
import { Clock } from "./clock.js";
import { openCannot, openComment, openHelp, openLeave } from "./dialogs.js";
import { DocumentCache } from "./document-cache.js";
import { GroupJudging } from "./group-judging.js";
import { describeProgress, describeRefused } from "./messages.js";
import { Outbox, sendLeftEvents } from "./outbox.js";
import { Session } from "./session.js";
import { lockBatch } from "./tab-lock.js";
import {
  announce, expectDocument, fillHelp, hideFeedback, isFeedbackVisible, showArticle, showBanner, showCount,
  showGrades, showTopic,
} from "./view.js";

/** @typedef {import("../types").Item} Item */

export class Judge {
  /** @param {string} campaign @param {string} user */
  constructor(campaign, user) {
    this.campaign = campaign;
    this.user = user;
    /** @type {Session|null} */
    this.session = null;
    /** @type {Outbox|null} */
    this.outbox = null;
    /** Whether this tab may judge: one tab per batch does. */
    this.active = true;
    this.ended = false;
    /** @type {(() => void)|null} what to do once the person has signed in again */
    this.retry = null;
    this.clock = new Clock();
    this.documents = new DocumentCache();
    this.groups = new GroupJudging(this, byId("document"));
  }

  /** Whether a grade would be taken now. */
  get canAct() {
    return Boolean(this.session && !this.session.isAtEnd) && this.active && !isFeedbackVisible();
  }

  /** Whether a judgment may be changed now, at the end of the batch too. */
  get canReview() {
    return Boolean(this.session) && this.active;
  }

  /* ---- batches ---- */

  /** Get the open batch, or a new one. */
  async start() {
    try {
      const reasons = await sendLeftEvents(this.user);
      /** @type {import("../types").Next} */
      const next = await ask(`/judge/${this.campaign}/next`, { method: "POST", body: {} });
      if (next.state === "batch") await this.begin(next.batch);
      else this.showNothing(next);
      if (reasons.length) showBanner(describeRefused(reasons));
    } catch (error) {
      handleTrouble(this, error, () => void this.start());
    }
  }

  /** @param {import("../types").Batch} batch */
  async begin(batch) {
    this.session = new Session(batch);
    this.ended = false;
    this.documents.clear();
    this.outbox = new Outbox(this.user, batch.batch, {
      changed: (unsent, state, error) => showSaving(this.active, unsent, state, error),
      answered: (event, answer, answers) => takeAnswer(this, event, answer, answers),
    });
    const unsent = await this.outbox.start();
    for (const event of unsent) this.session.apply(event);
    this.active = await lockBatch(batch.batch);
    if (!this.active) showBanner("These documents are open in another tab. This tab is read-only.");
    fillHelp(batch);
    this.go(this.rememberedPlace(batch) ?? this.session.firstOpen);
    if (unsent.length) void this.outbox.flush();
    else showSaving(this.active, 0, "saved");
    if (this.session.isPractice && !sessionStorage.getItem(`seen ${batch.batch}`)) {
      sessionStorage.setItem(`seen ${batch.batch}`, "1");
      openHelp();
    }
  }

  /** The place that was looked at before a reload, where it was not the one to judge. @param {import("../types").Batch} batch */
  rememberedPlace(batch) {
    const place = Number(sessionStorage.getItem(`at ${batch.batch}`));
    const looking = sessionStorage.getItem(`looking ${batch.batch}`);
    return place && place < batch.items.length && looking ? place : null;
  }

  /* ---- showing ---- */

  /** Show the document at a place. @param {number} place @param {boolean} [looking] whether only to look @returns {void} */
  go(place, looking = false) {
    const { session } = this;
    if (!session) return;
    session.place = place;
    sessionStorage.setItem(`at ${session.batch.batch}`, String(place));
    if (looking) sessionStorage.setItem(`looking ${session.batch.batch}`, "1");
    else sessionStorage.removeItem(`looking ${session.batch.batch}`);
    this.showProgress();
    const { item } = session;
    if (!item) return this.showEnd();
    showTopic(session.topic);
    this.showGrades(item);
    if (item.group !== null) return this.groups.show(item.group);
    this.groups.hide();
    void this.showItem(item);
    this.documents.fetchAhead(session.items, place);
  }

  /** @param {Item} item */
  async showItem(item) {
    const endWait = expectDocument();
    try {
      const data = await this.documents.fetch(item.lease);
      const { session } = this;
      if (!session || session.item !== item) return;
      showArticle(data, item.lease);
      announce(`Document ${session.place + 1} of ${session.items.length}. ${session.topic.title}`);
      this.clock.restart();
      performance.mark("venire-shown", { detail: session.place });
    } catch (error) {
      if (this.session?.item === item) handleTrouble(this, error, () => void this.showItem(item));
    } finally {
      endWait();
    }
  }

  /** @param {Item} item */
  showGrades(item) {
    if (!this.session) return;
    const actions = {
      label: (/** @type {number} */ value) => this.label(value),
      cannot: () => this.askReason(),
      undo: () => this.undo(),
      comment: () => this.comment(),
      help: openHelp,
    };
    showGrades(this.session.batch, item, actions, this.active);
  }

  showProgress() {
    if (!this.session) return;
    showCount(describeProgress(this.session));
  }

  /** @returns {void} */
  showEnd() {
    const { session } = this;
    if (!session) return;
    if (!session.isComplete) return this.go(session.firstOpen);
    if (session.batch.grouped) {
      showTopic(session.topic);
      return this.groups.review();
    }
    showEndCard(session, () => this.submit(), () => this.undo());
  }

  /** @param {Exclude<import("../types").Next, {state: "batch"}>} next */
  showNothing(next) {
    this.session = null;
    this.ended = true;
    showCount("");
    const seconds = showNothingCard(next, () => void this.start());
    if (seconds === null) return;
    setTimeout(() => {
      if (this.ended) void this.start();
    }, Math.min(seconds, 30) * 1000);
  }

  /* ---- acting ---- */

  /** Fold an event and send it. @param {import("../types").NewEvent} event */
  act(event) {
    if (!this.outbox || !this.session || !this.active) return;
    this.session.apply(event);
    void this.outbox.add(event);
  }

  /** @param {number} value */
  label(value) {
    if (!this.canAct || !this.session?.item) return;
    performance.mark("venire-key");
    if (this.groups.visible) return this.groups.label(value);
    this.act({ kind: "label", lease: this.session.item.lease, label: value, ...this.clock.read() });
    this.advance([this.session.place]);
  }

  /** Go on after documents were answered together. @param {number[]} places */
  advance(places) {
    const { session } = this;
    if (!session) return;
    const next = session.advance(places);
    if (next !== null) return this.go(next);
    this.showProgress();
    this.showGrades(session.items[Math.max(...places)]);
  }

  askReason() {
    if (!this.canAct || !this.session) return;
    openCannot(this.session.batch.reasons, this.session.currentPlaces().length, (reason) => this.decline(reason));
  }

  /** @param {string|null} reason null to skip */
  decline(reason) {
    const { session } = this;
    if (!session) return;
    const places = session.currentPlaces();
    const time = this.clock.read();
    for (const lease of session.leasesAt(places)) {
      this.act(reason === null ? { kind: "skip", lease, ...time } : { kind: "cannot", lease, reason, ...time });
    }
    this.advance(places);
  }

  undo() {
    const { session } = this;
    if (!session || !this.active) return;
    hideFeedback();
    const step = session.takeUndo();
    if (!step) return announce("There is nothing to undo.");
    this.act(session.undoEvent(step, this.clock.read()));
    if (step.kind === "review") {
      this.groups.review(step.lease);
      announce(`Undone: ${session.findGrade(step.label)?.name}`);
    } else if (step.kind === "split") {
      this.go(step.place);
      announce("Undone: the group is whole again.");
    } else {
      this.go(step.places[0]);
      announce(`Undone. Document ${step.places[0] + 1}.`);
    }
  }

  comment() {
    if (this.canAct) openComment();
  }

  /** @param {string} text */
  saveComment(text) {
    const lease = this.session?.item?.lease;
    if (lease) this.act({ kind: "comment", lease, text });
  }

  submit() {
    if (!this.outbox || !this.active) return;
    document.getElementById("finish")?.setAttribute("disabled", "");
    this.act({ kind: "finish" });
  }

  /** Look at the document before or after. @param {-1|1} step */
  look(step) {
    if (!this.session || isFeedbackVisible()) return;
    const place = this.session.place + step;
    if (place >= 0 && place < this.session.items.length) this.go(place, true);
  }

  /** Close the feedback to a practice document. */
  continue() {
    hideFeedback();
    if (this.session) this.go(this.session.firstOpen);
  }

  leave() {
    const { session } = this;
    if (session && this.active && !session.isComplete) openLeave(session.batch.minutes);
    else window.location.assign("/work");
  }

  /** Return the remaining documents, and leave once the server knows. */
  async returnRest() {
    await this.outbox?.add({ kind: "leave" });
    for (let tries = 0; this.outbox?.unsent && tries < 50; tries++) await new Promise((resolve) => setTimeout(resolve, 100));
    window.location.assign("/work");
  }
}
