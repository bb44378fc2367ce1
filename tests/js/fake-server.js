/** A server that answers what it is told to, in place of fetch; and a store in place of IndexedDB. */

/** Answer requests with these, one after the other; the last one again and again. */
export function serve(...answers) {
  const requests = [];
  globalThis.fetch = async (path, options) => {
    const body = options.body === undefined ? undefined : JSON.parse(options.body);
    requests.push({ path, body });
    const answer = answers[Math.min(requests.length, answers.length) - 1];
    return typeof answer === "function" ? answer(body, path) : answer;
  };
  return requests;
}

export const json = (data, status = 200) => new Response(JSON.stringify(data), { status });

/** Save every event. */
export const saveAll = (body) => json({ answers: body.events.map(({ id, lease = null }) => ({ id, status: "saved", lease })) });

/** Refuse every event. */
export const refuseAll = (body) => json({ answers: body.events.map(({ id }) => ({ id, status: "refused", lease: null, reason: "too late" })) });

/** No connection. */
export const fail = () => {
  throw new TypeError("no network");
};

/** Events in memory, with the methods of the store in IndexedDB. */
export class MemoryStore {
  constructor(...entries) {
    this.entries = entries;
    this.isClosed = false;
  }

  async list() {
    return [...this.entries];
  }

  async add(entry) {
    this.entries.push(entry);
    return this.entries.length;
  }

  async remove(entries) {
    const ids = entries.map((entry) => entry.event.id);
    this.entries = this.entries.filter((entry) => !ids.includes(entry.event.id));
  }

  close() {
    this.isClosed = true;
  }
}

/** A store that a private window has: everything throws. */
export class BrokenStore extends MemoryStore {
  async list() {
    throw new Error("no list");
  }

  async add() {
    throw new Error("no add");
  }
}

/** An event as a store holds it. */
export function stored(id, values = {}) {
  const event = { id, kind: "label", lease: id, label: 1, at: "2026-01-01T00:00:00Z" };
  return { user: "ann", batch: "b1", event, ...values };
}
