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
/** @typedef {{seq?: number, user: string, batch: string, event: JudgeEvent}} Kept */

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

/** @param {IDBDatabase} database @returns {Promise<Kept[]>} */
function everything(database) {
  return inStore(database, "readonly", (store) => /** @type {IDBRequest<Kept[]>} */ (store.getAll()));
}

/** @param {IDBDatabase} database @param {Kept[]} sent */
async function remove(database, sent) {
  const ids = new Set(sent.map((one) => one.event.id));
  for (const one of await everything(database)) {
    if (!ids.has(one.event.id) || one.seq === undefined) continue;
    await inStore(database, "readwrite", (store) => store.delete(/** @type {number} */ (one.seq)));
  }
}

/** @param {string} batch @param {Kept[]} some @returns {Promise<any>} */
function post(batch, some) {
  return ask(`/judge/batches/${batch}/events`, {
    method: "POST",
    body: { events: some.map((one) => one.event) },
  });
}

/**
 * Send what earlier pages left unsent, of whatever batch, before a new one is asked for: a batch
 * that ran out of time meanwhile still takes it. What other people left in this browser stays.
 * What the server does not take stays too.
 * @param {string} user
 * @returns {Promise<string[]>} why some do not count
 */
export async function sendLeft(user) {
  /** @type {string[]} */
  const refused = [];
  /** @type {IDBDatabase} */
  let database;
  /** @type {Map<string, Kept[]>} */
  const batches = new Map();
  try {
    database = await open();
    for (const one of await everything(database)) {
      if (one.user === user) batches.set(one.batch, [...(batches.get(one.batch) ?? []), one]);
    }
  } catch {
    return refused; // no database: nothing was left
  }
  for (const [batch, kept] of batches) {
    try {
      for (let from = 0; from < kept.length; from += MOST) {
        const some = kept.slice(from, from + MOST);
        const whole = await post(batch, some);
        await remove(database, some);
        for (const answer of whole.answers) if (answer.status === "refused") refused.push(answer.reason);
      }
    } catch (error) {
      if (error instanceof Offline || (error instanceof Refused && error.status === 401)) break;
    }
  }
  database.close();
  return refused;
}

export class Outbox {
  /**
   * @param {string} user whose events they are: nobody else's are sent
   * @param {string} batch
   * @param {{changed: (unsent: number, state: "saved"|"sending"|"offline"|"signed-out"|"failed", error?: unknown) => void,
   *          answered: (event: JudgeEvent, answer: any, whole: any) => void}} listener
   */
  constructor(user, batch, listener) {
    this.user = user;
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
      const all = await everything(this.database);
      this.kept = all.filter((one) => one.batch === this.batch && one.user === this.user);
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
    const one = { user: this.user, batch: this.batch, event: { id: uuid(), at: new Date().toISOString(), ...event } };
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
      const whole = await post(this.batch, now);
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
    // 404: somebody else has signed in in this browser; to them this batch does not exist.
    if (error instanceof Refused && [401, 403, 404].includes(error.status)) {
      this.held = true;
      this.tell("signed-out", error);
      return;
    }
    if (error instanceof Offline) this.tell("offline");
    else this.tell("failed", error);
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
    try {
      await remove(this.database, sent);
    } catch {
      this.database = null; // what stays there is sent once more, and gets the same answer
    }
  }

  /** @param {"saved"|"sending"|"offline"|"signed-out"|"failed"} state @param {unknown} [error] */
  tell(state, error) {
    this.listener.changed(this.kept.length, state, error);
  }
}
