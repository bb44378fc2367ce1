// @ts-check
/** The simulation wizard: which step is shown, and what stands under the name of each step. */
import { byId, element, findAll, inputById } from "../shared/elements.js";
import { labelOf } from "../shared/labels.js";
import { countNoun } from "../shared/text.js";
import { listenToLabels, readLabels } from "./labels-step.js";
import { showMethods, showSettingCount } from "./method-choices.js";
import { drawResults, listenToResults, showComparison } from "./results.js";
import { storeSelection, wizard } from "./state.js";
import { listenToSummary, showSummary } from "./summary-step.js";
import { addType, showTypeCards } from "./type-cards.js";

const { data, selection } = wizard;
/** Steps that need what the labels contain, and wait until it is read. */
const NEED_LABELS = [2, 3, 4];
const RESULTS = 5;
/** Whether the labels are read. */
let isReady = false;
/** Whether the heading gets the focus once a step that waits is shown. */
let focusLater = false;

/* ---- steps ---- */

function currentStep() {
  const number = Number(/^#step-([1-6])$/.exec(location.hash)?.[1]);
  if (number) return number;
  // A simulation that runs or has just been requested is what people come to see.
  return data.job && new URLSearchParams(location.search).has("job") ? RESULTS : 1;
}

/** @param {boolean} [moved] whether another step than before is shown */
function showStep(moved = false) {
  const current = currentStep();
  const waits = !isReady && NEED_LABELS.includes(current);
  for (const section of findAll("[data-step]")) section.hidden = waits || section.dataset.step !== String(current);
  byId("reading").hidden = !waits;
  for (const link of findAll("[data-go]")) {
    if (link.dataset.go === String(current)) link.setAttribute("aria-current", "step");
    else link.removeAttribute("aria-current");
  }
  focusLater = waits && (moved || focusLater);
  if (waits) return;
  fillStep(current);
  if (moved) {
    byId(`title-${current}`).focus({ preventScroll: true });
    window.scrollTo({ top: 0 });
  }
}

/** @param {number} step */
function fillStep(step) {
  if (step === 2) showTypeCards();
  if (step === 3) showMethods();
  if (step === 4) showSummary();
  if (step === RESULTS) {
    drawResults(compare);
    showStale();
  }
  if (step === 6) showComparison(selection.setting || data.found?.setting);
}

/** Say where results are of other labels or vectors than those selected now. */
function showStale() {
  const { found: results } = data;
  const line = document.getElementById("stale");
  if (!line || !results) return;
  line.hidden = !selection.truth || (results.truth === selection.truth && results.encoder === selection.encoder);
  line.textContent = `These results are for ${results.labels} and ${results.encoder}. Step 1 now has another selection.`;
}

/** @param {string} setting */
function compare(setting) {
  selection.setting = setting;
  storeSelection();
  location.hash = "#step-6";
}

/** Show what is selected under the name of each step. */
function showSelected() {
  const { found: results, job } = data;
  const state = job && job.state !== "done" ? labelOf("job", job.state) : "";
  const texts = [
    [wizard.truth?.words, selection.encoder].filter(Boolean).join(" · "),
    wizard.listSelectedTypes().map((type) => wizard.nameOf(type)).join(", ") || "none selected",
    countNoun(wizard.listSettings().length, "setting"),
    wizard.start.queries ? `${countNoun(wizard.queries, "query", "queries")}, ${countNoun(selection.repetitions, "repetition")}` : "",
    results ? `★ ${results.words[results.setting]}` : state,
    results?.words[selection.setting] ?? "",
  ];
  texts.forEach((text, place) => {
    const line = document.querySelector(`[data-chosen="${place + 1}"]`);
    if (line) line.textContent = text;
  });
  if (currentStep() === 3) showSettingCount();
}

/** Read the selected labels, and show the step that waits for them. */
async function begin() {
  isReady = !selection.truth;
  if (!(await readLabels())) return;
  isReady = true;
  showSelected();
  showStep(focusLater);
}

/* ---- all together ---- */

document.addEventListener("sent", (event) => {
  // Vectors that were just uploaded are what people want to try.
  const { kind, name } = /** @type {CustomEvent} */ (event).detail ?? {};
  if (kind !== "vectors") return;
  selection.encoder = name;
  storeSelection();
});
byId("add-type").addEventListener("click", addType);
inputById("setting")?.addEventListener("change", () => showComparison(inputById("setting").value));
document.addEventListener("selected", showSelected);
window.addEventListener("hashchange", () => showStep(true));
wizard.selectDefaults();
listenToLabels(() => void begin());
listenToSummary();
listenToResults(compare);
showStep();
void begin();
