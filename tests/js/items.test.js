import assert from "node:assert/strict";
import { test } from "node:test";
import {
  applyEvent, countDone, countJudged, findLastAnswered, findOpen, findOpenAfter, listByGrade, listMembers,
} from "../../src/venire/server/web/static/judge/items.js";
import { groupsOf, makeBatch, makeItems, statesOf } from "./batches.js";

/** Return a batch after events. */
const fold = (batch, ...events) => {
  for (const event of events) applyEvent(batch.items, event);
  return batch;
};

test("a label judges the document of its lease and no other", () => {
  assert.deepEqual(statesOf(fold(makeBatch(), { kind: "label", lease: "l1", label: 2 })), ["live", 2, "live", "live"]);
});

test("a second label replaces the first", () => {
  const batch = fold(makeBatch(), { kind: "label", lease: "l1", label: 2 }, { kind: "label", lease: "l1", label: 0 });
  assert.deepEqual(statesOf(batch), ["live", 0, "live", "live"]);
});

test("what cannot be judged keeps its reason until it is judged", () => {
  const batch = fold(makeBatch(), { kind: "cannot", lease: "l0", reason: "broken" });
  assert.deepEqual([batch.items[0].state, batch.items[0].reason, batch.items[0].label], ["cannot", "broken", null]);
  fold(batch, { kind: "label", lease: "l0", label: 1 });
  assert.deepEqual([batch.items[0].state, batch.items[0].reason, batch.items[0].label], ["judged", null, 1]);
});

test("skip and undo", () => {
  const batch = fold(makeBatch(), { kind: "skip", lease: "l0" }, { kind: "label", lease: "l1", label: 1 }, { kind: "undo", leases: ["l1"] });
  assert.deepEqual(statesOf(batch), ["skipped", "live", "live", "live"]);
});

test("one event judges a group", () => {
  assert.deepEqual(statesOf(fold(makeBatch([0, 0, 1, null]), { kind: "group", leases: ["l0", "l1"], label: 1 })), [1, 1, "live", "live"]);
});

test("events that change nothing of a document leave it alone", () => {
  const events = ["comment", "look", "note", "finish", "leave"].map((kind) => ({ kind, lease: "l0" }));
  assert.deepEqual(fold(makeBatch(), ...events), makeBatch());
});

test("an event without a lease is about no document", () => {
  assert.deepEqual(fold(makeBatch(), { kind: "label", label: 1 }), makeBatch());
});

test("documents that are split off become the next group, one alone becomes none", () => {
  const batch = fold(makeBatch([0, 0, 0, 0, 1]), { kind: "split", leases: ["l1", "l2"] });
  assert.deepEqual(groupsOf(batch), [0, 2, 2, 0, 1]);
  assert.deepEqual(groupsOf(fold(batch, { kind: "split", leases: ["l0"] })), [null, 2, 2, 0, 1]);
});

test("a split is undone by splitting off all of the group", () => {
  const batch = fold(makeBatch([0, 0, 0]), { kind: "split", leases: ["l1", "l2"] }, { kind: "split", leases: ["l0", "l1", "l2"] });
  assert.equal(new Set(groupsOf(batch)).size, 1);
});

test("the first unjudged document; the number of documents where there is none", () => {
  const batch = fold(makeBatch(), { kind: "label", lease: "l0", label: 1 }, { kind: "skip", lease: "l1" });
  assert.equal(findOpen(batch.items), 2);
  fold(batch, { kind: "group", leases: ["l2", "l3"], label: 0 });
  assert.equal(findOpen(batch.items), 4);
  assert.equal(findOpen([]), 0);
});

test("the next unjudged document is the first one where there is none after", () => {
  const batch = fold(makeBatch(), { kind: "label", lease: "l1", label: 1 });
  assert.equal(findOpenAfter(batch.items, 0), 2);
  assert.equal(findOpenAfter(batch.items, 3), 0);
});

test("what was answered last, with all of its group", () => {
  const batch = makeBatch([0, 0, null, null, null]);
  assert.deepEqual(findLastAnswered(batch.items, 3), []);
  fold(batch, { kind: "group", leases: ["l0", "l1"], label: 1 });
  assert.deepEqual(findLastAnswered(batch.items, 3), [0, 1]);
  fold(batch, { kind: "cannot", lease: "l2", reason: "broken" });
  assert.deepEqual(findLastAnswered(batch.items, 4), [2]);
  assert.deepEqual(findLastAnswered(batch.items, 0), []);
});

test("counts", () => {
  const items = makeItems([null, null, null, null, null, null]);
  ["judged", "cannot", "skipped", "expired", "returned", "live"].forEach((state, place) => (items[place].state = state));
  assert.deepEqual([countDone(items), countJudged(items)], [5, 1]);
});

test("the members of a group know their places", () => {
  const places = listMembers(makeItems([0, 1, 0]), 0).map(({ place, item }) => [place, item.lease]);
  assert.deepEqual(places, [[0, "l0"], [2, "l2"]]);
});

test("the review lists the highest grade first, and no grade without documents", () => {
  const batch = fold(makeBatch(), { kind: "group", leases: ["l0", "l3"], label: 0 }, { kind: "label", lease: "l1", label: 2 }, { kind: "skip", lease: "l2" });
  const rows = listByGrade(batch).map(({ grade, items }) => [grade.value, items.map((item) => item.lease)]);
  assert.deepEqual(rows, [[2, ["l1"]], [0, ["l0", "l3"]]]);
});
