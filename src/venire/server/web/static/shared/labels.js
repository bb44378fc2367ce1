// @ts-check
/** Labels of states, from the table that the page brings along (templates/labels.html). */

/** @returns {import("../types").Labels} */
const read = () => JSON.parse(document.getElementById("labels")?.textContent ?? "{}");

/**
 * Return the label of a state; a state without one stays as it is.
 * @param {string} kind what has the state: "job", "campaign", "batch" ...
 * @param {string} state
 */
export const labelOf = (kind, state) => read()[kind]?.[state] ?? state;
