// @ts-check
/** Requests to the server, and the two ways in which they fail. */

/** The server answered with an error. Programs read `code` and `facts`, people the message. */
export class Refused extends Error {
  /**
   * @param {number} status
   * @param {{error?: string, code?: string, facts?: Record<string, unknown>} | null} data
   */
  constructor(status, data) {
    super(data?.error ?? `error ${status}`);
    this.status = status;
    this.code = data?.code ?? "error";
    this.facts = data?.facts ?? {};
  }
}

/** The server did not answer. */
export class Offline extends Error {}

/**
 * Send a request and return the JSON of the answer.
 * @param {string} path
 * @param {{method?: string, body?: unknown, raw?: BodyInit, seconds?: number}} [options]
 * @returns {Promise<any>}
 */
export async function ask(path, { method = "GET", body, raw, seconds = 30 } = {}) {
  /** @type {Response} */
  let response;
  try {
    response = await fetch(path, {
      method,
      headers: body === undefined ? { Accept: "application/json" } : { Accept: "application/json", "Content-Type": "application/json" },
      body: body === undefined ? raw : JSON.stringify(body),
      credentials: "same-origin",
      signal: seconds ? AbortSignal.timeout(seconds * 1000) : undefined,
    });
  } catch (error) {
    throw new Offline(String(error));
  }
  if (response.status >= 502) throw new Offline(`The server answered with status ${response.status}.`);
  const text = await response.text();
  let data = null;
  try {
    data = text ? JSON.parse(text) : null;
  } catch {
    throw new Offline("The answer is not JSON.");
  }
  if (!response.ok) throw new Refused(response.status, data);
  return data;
}

/** Return a random UUID, also where the page is not served over https. */
export function uuid() {
  if (crypto.randomUUID) return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
