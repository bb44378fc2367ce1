// @ts-check
/** Active and idle time on a document. */

const IDLE_AFTER = 30_000;

/** Count active time while the page is visible and used; longer without a sign of use is idle. */
export class Clock {
  /** @param {() => number} [time] */
  constructor(time = () => performance.now()) {
    this.time = time;
    this.visible = true;
    this.active = 0;
    this.idle = 0;
    this.last = time();
    this.lastSign = this.last;
  }

  /** Start again from 0, for another document. */
  restart() {
    this.active = 0;
    this.idle = 0;
    this.last = this.time();
    this.lastSign = this.last;
  }

  /** Note a sign of use. */
  touch() {
    this.count();
    this.lastSign = this.time();
  }

  /** @param {boolean} visible */
  setVisible(visible) {
    this.count();
    this.visible = visible;
    if (visible) this.lastSign = this.time();
  }

  count() {
    const now = this.time();
    const until = this.visible ? Math.min(now, Math.max(this.last, this.lastSign + IDLE_AFTER)) : this.last;
    this.active += until - this.last;
    this.idle += now - until;
    this.last = now;
  }

  /** @returns {import("../types").Time} */
  read() {
    this.count();
    return { active_ms: Math.round(this.active), idle_ms: Math.round(this.idle) };
  }
}
