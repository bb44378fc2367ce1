// @ts-check
/** The wizard: which step is shown, what stands under each, what is asked of the server. */
import { ask } from "./api.js";
import { element } from "./document.js";
import { addType, cards, counted, methods } from "./simulation-choices.js";
import { comparison, drawResults, results } from "./simulation-results.js";
import { NOTHING, asked, chosen, chosenTypes, data, keep, missing, plain, queries, setStart, settings, start, valuesOf } from "./simulation-state.js";

/** @param {string} id */
const $ = (id) => /** @type {HTMLElement} */ (document.getElementById(id));
/** @param {string} id */
const input = (id) => /** @type {HTMLInputElement} */ (document.getElementById(id));
const LAST = 6;
/** Steps 2 to 4 speak of what the labels hold: until that is read they wait. */
let ready = false;
let toFocus = false;

/* ---- steps ---- */

function step() {
  const given = Number(/^#step-([1-6])$/.exec(location.hash)?.[1]);
  if (given) return given;
  // A simulation that runs or has just been asked for is what one came to see.
  return data.job && new URLSearchParams(location.search).has("job") ? 5 : 1;
}

/** @param {boolean} [moved] */
function show(moved = false) {
  const now = step();
  const waits = !ready && now >= 2 && now <= 4;
  for (const section of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-step]"))) section.hidden = waits || section.dataset.step !== String(now);
  $("reading").hidden = !waits;
  for (const link of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-go]"))) {
    if (link.dataset.go === String(now)) link.setAttribute("aria-current", "step");
    else link.removeAttribute("aria-current");
  }
  toFocus = waits && (moved || toFocus);
  if (waits) return;
  if (now === 2) cards();
  if (now === 3) methods();
  if (now === 4) summary();
  if (now === 5) {
    drawResults(compare);
    stale();
  }
  if (now === LAST) comparison(chosen.setting || data.found?.setting);
  if (moved) {
    $(`title-${now}`).focus({ preventScroll: true });
    window.scrollTo({ top: 0 });
  }
}

/** Results of other labels or vectors than those chosen now say so. */
function stale() {
  const { found } = data;
  const other = found && chosen.truth && (found.truth !== chosen.truth || found.encoder !== chosen.encoder);
  const line = document.getElementById("stale");
  if (!line) return;
  line.hidden = !other;
  if (other) line.textContent = `These results are of ${found.labels} and ${found.encoder}, not of what is chosen in step 1 now.`;
}

/** @param {string} setting */
function compare(setting) {
  chosen.setting = setting;
  keep();
  location.hash = `#step-${LAST}`;
}

/** What stands under the name of each step. */
function under() {
  const truth = data.truths.find((/** @type {any} */ one) => one.value === chosen.truth);
  const n = settings().length;
  const words = [
    [truth?.words, chosen.encoder].filter(Boolean).join(" · "),
    chosenTypes().map((type) => valuesOf(type).name).join(", ") || "none chosen",
    `${n} ${n === 1 ? "setting" : "settings"}`,
    start.queries ? `${queries()} queries x ${chosen.repetitions}` : "",
    data.found ? `★ ${data.found.words[data.found.setting]}` : { waiting: "waits", running: "runs", stopped: "stopped" }[String(data.job?.state)] ?? "",
    data.found ? data.found.words[chosen.setting] ?? "" : "",
  ];
  words.forEach((text, at) => {
    const place = document.querySelector(`[data-chosen="${at + 1}"]`);
    if (place) place.textContent = text ?? "";
  });
  if (step() === 3) counted();
}

/* ---- step 1 ---- */

function truth() {
  const boxes = /** @type {HTMLInputElement[]} */ ([...document.querySelectorAll("input[name=truth]")]);
  if (!boxes.some((box) => box.value === chosen.truth)) chosen.truth = boxes[0]?.value ?? "";
  for (const box of boxes) {
    box.checked = box.value === chosen.truth;
    box.addEventListener("change", () => {
      chosen.truth = box.value;
      keep();
      void begin();
    });
  }
  const names = data.vectors;
  if (!names.includes(chosen.encoder)) chosen.encoder = names.find((/** @type {string} */ name) => name === data.current.encoder) ?? names.find((/** @type {string} */ name) => name !== "perceptual-hash") ?? names[0] ?? "";
  const select = /** @type {HTMLSelectElement|null} */ (document.getElementById("encoder"));
  if (select) {
    select.value = chosen.encoder;
    select.addEventListener("change", () => {
      chosen.encoder = select.value;
      keep();
      void begin();
    });
  }
  if (!chosen.setting || !data.found?.words[chosen.setting]) chosen.setting = data.found?.setting ?? "";
}

let begun = 0;

/** Ask what the chosen labels and vectors give. */
async function begin() {
  const mine = ++begun;
  const place = $("truth-facts");
  ready = !chosen.truth;
  setStart(NOTHING);
  if (chosen.truth) {
    place.textContent = "…";
    const query = new URLSearchParams({ truth: chosen.truth, encoder: chosen.encoder });
    let words = "";
    try {
      const found = await ask(`${data.api}/simulation?${query}`);
      if (mine !== begun) return;
      setStart(found);
      const number = (/** @type {number} */ value) => value.toLocaleString("en");
      const pilots = start.pilots.length ? ` ${start.pilots.length} ${start.pilots.length === 1 ? "annotator is" : "annotators are"} measured against them.` : "";
      words = `${number(start.queries)} ${start.queries === 1 ? "query" : "queries"} of the pool with ${number(start.labels)} labels, ${number(start.relevant)} of them relevant.${pilots}${start.notes.map((/** @type {string} */ note) => ` ${note}`).join("")}`;
    } catch (error) {
      words = error instanceof Error ? error.message : String(error);
    }
    if (mine !== begun) return;
    place.textContent = words;
    ready = true;
  }
  under();
  show(toFocus);
}

/* ---- step 4 ---- */

let latest = 0;
let timer = 0;

function summary() {
  input("queries").value = String(queries() || "");
  input("queries").max = String(start.queries || "");
  $("queries-help").textContent = `Of ${start.queries} with labels; drawn by the seed.`;
  input("repetitions").value = String(chosen.repetitions);
  input("seed").value = String(chosen.seed);
  const truthWords = data.truths.find((/** @type {any} */ one) => one.value === chosen.truth)?.words ?? "none";
  const facts = [["Labels", truthWords], ["Encoder", chosen.encoder || "none"], ["Recommendation based on", chosenTypes().map((type) => valuesOf(type).name).join(", ") || "none"], ["Bounds", "perfect, group-only"], ["Settings", settings().map(plain).join("; ")]];
  $("summary").replaceChildren(...facts.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value))));
  plan();
}

/** What will run, and for how long: the server tries a small part of it. */
function plan() {
  clearTimeout(timer);
  const mine = ++latest;
  $("plan").textContent = "Working out how long it takes …";
  $("plan-error").textContent = "";
  $("plan-notes").replaceChildren();
  const run = /** @type {HTMLButtonElement|null} */ (document.getElementById("run"));
  if (run) run.disabled = true;
  const lacks = missing();
  if (lacks) {
    $("plan").textContent = "";
    $("plan-error").textContent = lacks;
    return;
  }
  timer = window.setTimeout(async () => {
    try {
      const answer = await ask(`${data.api}/simulation/plan`, { method: "POST", body: asked(), seconds: 120 });
      if (mine !== latest) return;
      $("plan").textContent = `${answer.plan}.`;
      $("plan-notes").replaceChildren(...answer.notes.map((/** @type {string} */ note) => element("li", {}, note)));
      if (run) run.disabled = false;
    } catch (error) {
      if (mine !== latest) return;
      $("plan").textContent = "";
      $("plan-error").textContent = error instanceof Error ? error.message : String(error);
    }
  }, 250);
}

async function run() {
  const button = /** @type {HTMLButtonElement} */ ($("run"));
  button.disabled = true;
  $("run-error").textContent = "";
  try {
    const answer = await ask(`${data.api}/jobs`, { method: "POST", body: { kind: "simulate", settings: asked() }, seconds: 120 });
    chosen.setting = "";
    keep();
    location.assign(`${data.here}/simulation?job=${answer.job_id}#step-5`);
  } catch (error) {
    $("run-error").textContent = error instanceof Error ? error.message : String(error);
    button.disabled = false;
  }
}

/* ---- all together ---- */

for (const [id, name] of /** @type {["queries"|"repetitions"|"seed", string][]} */ ([["queries", "queries"], ["repetitions", "repetitions"], ["seed", "seed"]])) {
  input(id).addEventListener("input", () => {
    // What stands there is not what was planned: nothing can be run until it is.
    latest++;
    clearTimeout(timer);
    /** @type {HTMLButtonElement|null} */ (document.getElementById("run"))?.setAttribute("disabled", "");
    $("plan").textContent = "";
    $("plan-error").textContent = input(id).value !== "" && input(id).checkValidity() ? "" : `${input(id).labels?.[0].textContent}: ${input(id).validationMessage || "a number is needed"}`;
  });
  input(id).addEventListener("change", () => {
    if (input(id).value === "" || !input(id).checkValidity()) {
      input(id).reportValidity();
      return;
    }
    /** @type {any} */ (chosen)[name] = Number(input(id).value);
    keep();
    plan();
  });
}
document.getElementById("run")?.addEventListener("click", () => void run());
document.addEventListener("sent", (event) => {
  // Vectors that were just put in are what one wants to try.
  const { kind, name } = /** @type {CustomEvent} */ (event).detail ?? {};
  if (kind !== "vectors") return;
  chosen.encoder = name;
  keep();
});
$("add-type").addEventListener("click", addType);
document.getElementById("setting")?.addEventListener("change", (event) => comparison(/** @type {HTMLSelectElement} */ (event.target).value));
document.addEventListener("chosen", under);
window.addEventListener("hashchange", () => show(true));
truth();
results(compare);
show();
void begin();
