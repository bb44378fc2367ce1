// @ts-check
/** Events in IndexedDB: they outlive a closed tab. */

/** @typedef {import("../types").StoredEvent} StoredEvent */

const DATABASE = "venire";
const STORE = "outbox";

/** @returns {Promise<IDBDatabase>} */
function openDatabase() {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(DATABASE, 1);
    request.onupgradeneeded = () => {
      request.result.createObjectStore(STORE, { keyPath: "seq", autoIncrement: true });
    };
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** The stored events of everybody who uses this browser. Every method may throw. */
export class EventStore {
  /** @param {IDBDatabase} database */
  constructor(database) {
    this.database = database;
  }

  /** Return the store, or null where the browser has none (private windows). */
  static async open() {
    try {
      return new EventStore(await openDatabase());
    } catch {
      return null;
    }
  }

  /**
   * @template T
   * @param {IDBTransactionMode} mode
   * @param {(store: IDBObjectStore) => IDBRequest<T>} work
   * @returns {Promise<T>}
   */
  run(mode, work) {
    return new Promise((resolve, reject) => {
      const transaction = this.database.transaction(STORE, mode, { durability: "strict" });
      const request = work(transaction.objectStore(STORE));
      transaction.oncomplete = () => resolve(request.result);
      transaction.onerror = () => reject(transaction.error);
      transaction.onabort = () => reject(transaction.error);
    });
  }

  /** @returns {Promise<StoredEvent[]>} */
  list() {
    return this.run("readonly", (store) => /** @type {IDBRequest<StoredEvent[]>} */ (store.getAll()));
  }

  /** Store an event and return its key. @param {StoredEvent} entry @returns {Promise<number>} */
  async add(entry) {
    return Number(await this.run("readwrite", (store) => store.add(entry)));
  }

  /** @param {StoredEvent[]} entries */
  async remove(entries) {
    const ids = new Set(entries.map((entry) => entry.event.id));
    for (const { event, seq } of await this.list()) {
      if (ids.has(event.id) && seq !== undefined) await this.run("readwrite", (store) => store.delete(seq));
    }
  }

  close() {
    this.database.close();
  }
}
