// @ts-check
/**
 * Events on their way to the server. Each is in IndexedDB from the moment it is made until the
 * server has answered it, so that neither a closed tab nor a lost connection loses one.
 */
import { Offline, Refused, ask, uuid } from "./api.js";

const DATABASE = "venire";
const STORE = "outbox";
const MOST = 100;

/** @typedef {{id: string, kind: string, lease?: string, label?: number, reason?: string, text?: string, active_ms?: number, idle_ms?: number, at: string}} JudgeEvent */
/** @typedef {{seq?: number, batch: string, event: JudgeEvent}} Kept */

/** @returns {Promise<IDBDatabase>} */
function open() {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(DATABASE, 1);
    request.onupgradeneeded = () => {
      request.result.createObjectStore(STORE, { keyPath: "seq", autoIncrement: true });
    };
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/**
 * @template T
 * @param {IDBDatabase} database
 * @param {IDBTransactionMode} mode
 * @param {(store: IDBObjectStore) => IDBRequest<T>} work
 * @returns {Promise<T>}
 */
function inStore(database, mode, work) {
  return new Promise((resolve, reject) => {
    const transaction = database.transaction(STORE, mode, { durability: "strict" });
    const request = work(transaction.objectStore(STORE));
    transaction.oncomplete = () => resolve(request.result);
    transaction.onerror = () => reject(transaction.error);
    transaction.onabort = () => reject(transaction.error);
  });
}

export class Outbox {
  /**
   * @param {string} batch
   * @param {{changed: (unsent: number, state: "saved"|"sending"|"offline"|"signed-out"|"failed", why?: string) => void,
   *          answered: (event: JudgeEvent, answer: any, whole: any) => void}} listener
   */
  constructor(batch, listener) {
    this.batch = batch;
    this.listener = listener;
    /** @type {Kept[]} */
    this.kept = [];
    /** @type {IDBDatabase|null} */
    this.database = null;
    this.sending = false;
    this.held = false;
    this.wait = 1000;
    /** @type {number|undefined} */
    this.timer = undefined;
  }

  /** Take up what an earlier page of this batch left unsent. */
  async start() {
    try {
      this.database = await open();
      const all = await inStore(this.database, "readonly", (store) => store.getAll());
      this.kept = /** @type {Kept[]} */ (all).filter((one) => one.batch === this.batch);
    } catch {
      this.database = null; // private windows may have none; then memory has to do
    }
    return this.kept.map((one) => one.event);
  }

  get unsent() {
    return this.kept.length;
  }

  /**
   * Keep an event and send it.
   * @param {Omit<JudgeEvent, "id"|"at">} event
   */
  async add(event) {
    /** @type {Kept} */
    const one = { batch: this.batch, event: { id: uuid(), at: new Date().toISOString(), ...event } };
    this.kept.push(one);
    this.tell("sending");
    if (this.database) {
      try {
        one.seq = Number(await inStore(this.database, "readwrite", (store) => store.add(one)));
      } catch {
        this.database = null;
      }
    }
    void this.flush();
  }

  /** Send all there is, in order; go on later where the server is not there. */
  async flush() {
    if (this.sending || this.held || !this.kept.length) return;
    this.sending = true;
    clearTimeout(this.timer);
    const now = this.kept.slice(0, MOST);
    try {
      const whole = await ask(`/judge/batches/${this.batch}/events`, {
        method: "POST",
        body: { events: now.map((one) => one.event) },
      });
      await this.forget(now);
      this.wait = 1000;
      now.forEach((one, place) => this.listener.answered(one.event, whole.answers[place], whole));
      this.tell(this.kept.length ? "sending" : "saved");
    } catch (error) {
      this.sending = false;
      this.failed(error);
      return;
    }
    this.sending = false;
    if (this.kept.length) void this.flush();
  }

  /** @param {unknown} error */
  failed(error) {
    if (error instanceof Refused && (error.status === 401 || error.status === 403)) {
      this.held = true;
      this.tell("signed-out", error.message);
      return;
    }
    if (error instanceof Offline) this.tell("offline");
    else this.tell("failed", error instanceof Error ? error.message : String(error));
    this.timer = setTimeout(() => void this.flush(), this.wait);
    this.wait = Math.min(this.wait * 2, 30_000);
  }

  /** Go on after signing in again. */
  resume() {
    this.held = false;
    this.wait = 1000;
    clearTimeout(this.timer);
    this.tell(this.kept.length ? "sending" : "saved");
    return this.flush();
  }

  /** @param {Kept[]} sent */
  async forget(sent) {
    this.kept = this.kept.filter((one) => !sent.includes(one));
    if (!this.database) return;
    const database = this.database;
    const ids = new Set(sent.map((one) => one.event.id));
    const all = /** @type {Kept[]} */ (await inStore(database, "readonly", (store) => store.getAll()));
    for (const one of all) {
      if (ids.has(one.event.id) && one.seq !== undefined) {
        await inStore(database, "readwrite", (store) => store.delete(/** @type {number} */ (one.seq)));
      }
    }
  }

  /** @param {"saved"|"sending"|"offline"|"signed-out"|"failed"} state @param {string} [why] */
  tell(state, why) {
    this.listener.changed(this.kept.length, state, why);
  }
}
