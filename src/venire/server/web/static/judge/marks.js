// @ts-check
/** Documents of a group that were marked as different, each with a grade of its own. */

/** @typedef {import("../types").Member} Member */

/** Divide the time of one action among its events. @param {import("../types").Time} time @param {number} parts */
function divideTime(time, parts) {
  return { active_ms: Math.round(time.active_ms / parts), idle_ms: Math.round(time.idle_ms / parts) };
}

export class Marks {
  constructor() {
    /** @type {Map<string, number>} the grade by lease */
    this.grades = new Map();
    this.last = -1;
  }

  clear() {
    this.grades = new Map();
  }

  get size() {
    return this.grades.size;
  }

  /** @param {string} lease */
  has(lease) {
    return this.grades.has(lease);
  }

  /** @param {string} lease */
  get(lease) {
    return this.grades.get(lease);
  }

  /**
   * Mark a document with the highest grade, then with the next lower one; after the lowest it is
   * unmarked. Most groups are not relevant, so the highest grade is what differs most often.
   * @param {Member[]} members
   * @param {number} place index among the members
   * @param {boolean} range whether everything from the last marked one gets the same mark
   * @param {number[]} values the grades, ascending
   * @returns {number|undefined} the new grade, undefined where unmarked
   */
  toggle(members, place, range, values) {
    const [from, to] = range && this.last >= 0 ? [Math.min(this.last, place), Math.max(this.last, place)] : [place, place];
    const descending = [...values].reverse();
    const current = this.grades.get(members[place].item.lease);
    const next = current === undefined ? descending[0] : descending[descending.indexOf(current) + 1];
    for (const { item } of members.slice(from, to + 1)) {
      if (next === undefined) this.grades.delete(item.lease);
      else this.grades.set(item.lease, next);
    }
    this.last = place;
    return next;
  }

  /** Return the marked leases, or none where they are no part of the group. @param {Member[]} members @returns {string[]} */
  listSplit(members) {
    const leases = members.map(({ item }) => item.lease).filter((lease) => this.has(lease));
    return leases.length === members.length ? [] : leases;
  }

  /**
   * Return the events that give a group its grade: one for all unmarked documents, one for each marked one.
   * @param {Member[]} members
   * @param {number} label
   * @param {import("../types").Time} time
   * @returns {import("../types").NewEvent[]}
   */
  listEvents(members, label, time) {
    const unmarked = members.filter(({ item }) => !this.has(item.lease)).map(({ item }) => item.lease);
    const share = divideTime(time, Math.max(1, Number(unmarked.length > 0) + this.size));
    /** @type {import("../types").NewEvent[]} */
    const events = unmarked.length ? [{ kind: "group", leases: unmarked, label, ...share }] : [];
    for (const { item } of members) {
      const grade = this.get(item.lease);
      if (grade !== undefined) events.push({ kind: "label", lease: item.lease, label: grade, ...share });
    }
    return events;
  }
}
