// @ts-check
/** The state of the simulation wizard, without a page: what the study has, and what was selected. */
import { ONE_AT_A_TIME, spellSetting } from "./settings.js";

/** @typedef {import("../types").AnnotatorType} AnnotatorType */
/** @typedef {import("../types").Method} Method */
/** @typedef {import("../types").Selection} Selection */
/** @typedef {import("../types").SimulationData} SimulationData */

/** A study with many queries is sampled by default. */
const SAMPLED_QUERIES = 50;

/** @type {import("../types").Start} what is known before the server has answered */
export const EMPTY_START = { queries: 0, labels: 0, relevant: 0, pilots: [], cosines: [], notes: [] };

/** @returns {Selection} */
export const emptySelection = () => ({
  truth: "", encoder: "", queries: null, repetitions: 3, seed: 0, on: {}, edits: {}, own: [], methods: {}, extra: {},
  caps: ["none"], setting: "",
});

export class Wizard {
  /** @param {SimulationData} data @param {Selection} selection */
  constructor(data, selection) {
    this.data = data;
    this.selection = selection;
    /** What the server says of the selected labels and encoder. */
    this.start = EMPTY_START;
  }

  /** All annotator types in the order of the page. @returns {AnnotatorType[]} */
  listTypes() {
    /** @type {AnnotatorType[]} */
    const known = this.data.types.map(({ values, bound }) => ({ id: values.name, values, kind: bound ? "bound" : "type" }));
    const typical = known.find(({ id }) => id === "typical")?.values;
    /** @type {AnnotatorType[]} */
    const pilots = this.start.pilots.map((pilot) => ({ id: pilot.values.name, values: pilot.values, kind: "pilot", pilot }));
    /** @type {AnnotatorType[]} */
    const own = this.selection.own.map((id) => ({ id, values: { ...typical, name: id }, kind: "own" }));
    const types = known.filter(({ kind }) => kind === "type");
    return [...pilots, ...types, ...own, ...known.filter(({ kind }) => kind === "bound")];
  }

  /** Return the values of a type, with what was changed. @param {AnnotatorType} type */
  valuesOf(type) {
    return { ...type.values, ...this.selection.edits[type.id] };
  }

  /** @param {AnnotatorType} type @returns {string} */
  nameOf(type) {
    return String(this.valuesOf(type).name);
  }

  /** Whether a type takes part. By default the pilot's annotators do; without a pilot, Typical does. @param {AnnotatorType} type */
  isOn(type) {
    if (type.kind === "bound") return true;
    const ticked = this.selection.on[type.id];
    if (ticked !== undefined) return ticked;
    return type.kind === "own" || (this.start.pilots.length ? type.kind === "pilot" : type.id === "typical");
  }

  /** Types that the recommendation is based on. */
  listSelectedTypes() {
    return this.listTypes().filter((type) => type.kind !== "bound" && this.isOn(type));
  }

  /** Whether a name is free for a type. @param {AnnotatorType} type @param {string} name */
  isNameFree(type, name) {
    return this.listTypes().every((other) => other.id === type.id || this.nameOf(other) !== name);
  }

  /** Add a type of one's own and return its id. */
  addType() {
    const taken = this.listTypes().flatMap((type) => [type.id, this.nameOf(type)]);
    let number = 1;
    while (taken.includes(`own ${number}`)) number++;
    this.selection.own.push(`own ${number}`);
    return `own ${number}`;
  }

  /** @param {string} id */
  removeType(id) {
    const { selection } = this;
    selection.own = selection.own.filter((other) => other !== id);
    delete selection.edits[id];
    delete selection.on[id];
  }

  /** @param {AnnotatorType} type @param {string} key @param {string|number|boolean} value */
  edit(type, key, value) {
    this.selection.edits[type.id] = { ...this.selection.edits[type.id], [key]: value };
  }

  /** Whether the study has what a method needs. @param {Method} method */
  isAvailable(method) {
    return method.needs !== "hashes" || this.data.hashes;
  }

  /** Return the values to try of a method. @param {Method} method @returns {number[]} */
  selectedValues(method) {
    if (!this.isAvailable(method)) return [];
    return this.selection.methods[method.name] ?? method.values;
  }

  /** Return the values that are offered of a method. @param {Method} method @returns {number[]} */
  offeredValues(method) {
    return [...method.values, ...(this.selection.extra[method.name] ?? [])];
  }

  /** @param {Method} method @param {number} value @param {boolean} selected */
  selectValue(method, value, selected) {
    const others = this.selectedValues(method).filter((other) => other !== value);
    this.selection.methods[method.name] = selected ? [...others, value] : others;
  }

  /** Offer another value and select it. @param {Method} method @param {number} value */
  addValue(method, value) {
    const { extra } = this.selection;
    if (!this.offeredValues(method).includes(value)) extra[method.name] = [...(extra[method.name] ?? []), value];
    if (!this.selectedValues(method).includes(value)) this.selectValue(method, value, true);
  }

  /** Return every setting that will be tried, spelled out. @returns {string[]} */
  listSettings() {
    const settings = new Set([ONE_AT_A_TIME]);
    if (this.data.current.setting) settings.add(this.data.current.setting);
    for (const method of this.data.methods) {
      for (const value of this.selectedValues(method)) {
        for (const cap of this.selection.caps) settings.add(spellSetting(method, value, cap));
      }
    }
    return [...settings];
  }

  get queries() {
    return this.selection.queries ?? Math.min(this.start.queries, SAMPLED_QUERIES);
  }

  /** The selected labels, undefined where there are none. */
  get truth() {
    return this.data.truths.find(({ value }) => value === this.selection.truth);
  }

  /** Select labels and an encoder where none is selected, or where it is gone. */
  selectDefaults() {
    const { data, selection } = this;
    if (!this.truth) selection.truth = data.truths[0]?.value ?? "";
    if (!data.vectors.includes(selection.encoder)) {
      const current = data.vectors.find((name) => name === data.current.encoder);
      const learned = data.vectors.find((name) => name !== "perceptual-hash");
      selection.encoder = current ?? learned ?? data.vectors[0] ?? "";
    }
    if (!data.found?.words[selection.setting]) selection.setting = data.found?.setting ?? "";
  }

  /** Return what a simulation cannot do without, as a sentence; "" where nothing is missing. */
  describeMissing() {
    if (!this.data.owner) return "Only owners of the study can run a simulation.";
    if (!this.selection.truth) return "No labels to compare with. Choose labels in step 1.";
    if (!this.selection.encoder) return "No encoder yet. Compute vectors in step 1.";
    if (!this.start.queries) return "No query of the pool has labels. Choose other labels in step 1.";
    if (!this.listSelectedTypes().length) return "Choose at least one annotator type in step 2.";
    if (this.listSettings().every((setting) => setting === ONE_AT_A_TIME)) return "Choose at least one method in step 3.";
    return "";
  }

  /** Return what the server is asked to simulate. */
  get request() {
    const { data, selection, queries } = this;
    const methods = data.methods
      .filter((method) => this.selectedValues(method).length)
      .map((method) => `${method.name}(${method.parameter}=${this.selectedValues(method).join("|")})`);
    return {
      truth: selection.truth,
      encoder: selection.encoder,
      methods: methods.join(","),
      caps: selection.caps.join(",") || "none",
      annotators: this.listTypes().filter((type) => this.isOn(type)).map((type) => this.valuesOf(type)),
      queries: queries < this.start.queries ? queries : null,
      repetitions: selection.repetitions,
      seed: selection.seed,
    };
  }
}
