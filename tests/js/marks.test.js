import assert from "node:assert/strict";
import { test } from "node:test";
import { listMembers } from "../../src/venire/server/web/static/judge/items.js";
import { Marks } from "../../src/venire/server/web/static/judge/marks.js";
import { makeItems } from "./batches.js";

const VALUES = [0, 1, 2];
const TIME = { active_ms: 900, idle_ms: 90 };
const MEMBERS = listMembers(makeItems([0, 0, 0, 0]), 0);

test("a mark begins with the highest grade, goes down, and is removed after the lowest", () => {
  const marks = new Marks();
  const grades = [1, 2, 3, 4].map(() => marks.toggle(MEMBERS, 1, false, VALUES));
  assert.deepEqual(grades, [2, 1, 0, undefined]);
  assert.equal(marks.size, 0);
});

test("a range has one mark, in either direction", () => {
  const marks = new Marks();
  marks.toggle(MEMBERS, 2, false, VALUES);
  marks.toggle(MEMBERS, 0, true, VALUES);
  assert.deepEqual(["l0", "l1", "l2", "l3"].map((lease) => marks.get(lease)), [2, 2, 2, undefined]);
});

test("a range without an earlier mark is one document", () => {
  const marks = new Marks();
  marks.toggle(MEMBERS, 3, true, VALUES);
  assert.deepEqual([marks.size, marks.has("l3")], [1, true]);
});

test("marked documents are split off, unless they are all or none", () => {
  const marks = new Marks();
  assert.deepEqual(marks.listSplit(MEMBERS), []);
  marks.toggle(MEMBERS, 1, false, VALUES);
  marks.toggle(MEMBERS, 2, true, VALUES);
  assert.deepEqual(marks.listSplit(MEMBERS), ["l1", "l2"]);
  marks.toggle(MEMBERS, 0, false, VALUES);
  marks.toggle(MEMBERS, 3, true, VALUES);
  assert.deepEqual(marks.listSplit(MEMBERS), []);
});

test("a grade is for all unmarked documents, and time is divided among the events", () => {
  const marks = new Marks();
  marks.toggle(MEMBERS, 1, false, VALUES);
  marks.toggle(MEMBERS, 3, false, VALUES);
  assert.deepEqual(marks.listEvents(MEMBERS, 0, TIME), [
    { kind: "group", leases: ["l0", "l2"], label: 0, active_ms: 300, idle_ms: 30 },
    { kind: "label", lease: "l1", label: 2, active_ms: 300, idle_ms: 30 },
    { kind: "label", lease: "l3", label: 2, active_ms: 300, idle_ms: 30 },
  ]);
});

test("without a mark one event is for the group, with all marked there is none for it", () => {
  const marks = new Marks();
  assert.deepEqual(marks.listEvents(MEMBERS, 1, TIME), [{ kind: "group", leases: ["l0", "l1", "l2", "l3"], label: 1, ...TIME }]);
  marks.toggle(MEMBERS, 0, false, VALUES);
  marks.toggle(MEMBERS, 3, true, VALUES);
  const kinds = marks.listEvents(MEMBERS, 0, TIME).map((event) => event.kind);
  assert.deepEqual(kinds, ["label", "label", "label", "label"]);
});

test("cleared marks are gone", () => {
  const marks = new Marks();
  marks.toggle(MEMBERS, 0, false, VALUES);
  marks.clear();
  assert.equal(marks.has("l0"), false);
});
