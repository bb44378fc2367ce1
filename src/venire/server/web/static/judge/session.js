// @ts-check
/** The state of a judging session, without a page: the batch, the current document, what can be undone. */
import { applyEvent, countDone, countJudged, findLastAnswered, findOpen, findOpenAfter, listMembers } from "./items.js";

/** @typedef {import("../types").NewEvent} NewEvent */
/** @typedef {import("../types").UndoStep} UndoStep */

export class Session {
  /** @param {import("../types").Batch} batch */
  constructor(batch) {
    this.batch = batch;
    /** Index of the current document; the number of documents at the end. */
    this.place = findOpen(batch.items);
    /** @type {UndoStep[]} */
    this.history = [];
  }

  get items() {
    return this.batch.items;
  }

  /** The current document; undefined at the end. @returns {import("../types").Item|undefined} */
  get item() {
    return this.items[this.place];
  }

  get topic() {
    return this.batch.topics[(this.item ?? this.items[0]).topic];
  }

  get isPractice() {
    return this.batch.kind === "practice";
  }

  get isAtEnd() {
    return this.place >= this.items.length;
  }

  get isComplete() {
    return this.firstOpen >= this.items.length;
  }

  get firstOpen() {
    return findOpen(this.items);
  }

  /** The grades, ascending. */
  get values() {
    return this.batch.grades.map((grade) => grade.value);
  }

  /** @param {number|null|undefined} value */
  findGrade(value) {
    return this.batch.grades.find((grade) => grade.value === value);
  }

  /** @returns {{done: number, judged: number, total: number, number: number}} `number` counts the current document from 1 */
  count() {
    const { items } = this;
    return { done: countDone(items), judged: countJudged(items), total: items.length, number: Math.min(this.place + 1, items.length) };
  }

  /** @param {number} group */
  members(group) {
    return listMembers(this.items, group);
  }

  /** Return the indexes that an answer is for: the group of the current document, or itself. @returns {number[]} */
  currentPlaces() {
    const group = this.item?.group ?? null;
    return group === null ? [this.place] : this.members(group).map(({ place }) => place);
  }

  /** @param {number[]} places @returns {string[]} */
  leasesAt(places) {
    return places.map((place) => this.items[place].lease);
  }

  /** Fold an event over the documents. @param {NewEvent} event */
  apply(event) {
    applyEvent(this.items, event);
  }

  /** Note that documents were answered together. Return the index of the next one, or null: practice waits for feedback.
   * @param {number[]} places
   * @returns {number|null}
   */
  advance(places) {
    this.history.push({ kind: "judged", places });
    const last = Math.max(...places);
    if (this.isPractice && this.items[last].state === "judged") return null;
    return findOpenAfter(this.items, last);
  }

  /** @param {UndoStep} step */
  remember(step) {
    this.history.push(step);
  }

  /** Remove and return the last step; without history what the order of the batch tells; null where there is none.
   * @returns {UndoStep|null}
   */
  takeUndo() {
    const step = this.history.pop();
    if (step) return step;
    const places = findLastAnswered(this.items, this.place);
    return places.length ? { kind: "judged", places } : null;
  }

  /** Return the event that takes a step back. @param {UndoStep} step @param {import("../types").Time} time @returns {NewEvent} */
  undoEvent(step, time) {
    if (step.kind === "judged") return { kind: "undo", leases: this.leasesAt(step.places) };
    if (step.kind === "split") return { kind: "split", leases: step.leases, ...time };
    return { kind: "label", lease: step.lease, label: step.label, text: "review", ...time };
  }

  /** Return the grade after a document's own, the lowest after the highest. @param {import("../types").Item} item */
  nextGrade(item) {
    const { values } = this;
    return values[(values.indexOf(/** @type {number} */ (item.label)) + 1) % values.length];
  }
}
