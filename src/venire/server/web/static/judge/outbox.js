// @ts-check
/**
 * Events on their way to the server. Each is stored from the moment it is made until the server
 * has answered it, so that neither a closed tab nor a lost connection loses one.
 */
import { Offline, Refused, ask, uuid } from "../shared/api.js";
import { EventStore } from "./event-store.js";

/** @typedef {import("../types").StoredEvent} StoredEvent */
/** @typedef {Pick<EventStore, "list"|"add"|"remove"|"close">} Store */

const MAX_EVENTS = 100;
const FIRST_WAIT = 1000;
const LONGEST_WAIT = 30_000;

/** @param {string} batch @param {StoredEvent[]} entries @returns {Promise<import("../types").Answers>} */
function postEvents(batch, entries) {
  return ask(`/judge/batches/${batch}/events`, { method: "POST", body: { events: entries.map((entry) => entry.event) } });
}

/** @param {StoredEvent[]} entries @returns {Map<string, StoredEvent[]>} */
function groupByBatch(entries) {
  /** @type {Map<string, StoredEvent[]>} */
  const batches = new Map();
  for (const entry of entries) batches.set(entry.batch, [...(batches.get(entry.batch) ?? []), entry]);
  return batches;
}

/**
 * Send what earlier pages left unsent, of any batch, before a new batch is requested: a batch whose
 * time has run out still takes it. Events of other people in this browser stay, and so does what
 * the server does not take.
 * @param {string} user
 * @param {Store|null} [database] the store to send from; the browser's by default
 * @returns {Promise<string[]>} the reasons why some events were refused
 */
export async function sendLeftEvents(user, database) {
  /** @type {string[]} */
  const reasons = [];
  const store = database === undefined ? await EventStore.open() : database;
  if (!store) return reasons;
  try {
    const entries = (await store.list()).filter((entry) => entry.user === user);
    for (const [batch, unsent] of groupByBatch(entries)) {
      try {
        for (let from = 0; from < unsent.length; from += MAX_EVENTS) {
          const part = unsent.slice(from, from + MAX_EVENTS);
          const { answers } = await postEvents(batch, part);
          await store.remove(part);
          for (const answer of answers) if (answer.status === "refused") reasons.push(answer.reason ?? "");
        }
      } catch (error) {
        if (error instanceof Offline || (error instanceof Refused && error.status === 401)) break;
      }
    }
  } catch {
    return reasons; // the store cannot be read: there is nothing to send
  } finally {
    store.close();
  }
  return reasons;
}

export class Outbox {
  /**
   * @param {string} user whose events they are: nobody else's are sent
   * @param {string} batch
   * @param {import("../types").OutboxListener} listener
   */
  constructor(user, batch, listener) {
    this.user = user;
    this.batch = batch;
    this.listener = listener;
    /** @type {StoredEvent[]} */
    this.entries = [];
    /** @type {Store|null} */
    this.store = null;
    this.sending = false;
    this.held = false;
    this.wait = FIRST_WAIT;
    /** @type {ReturnType<typeof setTimeout>|undefined} */
    this.timer = undefined;
  }

  /**
   * Take over what an earlier page of this batch left unsent.
   * @param {Store|null} [store] where events are stored; the browser's database by default
   */
  async start(store) {
    this.store = store === undefined ? await EventStore.open() : store;
    try {
      const stored = (await this.store?.list()) ?? [];
      this.entries = stored.filter((entry) => entry.batch === this.batch && entry.user === this.user);
    } catch {
      this.store = null; // then memory has to do
    }
    return this.entries.map((entry) => entry.event);
  }

  get unsent() {
    return this.entries.length;
  }

  /**
   * Store an event and send it.
   * @param {import("../types").NewEvent} event
   */
  async add(event) {
    /** @type {StoredEvent} */
    const entry = { user: this.user, batch: this.batch, event: { id: uuid(), at: new Date().toISOString(), ...event } };
    this.entries.push(entry);
    this.report("sending");
    if (this.store) {
      try {
        entry.seq = await this.store.add(entry);
      } catch {
        this.store = null;
      }
    }
    void this.flush();
  }

  /** Send everything, in order; try again later where the server does not answer. */
  async flush() {
    if (this.sending || this.held || !this.entries.length) return;
    this.sending = true;
    clearTimeout(this.timer);
    const part = this.entries.slice(0, MAX_EVENTS);
    try {
      const answers = await postEvents(this.batch, part);
      await this.forget(part);
      this.wait = FIRST_WAIT;
      part.forEach((entry, place) => this.listener.answered(entry.event, answers.answers[place], answers));
      this.report(this.entries.length ? "sending" : "saved");
    } catch (error) {
      this.sending = false;
      this.fail(error);
      return;
    }
    this.sending = false;
    if (this.entries.length) void this.flush();
  }

  /** @param {unknown} error */
  fail(error) {
    // 404: another person has signed in in this browser; for them this batch does not exist.
    if (error instanceof Refused && [401, 403, 404].includes(error.status)) {
      this.held = true;
      this.report("signed-out", error);
      return;
    }
    if (error instanceof Offline) this.report("offline");
    else this.report("failed", error);
    this.timer = setTimeout(() => void this.flush(), this.wait);
    this.wait = Math.min(this.wait * 2, LONGEST_WAIT);
  }

  /** Send again, after signing in again or when the connection is back. */
  resume() {
    this.held = false;
    this.wait = FIRST_WAIT;
    clearTimeout(this.timer);
    this.report(this.entries.length ? "sending" : "saved");
    return this.flush();
  }

  /** @param {StoredEvent[]} sent */
  async forget(sent) {
    this.entries = this.entries.filter((entry) => !sent.includes(entry));
    if (!this.store) return;
    try {
      await this.store.remove(sent);
    } catch {
      this.store = null; // what stays there is sent once more, and gets the same answer
    }
  }

  /** @param {import("../types").SaveState} state @param {unknown} [error] */
  report(state, error) {
    this.listener.changed(this.entries.length, state, error);
  }
}
