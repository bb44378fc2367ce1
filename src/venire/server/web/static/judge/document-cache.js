// @ts-check
/** Documents of a batch, fetched once each and ahead of time. */
import { ask } from "../shared/api.js";

/** How many documents after the current one are fetched ahead. */
const AHEAD = 5;

export class DocumentCache {
  constructor() {
    /** @type {Map<string, Promise<import("../types").DocumentData>>} */
    this.documents = new Map();
  }

  clear() {
    this.documents.clear();
  }

  /** @param {string} lease @returns {Promise<import("../types").DocumentData>} */
  fetch(lease) {
    const known = this.documents.get(lease);
    if (known) return known;
    const request = fetchDocument(lease);
    this.documents.set(lease, request);
    request.catch(() => this.documents.delete(lease));
    return request;
  }

  /** @param {import("../types").Item[]} items @param {number} place */
  fetchAhead(items, place) {
    for (const item of items.slice(place + 1, place + 1 + AHEAD)) void this.fetch(item.lease).catch(() => {});
  }
}

/** @param {string} lease @returns {Promise<import("../types").DocumentData>} */
async function fetchDocument(lease) {
  /** @type {import("../types").DocumentData} */
  const data = await ask(`/judge/documents/${lease}`);
  if (data.kind === "image" && !data.missing) new Image().src = `/judge/images/${lease}`;
  return data;
}
