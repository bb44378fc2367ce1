// @ts-check
/** Step 4: what will run, for how long, and the button that runs it. */
import { ask } from "../shared/api.js";
import { byId, element, inputById } from "../shared/elements.js";
import { countNoun, messageOf } from "../shared/text.js";
import { describeSetting } from "./settings.js";
import { storeSelection, wizard } from "./state.js";

const { data, selection } = wizard;
const PLAN_AFTER = 250;
const PLAN_SECONDS = 120;
const FIELDS = /** @type {("queries"|"repetitions"|"seed")[]} */ (["queries", "repetitions", "seed"]);
/** Counts plans: only the answer to the last one is shown. */
let plans = 0;
let timer = 0;

const runButton = () => /** @type {HTMLButtonElement|null} */ (document.getElementById("run"));

/** @param {boolean} enabled */
function enableRun(enabled) {
  const button = runButton();
  if (button) button.disabled = !enabled;
}

/** @param {string} plan @param {string} [error] */
function showPlan(plan, error = "") {
  byId("plan").textContent = plan;
  byId("plan-error").textContent = error;
}

export function showSummary() {
  const { queries } = wizard.start;
  inputById("queries").value = String(wizard.queries || "");
  inputById("queries").max = String(queries || "");
  byId("queries-help").textContent = `Of ${countNoun(queries, "query", "queries")} with labels; sampled with the seed.`;
  inputById("repetitions").value = String(selection.repetitions);
  inputById("seed").value = String(selection.seed);
  byId("summary").replaceChildren(...listFacts().map(([name, value]) => (
    element("div", {}, element("dt", {}, name), element("dd", {}, value))
  )));
  planRun();
}

/** @returns {[string, string][]} */
function listFacts() {
  return [
    ["Labels", wizard.truth?.words ?? "none"],
    ["Encoder", selection.encoder || "none"],
    ["Recommendation based on", wizard.listSelectedTypes().map((type) => wizard.nameOf(type)).join(", ") || "none"],
    ["Bounds", "perfect, group-only"],
    ["Settings", wizard.listSettings().map(describeSetting).join("; ")],
  ];
}

/** Ask what will run, and for how long: the server tries a small part of it. */
function planRun() {
  clearTimeout(timer);
  const plan = ++plans;
  byId("plan-notes").replaceChildren();
  enableRun(false);
  const missing = wizard.describeMissing();
  showPlan(missing ? "" : "Estimating the time …", missing);
  if (!missing) timer = window.setTimeout(() => void requestPlan(plan), PLAN_AFTER);
}

/** @param {number} plan */
async function requestPlan(plan) {
  try {
    const answer = await ask(`${data.api}/simulation/plan`, { method: "POST", body: wizard.request, seconds: PLAN_SECONDS });
    if (plan !== plans) return;
    showPlan(`${answer.plan}.`);
    byId("plan-notes").replaceChildren(...answer.notes.map((/** @type {string} */ note) => element("li", {}, note)));
    enableRun(true);
  } catch (error) {
    if (plan === plans) showPlan("", messageOf(error));
  }
}

async function run() {
  enableRun(false);
  byId("run-error").textContent = "";
  try {
    const body = { kind: "simulate", settings: wizard.request };
    const answer = await ask(`${data.api}/jobs`, { method: "POST", body, seconds: PLAN_SECONDS });
    selection.setting = "";
    storeSelection();
    location.assign(`${data.here}/simulation?job=${answer.job_id}#step-5`);
  } catch (error) {
    byId("run-error").textContent = messageOf(error);
    enableRun(true);
  }
}

/** Whether a field holds a number in its range. @param {HTMLInputElement} input */
const isValid = (input) => input.value !== "" && input.checkValidity();

/** @param {HTMLInputElement} input */
function describeInvalid(input) {
  return `${input.labels?.[0].textContent}: ${input.validationMessage || "Enter a number."}`;
}

export function listenToSummary() {
  for (const name of FIELDS) {
    const input = inputById(name);
    input.addEventListener("input", () => {
      // What is typed is not what was planned: nothing can be run until it is.
      plans++;
      clearTimeout(timer);
      enableRun(false);
      showPlan("", isValid(input) ? "" : describeInvalid(input));
    });
    input.addEventListener("change", () => {
      if (!isValid(input)) {
        input.reportValidity();
        return;
      }
      selection[name] = Number(input.value);
      storeSelection();
      planRun();
    });
  }
  runButton()?.addEventListener("click", () => void run());
}
