import assert from "node:assert/strict";
import { test } from "node:test";
import { describeRange, describeSetting, isAllowed, spellSetting } from "../../src/venire/server/web/static/simulation/settings.js";
import { Wizard, emptySelection } from "../../src/venire/server/web/static/simulation/wizard.js";

const LEADER = { name: "leader", words: "Leader", parameter: "cosine", values: [0.9, 0.8], limits: [-1, 1], whole: false, needs: "vectors" };
const HASHES = { name: "near-duplicate", words: "", parameter: "bits", values: [4], limits: [0, 64], whole: true, needs: "hashes" };
const KMEANS = { name: "k-means", words: "", parameter: "size", values: [8], limits: [1, null], whole: true, needs: "vectors" };
const DATA = {
  study: "s",
  owner: true,
  truths: [{ value: "qrels:truth", words: "Qrels truth", labels: 100 }],
  vectors: ["perceptual-hash", "pixels"],
  hashes: false,
  types: [
    ...["novice", "typical", "expert"].map((name) => ({ values: { name, accuracy_relevant: 0.8 }, bound: false })),
    ...["perfect", "group-only"].map((name) => ({ values: { name }, bound: true })),
  ],
  methods: [LEADER, HASHES],
  current: {},
  job: null,
  found: null,
};
const START = { queries: 80, labels: 2000, relevant: 400, pilots: [], cosines: [], notes: [] };
const PILOT = { values: { name: "pilot Ann", accuracy_relevant: 0.9 }, relevant: {}, not_relevant: {}, notes: [] };

/** Return a wizard with labels and an encoder, as step 1 leaves it. */
function makeWizard(data = {}, selection = {}) {
  const wizard = new Wizard({ ...DATA, ...data }, { ...emptySelection(), ...selection });
  wizard.selectDefaults();
  wizard.start = START;
  return wizard;
}

const findType = (wizard, id) => wizard.listTypes().find((type) => type.id === id);

test("defaults: the first labels, and the encoder that is not the hash", () => {
  const { selection } = makeWizard();
  assert.deepEqual([selection.truth, selection.encoder], ["qrels:truth", "pixels"]);
});

test("the encoder of the pools comes first, and a selection that is still possible stays", () => {
  assert.equal(makeWizard({ current: { encoder: "perceptual-hash" } }).selection.encoder, "perceptual-hash");
  assert.equal(makeWizard({}, { encoder: "perceptual-hash" }).selection.encoder, "perceptual-hash");
  assert.equal(makeWizard({}, { encoder: "gone" }).selection.encoder, "pixels");
  assert.deepEqual(makeWizard({ truths: [], vectors: [] }).selection, emptySelection());
});

test("without a pilot Typical is on, with one the pilot's annotators are", () => {
  const wizard = makeWizard();
  assert.deepEqual(wizard.listSelectedTypes().map(({ id }) => id), ["typical"]);
  wizard.start = { ...START, pilots: [PILOT] };
  assert.deepEqual(wizard.listSelectedTypes().map(({ id }) => id), ["pilot Ann"]);
  assert.deepEqual(wizard.listTypes().map(({ kind }) => kind), ["pilot", "type", "type", "type", "bound", "bound"]);
});

test("a ticked box counts more than the default, bounds are always on", () => {
  const wizard = makeWizard({}, { on: { typical: false, expert: true, perfect: false } });
  assert.deepEqual(wizard.listSelectedTypes().map(({ id }) => id), ["expert"]);
  assert.equal(wizard.isOn(findType(wizard, "perfect")), true);
});

test("types of one's own have the values of Typical until they are changed", () => {
  const wizard = makeWizard();
  assert.deepEqual([wizard.addType(), wizard.addType()], ["own 1", "own 2"]);
  const type = findType(wizard, "own 1");
  wizard.edit(type, "accuracy_relevant", 0.95);
  wizard.edit(type, "name", "careful");
  assert.deepEqual(wizard.valuesOf(type), { name: "careful", accuracy_relevant: 0.95 });
  assert.deepEqual([wizard.isNameFree(type, "careful"), wizard.isNameFree(type, "expert")], [true, false]);
  wizard.removeType("own 1");
  assert.deepEqual([wizard.selection.own, wizard.selection.edits], [["own 2"], {}]);
  assert.equal(wizard.addType(), "own 1");
});

test("every value with every maximum group size is a setting; one at a time and the current one are among them", () => {
  const wizard = makeWizard({ current: { setting: "k-means(size=16)" } }, { caps: ["8", "none"], methods: { leader: [0.9] } });
  assert.deepEqual(wizard.listSettings(), ["one-at-a-time", "k-means(size=16)", "leader(cosine=0.9,cap=8)", "leader(cosine=0.9)"]);
});

test("a method that needs hashes waits for them", () => {
  assert.deepEqual(makeWizard().selectedValues(HASHES), []);
  assert.deepEqual(makeWizard({ hashes: true }).selectedValues(HASHES), [4]);
});

test("values are selected, deselected and added", () => {
  const wizard = makeWizard();
  wizard.selectValue(LEADER, 0.9, false);
  assert.deepEqual(wizard.selectedValues(LEADER), [0.8]);
  wizard.addValue(LEADER, 0.7);
  wizard.addValue(LEADER, 0.7);
  assert.deepEqual([wizard.selectedValues(LEADER), wizard.offeredValues(LEADER)], [[0.8, 0.7], [0.9, 0.8, 0.7]]);
});

test("what is missing is said in the order of the steps", () => {
  const missing = (data, selection, start = START) => {
    const wizard = makeWizard(data, selection);
    wizard.start = start;
    return wizard.describeMissing();
  };
  assert.match(missing({ owner: false }), /^Only owners/);
  assert.match(missing({ truths: [] }), /labels in step 1/);
  assert.match(missing({ vectors: [] }), /vectors in step 1/);
  assert.match(missing({}, {}, { ...START, queries: 0 }), /other labels in step 1/);
  assert.match(missing({}, { on: { typical: false } }), /step 2/);
  assert.match(missing({}, { methods: { leader: [] } }), /step 3/);
  assert.equal(missing(), "");
});

test("a study with many queries is sampled, unless more are selected", () => {
  assert.equal(makeWizard().queries, 50);
  assert.equal(makeWizard().request.queries, 50);
  assert.equal(makeWizard({}, { queries: 80 }).request.queries, null);
});

test("the request names methods with their values, and all types that are on", () => {
  const { annotators, ...request } = makeWizard({}, { caps: ["8", "none"], repetitions: 2, seed: 7 }).request;
  assert.deepEqual(request, {
    truth: "qrels:truth", encoder: "pixels", methods: "leader(cosine=0.9|0.8)", caps: "8,none", queries: 50, repetitions: 2, seed: 7,
  });
  assert.deepEqual(annotators.map(({ name }) => name), ["typical", "perfect", "group-only"]);
});

test("settings are spelled out, and described as the server describes them", () => {
  assert.equal(spellSetting(KMEANS, 16, "none"), "k-means(size=16)");
  assert.equal(spellSetting(LEADER, 0.9, "8"), "leader(cosine=0.9,cap=8)");
  assert.equal(describeSetting("one-at-a-time"), "one at a time");
  assert.equal(describeSetting("k-means(size=16)"), "k-means at 16");
  assert.equal(describeSetting("average-linkage(distance=0.2,cap=16)"), "average linkage at 0.2, groups of at most 16");
  assert.equal(describeSetting("something else?"), "something else?");
});

test("what a value must be", () => {
  assert.deepEqual([0, 2, 2.5, NaN].map((value) => isAllowed(KMEANS, value)), [false, true, false, false]);
  assert.deepEqual([-2, 0.5, 1, 1.5].map((value) => isAllowed(LEADER, value)), [false, true, true, false]);
  assert.equal(describeRange(KMEANS), "a whole number >= 1");
  assert.equal(describeRange(LEADER), "a number between -1 and 1");
  assert.equal(describeRange({ limits: [null, 3], whole: false }), "a number <= 3");
  assert.equal(describeRange({ limits: [null, null], whole: true }), "a whole number");
});
