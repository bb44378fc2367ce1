import assert from "node:assert/strict";
import { test } from "node:test";
import { Session } from "../../src/venire/server/web/static/judge/session.js";
import { groupsOf, makeBatch, statesOf } from "./batches.js";

const TIME = { active_ms: 900, idle_ms: 0 };

/** Label the current document and go on, as the page does. */
function label(session, value) {
  const places = session.currentPlaces();
  session.apply({ kind: "group", leases: session.leasesAt(places), label: value });
  session.place = session.advance(places) ?? session.place;
}

/** Take the last step back, as the page does. */
function undo(session) {
  const step = session.takeUndo();
  if (!step) return null;
  session.apply(session.undoEvent(step, TIME));
  session.place = step.kind === "judged" ? step.places[0] : session.place;
  return step;
}

test("a session begins at the first unjudged document", () => {
  const batch = makeBatch();
  batch.items[0].state = "judged";
  assert.equal(new Session(batch).place, 1);
});

test("a batch from the first document to the last", () => {
  const session = new Session(makeBatch());
  for (const value of [0, 1, 2]) label(session, value);
  assert.equal(session.isAtEnd, false);
  label(session, 1);
  assert.deepEqual([session.isAtEnd, session.isComplete, session.item], [true, true, undefined]);
  assert.deepEqual(statesOf(session.batch), [0, 1, 2, 1]);
  assert.deepEqual(session.count(), { done: 4, judged: 4, total: 4, number: 4 });
});

test("what was jumped over comes after the last document", () => {
  const session = new Session(makeBatch());
  session.place = 2;
  label(session, 1);
  label(session, 1);
  assert.equal(session.place, 0);
});

test("undo goes back step by step, and then follows the order of the batch", () => {
  const session = new Session(makeBatch());
  for (const value of [0, 1]) label(session, value);
  assert.deepEqual(undo(session), { kind: "judged", places: [1] });
  assert.deepEqual([session.place, statesOf(session.batch)], [1, [0, "live", "live", "live"]]);
  assert.deepEqual(undo(session), { kind: "judged", places: [0] });
  assert.equal(undo(session), null);
});

test("without history, as after a reload, undo takes the last answer before the current document", () => {
  const batch = makeBatch();
  Object.assign(batch.items[0], { state: "judged", label: 1 });
  const session = new Session(batch);
  assert.deepEqual(undo(session), { kind: "judged", places: [0] });
  assert.deepEqual(statesOf(batch), ["live", "live", "live", "live"]);
});

test("in practice a judgment waits for its feedback, what cannot be judged does not", () => {
  const session = new Session(makeBatch(undefined, { kind: "practice" }));
  session.apply({ kind: "label", lease: "l0", label: 1 });
  assert.equal(session.advance([0]), null);
  session.apply({ kind: "cannot", lease: "l1", reason: "broken" });
  assert.equal(session.advance([1]), 2);
});

test("a group is answered as one", () => {
  const session = new Session(makeBatch([0, 0, null]));
  assert.deepEqual(session.currentPlaces(), [0, 1]);
  label(session, 2);
  assert.deepEqual([session.place, statesOf(session.batch)], [2, [2, 2, "live"]]);
  undo(session);
  assert.deepEqual([session.place, statesOf(session.batch)], [0, ["live", "live", "live"]]);
});

test("a split is taken back by splitting off the whole group", () => {
  const session = new Session(makeBatch([0, 0, 0]));
  session.apply({ kind: "split", leases: ["l1", "l2"] });
  session.remember({ kind: "split", leases: ["l0", "l1", "l2"], place: 0 });
  const step = session.takeUndo();
  const event = session.undoEvent(step, TIME);
  assert.deepEqual(event, { kind: "split", leases: ["l0", "l1", "l2"], ...TIME });
  session.apply(event);
  assert.equal(new Set(groupsOf(session.batch)).size, 1);
});

test("a change in the review goes round the scale, and is taken back by the earlier grade", () => {
  const session = new Session(makeBatch([0, 0]));
  label(session, 2);
  const [item] = session.items;
  assert.equal(session.nextGrade(item), 0);
  session.remember({ kind: "review", lease: item.lease, label: item.label });
  session.apply({ kind: "label", lease: item.lease, label: 0 });
  const event = session.undoEvent(session.takeUndo(), TIME);
  assert.deepEqual(event, { kind: "label", lease: "l0", label: 2, text: "review", ...TIME });
});

test("the topic of the current document, at the end that of the first one", () => {
  const topics = ["wind", "water"].map((title) => ({ title, description: "", narrative: "" }));
  const batch = makeBatch([null, null], { topics });
  batch.items[1].topic = 1;
  const session = new Session(batch);
  session.place = 1;
  assert.equal(session.topic.title, "water");
  session.place = 2;
  assert.equal(session.topic.title, "wind");
});

test("grades are found by their value", () => {
  const session = new Session(makeBatch());
  assert.equal(session.findGrade(2).name, "Highly relevant");
  assert.equal(session.findGrade(undefined), undefined);
  assert.deepEqual(session.values, [0, 1, 2]);
});
