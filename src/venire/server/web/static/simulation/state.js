// @ts-check
/**
 * The wizard of this page. What was selected is stored in this window by study, so that going back,
 * another tab of the study, or a reload loses nothing.
 */
import { Wizard, emptySelection } from "./wizard.js";

/** @type {import("../types").SimulationData} */
const data = JSON.parse(document.getElementById("simulation-data")?.textContent ?? "{}");
const KEY = `simulation ${data.study}`;

/** @returns {import("../types").Selection} */
function readSelection() {
  try {
    return { ...emptySelection(), ...JSON.parse(sessionStorage.getItem(KEY) ?? "{}") };
  } catch {
    return emptySelection();
  }
}

export const wizard = new Wizard(data, readSelection());

/** Store the selection, and tell the page. */
export function storeSelection() {
  sessionStorage.setItem(KEY, JSON.stringify(wizard.selection));
  document.dispatchEvent(new CustomEvent("selected"));
}
