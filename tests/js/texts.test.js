import assert from "node:assert/strict";
import { test } from "node:test";
import { describeOffline, describeProgress, describeRefused, describeUnsent } from "../../src/venire/server/web/static/judge/messages.js";
import { Session } from "../../src/venire/server/web/static/judge/session.js";
import { formatValue } from "../../src/venire/server/web/static/owner/overview-values.js";
import { describeCounts } from "../../src/venire/server/web/static/owner/report.js";
import { compareKeys, sortKey } from "../../src/venire/server/web/static/owner/sorting.js";
import { countNoun, formatMinutes, messageOf } from "../../src/venire/server/web/static/shared/text.js";
import { makeBatch } from "./batches.js";

test("counts have their noun", () => {
  assert.deepEqual([countNoun(1, "query", "queries"), countNoun(1200, "label")], ["1 query", "1,200 labels"]);
});

test("lengths of time are in their largest fitting unit", () => {
  assert.deepEqual([1, 90, 120, 2879, 2880].map(formatMinutes), ["1 minute", "90 minutes", "2 hours", "47 hours", "2 days"]);
});

test("whatever was thrown has a message", () => {
  assert.deepEqual([messageOf(new Error("no")), messageOf("no")], ["no", "no"]);
});

test("what is saved", () => {
  assert.equal(describeUnsent(0, "sending"), "Saved");
  assert.equal(describeUnsent(2, "sending"), "Saving …");
  assert.equal(describeUnsent(3, "sending"), "3 not sent");
  assert.equal(describeUnsent(1, "offline"), "1 not sent");
  assert.match(describeOffline(1), /1 judgment is saved in this browser/);
  assert.match(describeOffline(5), /5 judgments are saved in this browser/);
  assert.equal(describeRefused(["too late"]), "1 earlier judgment does not count: too late.");
  assert.equal(describeRefused(["too late", "finished"]), "2 earlier judgments do not count: too late.");
});

test("progress of work and of practice", () => {
  assert.equal(describeProgress(new Session(makeBatch())), "0 of 4 judged");
  assert.equal(describeProgress(new Session(makeBatch(undefined, { kind: "practice" }))), "Practice 1 of 4");
});

test("figures of the overview are written as the server writes them", () => {
  assert.equal(formatValue(null, "number"), "–");
  assert.equal(formatValue(1880, "number"), "1,880");
  assert.equal(formatValue(1880.66, "number1"), "1,880.7");
  assert.equal(formatValue(0.126, "percent"), "13%");
  assert.deepEqual([0.5, 1, 47.96, 60].map((hours) => formatValue(hours, "hours")), ["30 min", "1.0 h", "48.0 h", "2.5 days"]);
  assert.equal(formatValue("open", ""), "open");
});

test("a report counts rows; a run is stored whole", () => {
  assert.equal(describeCounts({ what: "topics.tsv", read: 1225, left_out: 2 }), "1,225 read, 2 left out");
  assert.equal(describeCounts({ kind: "topics", rows: 5, added: 3, unchanged: 2 }), "5 read, 3 added, 2 unchanged");
  assert.equal(describeCounts({ kind: "run", what: "run bm25", read: 50, added: 1 }), "50 read, new");
  assert.equal(describeCounts({ kind: "qrels", name: "old.qrels", rows: 50, unchanged: 1 }), "50 read, unchanged");
  assert.equal(describeCounts({ what: "runs/a.run" }), "nothing new");
});

test("numbers are sorted as numbers, a dash below all, names with numbers in their order", () => {
  assert.deepEqual(["1,200", "12%", "–", "q10", ""].map(sortKey), [1200, 12, -Infinity, "q10", ""]);
  assert.deepEqual(["q10", "q9", "q1"].sort(compareKeys), ["q1", "q9", "q10"]);
  assert.ok(compareKeys(2, 10) < 0);
});
