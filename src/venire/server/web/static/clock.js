// @ts-check
/** Active and idle time on a document, kept apart. */

const IDLE_AFTER = 30_000;

/** Counts active time while the page is seen and used; what is longer without a sign is idle. */
export class Clock {
  /** @param {() => number} [time] */
  constructor(time = () => performance.now()) {
    this.time = time;
    this.seen = true;
    this.active = 0;
    this.idle = 0;
    this.last = time();
    this.sign = this.last;
  }

  /** Begin anew, for another document. */
  restart() {
    this.active = 0;
    this.idle = 0;
    this.last = this.time();
    this.sign = this.last;
  }

  /** The person did something. */
  touch() {
    this.count();
    this.sign = this.time();
  }

  /** @param {boolean} seen */
  show(seen) {
    this.count();
    this.seen = seen;
    if (seen) this.sign = this.time();
  }

  count() {
    const now = this.time();
    const until = this.seen ? Math.min(now, Math.max(this.last, this.sign + IDLE_AFTER)) : this.last;
    this.active += until - this.last;
    this.idle += now - until;
    this.last = now;
  }

  /** @returns {{active_ms: number, idle_ms: number}} */
  read() {
    this.count();
    return { active_ms: Math.round(this.active), idle_ms: Math.round(this.idle) };
  }
}
