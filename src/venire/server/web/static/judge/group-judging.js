// @ts-check
/** Judging a group of similar documents in one action: open it, mark, split off, grade, review. */
import { listByGrade } from "./items.js";
import { Marks } from "./marks.js";
import { moveInGrid, showGrid, showReview, showStrip, updateGrid } from "./group-view.js";
import { announce } from "./view.js";

/** @typedef {import("../types").Item} Item */

export class GroupJudging {
  /** @param {import("./judge.js").Judge} judge @param {HTMLElement} place */
  constructor(judge, place) {
    this.judge = judge;
    this.place = place;
    this.visible = false;
    this.opened = false;
    this.group = -1;
    this.marks = new Marks();
  }

  get session() {
    return /** @type {import("./session.js").Session} */ (this.judge.session);
  }

  get members() {
    return this.session.members(this.group);
  }

  /** @param {string} lease */
  fetch = (lease) => this.judge.documents.fetch(lease);

  hide() {
    this.visible = false;
    this.opened = false;
  }

  /** @param {number} group */
  show(group) {
    if (group !== this.group || !this.visible) this.marks = new Marks();
    this.group = group;
    this.visible = true;
    this.opened = false;
    this.showStrip();
    this.judge.clock.restart();
    announce(`A group of ${this.members.length}. A grade applies to all of them. Press o to open the group.`);
    performance.mark("venire-shown");
  }

  showStrip() {
    showStrip(this.place, this.members, { fetch: this.fetch, marked: this.marks.size, open: () => this.open() });
  }

  open() {
    this.opened = true;
    this.judge.act({ kind: "look", leases: this.members.map(({ item }) => item.lease) });
    showGrid(this.place, this.members, {
      ...this.gridState,
      fetch: this.fetch,
      mark: (index, range) => this.mark(index, range),
      close: () => this.close(),
      split: () => this.split(),
    });
  }

  close() {
    this.opened = false;
    this.showStrip();
  }

  get gridState() {
    return {
      gradeOf: (/** @type {Item} */ item) => this.session.findGrade(this.marks.get(item.lease) ?? (item.state === "judged" ? item.label : undefined)),
      isMarked: (/** @type {Item} */ item) => this.marks.has(item.lease),
    };
  }

  /** @param {number} index @param {boolean} range */
  mark(index, range) {
    if (!this.judge.canReview) return;
    const grade = this.session.findGrade(this.marks.toggle(this.members, index, range, this.session.values));
    updateGrid(this.place, this.members, this.gridState);
    announce(grade ? `Marked as ${grade.name}` : "Mark removed");
  }

  split() {
    if (!this.judge.canReview) return;
    const { members } = this;
    const leases = this.marks.listSplit(members);
    if (!leases.length) {
      announce("Mark some documents, but not all, to split them off.");
      return;
    }
    const { place } = members[0];
    this.judge.act({ kind: "split", leases, ...this.judge.clock.read() });
    this.session.remember({ kind: "split", leases: members.map(({ item }) => item.lease), place });
    this.marks.clear();
    announce(`${leases.length} split off.`);
    this.judge.go(place);
    this.judge.clock.restart();
  }

  /** Grade the group; marked documents get their own grade. @param {number} value */
  label(value) {
    const { members } = this;
    for (const event of this.marks.listEvents(members, value, this.judge.clock.read())) this.judge.act(event);
    this.marks.clear();
    this.judge.advance(members.map(({ place }) => place));
  }

  /** Show the review. @param {string} [changed] the lease of a document that was just changed */
  review(changed) {
    this.hide();
    showReview(this.place, listByGrade(this.session.batch), {
      fetch: this.fetch,
      submit: () => this.judge.submit(),
      change: (item) => this.change(item),
      changed,
    });
    this.judge.clock.restart();
    if (!changed) announce("All documents are judged. Check them, then press Enter to submit.");
  }

  /** Give a document of the review its next grade. @param {Item} item */
  change(item) {
    if (!this.judge.canReview) return;
    this.session.remember({ kind: "review", lease: item.lease, label: /** @type {number} */ (item.label) });
    const label = this.session.nextGrade(item);
    this.judge.act({ kind: "label", lease: item.lease, label, text: "review", ...this.judge.clock.read() });
    this.review(item.lease);
    announce(`Changed to ${this.session.findGrade(label)?.name}`);
  }

  /** @param {KeyboardEvent} event @returns {boolean} whether the key was for a group */
  press(event) {
    if (!this.visible) return false;
    if (event.key === "o") {
      if (this.opened) this.close();
      else this.open();
      return true;
    }
    if (!this.opened) return false;
    if (event.key === "Escape") this.close();
    else if (event.key === "x") this.split();
    else return moveInGrid(this.place, event.key);
    return true;
  }
}
