// @ts-check
/**
 * What was chosen in the wizard. It is kept in this window's session storage by study, so that
 * going back, another tab of the study, or a reload loses nothing.
 */

/** @typedef {{id: string, values: Record<string, any>, kind: "type"|"pilot"|"own"|"bound", facts?: any}} Type */
/**
 * @typedef {{truth: string, encoder: string, queries: number|null, repetitions: number, seed: number,
 *   on: Record<string, boolean>, edits: Record<string, Record<string, any>>, own: string[],
 *   methods: Record<string, number[]>, extra: Record<string, number[]>, caps: string[], setting: string}} Chosen
 */

export const data = JSON.parse(document.getElementById("simulation-data")?.textContent ?? "{}");
const KEY = `simulation ${data.study}`;
/** A study with many queries is sampled, unless one asks for more. */
const MANY = 50;
/** A setting in words: what stands between brackets, without the names of the values. @param {string} setting */
export const plain = (setting) => setting.replace(/\(\w+=([^,)]*)(?:,cap=(\d+))?\)/, (_, value, cap) => ` at ${value}${cap ? `, at most ${cap}` : ""}`).replaceAll("-", " ");

/** @returns {Chosen} */
function read() {
  /** @type {Chosen} */
  const fresh = { truth: "", encoder: "", queries: null, repetitions: 3, seed: 0, on: {}, edits: {}, own: [], methods: {}, extra: {}, caps: ["none"], setting: "" };
  try {
    return { ...fresh, ...JSON.parse(sessionStorage.getItem(KEY) ?? "{}") };
  } catch {
    return fresh;
  }
}

export const chosen = read();
export const NOTHING = { queries: 0, labels: 0, relevant: 0, pilots: [], cosines: [], notes: [] };
/** What the server says of the chosen truth and encoder. @type {any} */
export let start = NOTHING;

/** @param {any} given */
export function setStart(given) {
  start = given;
}

export function keep() {
  sessionStorage.setItem(KEY, JSON.stringify(chosen));
  document.dispatchEvent(new CustomEvent("chosen"));
}

/** All types in the order of the page. @returns {Type[]} */
export function types() {
  const known = data.types.map((/** @type {any} */ one) => ({ id: one.values.name, values: one.values, kind: one.bound ? "bound" : "type" }));
  const typical = data.types.find((/** @type {any} */ one) => one.values.name === "typical").values;
  const pilots = start.pilots.map((/** @type {any} */ one) => ({ id: one.values.name, values: one.values, kind: "pilot", facts: one }));
  const own = chosen.own.map((id) => ({ id, values: { ...typical, name: id }, kind: "own" }));
  const of = (/** @type {string} */ kind) => known.filter((/** @type {Type} */ one) => one.kind === kind);
  return [...pilots, ...of("type"), ...own, ...of("bound")];
}

/** The values of a type, with what was changed. @param {Type} type */
export function valuesOf(type) {
  return { ...type.values, ...chosen.edits[type.id] };
}

/** With a pilot its annotators are on by default; without one, Typical is. @param {Type} type */
export function isOn(type) {
  if (type.kind === "bound") return true;
  const said = chosen.on[type.id];
  if (said !== undefined) return said;
  return type.kind === "own" || (start.pilots.length ? type.kind === "pilot" : type.id === "typical");
}

export function chosenTypes() {
  return types().filter((type) => type.kind !== "bound" && isOn(type));
}

/** @param {any} method */
export function available(method) {
  return method.needs !== "hashes" || data.hashes;
}

/** The values to try of a method. @param {any} method @returns {number[]} */
export function tried(method) {
  if (!available(method)) return [];
  return chosen.methods[method.name] ?? method.values;
}

/** @param {string} method @param {string} parameter @param {number} value @param {string} cap */
function spelled(method, parameter, value, cap) {
  return `${method}(${parameter}=${value}${cap === "none" ? "" : `,cap=${cap}`})`;
}

/** Every setting that will be tried, spelled out. */
export function settings() {
  const found = new Set(["one-at-a-time"]);
  if (data.current.setting) found.add(data.current.setting);
  for (const method of data.methods) {
    for (const value of tried(method)) for (const cap of chosen.caps) found.add(spelled(method.name, method.parameter, value, cap));
  }
  return [...found];
}

export function queries() {
  return chosen.queries ?? Math.min(start.queries, MANY);
}

/** What a simulation cannot do without, in words; "" where nothing is missing. */
export function missing() {
  if (!data.owner) return "Owners of the study can run a simulation.";
  if (!chosen.truth) return "There are no labels to compare against: choose some in step 1.";
  if (!chosen.encoder) return "The study has no encoder yet: compute vectors in step 1.";
  if (!start.queries) return "No query of the pool has labels: choose others in step 1.";
  if (!chosenTypes().length) return "Choose at least one annotator type in step 2.";
  if (settings().every((setting) => setting === "one-at-a-time")) return "Choose at least one method in step 3.";
  return "";
}

/** What the job is asked to do. */
export function asked() {
  const methods = data.methods
    .filter((/** @type {any} */ method) => tried(method).length)
    .map((/** @type {any} */ method) => `${method.name}(${method.parameter}=${tried(method).join("|")})`);
  const annotators = types().filter(isOn).map(valuesOf);
  return {
    truth: chosen.truth,
    encoder: chosen.encoder,
    methods: methods.join(","),
    caps: chosen.caps.join(",") || "none",
    annotators,
    queries: queries() < start.queries ? queries() : null,
    repetitions: chosen.repetitions,
    seed: chosen.seed,
  };
}
