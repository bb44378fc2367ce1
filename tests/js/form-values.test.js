import assert from "node:assert/strict";
import { test } from "node:test";
import { readField, readFields, setPath, splitNumbers } from "../../src/venire/server/web/static/shared/form-values.js";

const field = (values) => ({ name: "x", type: "text", value: "", dataset: {}, ...values });

test("fields become values by their type", () => {
  assert.equal(readField(field({ value: "a" })), "a");
  assert.equal(readField(field({ type: "number", value: "2.5" })), 2.5);
  assert.equal(readField(field({ type: "number", value: "" })), null);
  assert.equal(readField(field({ type: "checkbox", checked: true })), true);
  assert.equal(readField(field({ dataset: { type: "number" }, value: "3" })), 3);
  assert.deepEqual(readField(field({ dataset: { type: "lines" }, value: " AP \n\nP@10\n" })), ["AP", "P@10"]);
  assert.deepEqual(readField(field({ dataset: { type: "numbers" }, value: "1, 2;3" })), [1, 2, 3]);
});

test("what is not a number is left for the server to refuse", () => {
  assert.deepEqual(splitNumbers("1, two 0.5"), [1, "two", 0.5]);
  assert.deepEqual(splitNumbers(" "), []);
});

test("of radio buttons only the checked one has a value", () => {
  const [yes, no] = [true, false].map((checked) => field({ type: "radio", value: "a", checked }));
  assert.deepEqual([readField(yes), readField(no)], ["a", undefined]);
});

test("a list with nothing selected is empty, null or not sent, as the page says", () => {
  const select = (dataset, ...values) => field({ type: "select-multiple", dataset, selectedOptions: values.map((value) => ({ value })) });
  assert.deepEqual(readField(select({}, "a", "b")), ["a", "b"]);
  assert.deepEqual(readField(select({})), []);
  assert.equal(readField(select({ none: "" })), null);
  assert.equal(readField(select({ none: "all" })), undefined);
  assert.deepEqual(readField(select({ none: "all" }, "a")), ["a"]);
});

test("names with dots make objects", () => {
  const fields = [
    field({ name: "kind", value: "forecast" }),
    field({ name: "settings.crowd.spam", type: "number", value: "0.1" }),
    field({ name: "settings.measure", value: "AP" }),
    field({ name: "settings.choice", type: "radio", checked: false }),
  ];
  assert.deepEqual(readFields(fields), { kind: "forecast", settings: { crowd: { spam: 0.1 }, measure: "AP" } });
});

test("boxes of one name make a list of those that are ticked", () => {
  const box = (value, checked) => field({ name: "kinds", type: "checkbox", dataset: { list: "" }, value, checked });
  assert.deepEqual(readFields([box("qrels", true), box("raw", false), box("csv", true)]), { kinds: ["qrels", "csv"] });
  assert.deepEqual(readFields([box("qrels", false)]), { kinds: [] });
});

test("a value is put at a path of names", () => {
  const values = { a: { b: 1 } };
  setPath(values, ["a", "c"], 2);
  setPath(values, ["d"], 3);
  assert.deepEqual(values, { a: { b: 1, c: 2 }, d: 3 });
});
