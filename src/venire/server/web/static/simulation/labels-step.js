// @ts-check
/** Step 1: labels to compare with, and the encoder. */
import { ask } from "../shared/api.js";
import { byId } from "../shared/elements.js";
import { countNoun, formatNumber, messageOf } from "../shared/text.js";
import { storeSelection, wizard } from "./state.js";
import { EMPTY_START } from "./wizard.js";

const { data, selection } = wizard;
/** Counts requests: only the answer to the last one is shown. */
let requests = 0;

/** Follow the choices of step 1. @param {() => void} changed */
export function listenToLabels(changed) {
  const boxes = /** @type {HTMLInputElement[]} */ ([...document.querySelectorAll("input[name=truth]")]);
  for (const box of boxes) {
    box.checked = box.value === selection.truth;
    box.addEventListener("change", () => {
      selection.truth = box.value;
      storeSelection();
      changed();
    });
  }
  const select = /** @type {HTMLSelectElement|null} */ (byId("encoder"));
  if (!select) return;
  select.value = selection.encoder;
  select.addEventListener("change", () => {
    selection.encoder = select.value;
    storeSelection();
    changed();
  });
}

/** Ask what the selected labels and vectors give. @returns {Promise<boolean>} whether no other request came after this one */
export async function readLabels() {
  const request = ++requests;
  const { truth, encoder } = selection;
  wizard.start = EMPTY_START;
  if (!truth) return true;
  byId("truth-facts").textContent = "…";
  let text = "";
  try {
    const start = await ask(`${data.api}/simulation?${new URLSearchParams({ truth, encoder })}`);
    if (request !== requests) return false;
    wizard.start = start;
    text = describeStart(start);
  } catch (error) {
    text = messageOf(error);
  }
  if (request !== requests) return false;
  byId("truth-facts").textContent = text;
  return true;
}

/** @param {import("../types").Start} start */
function describeStart({ queries, labels, relevant, pilots, notes }) {
  const counts = `${countNoun(queries, "query", "queries")} of the pool with ${countNoun(labels, "label")}`;
  const relevance = `${formatNumber(relevant)} of them relevant.`;
  const verb = pilots.length === 1 ? "is" : "are";
  const measured = pilots.length ? [`${countNoun(pilots.length, "annotator")} ${verb} measured against them.`] : [];
  return [`${counts}, ${relevance}`, ...measured, ...notes].join(" ");
}
