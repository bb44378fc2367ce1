// @ts-check
/** Pure functions on the documents of a batch. Events are folded over them: they are changed in place. */

/** @typedef {import("../types").Item} Item */
/** @typedef {import("../types").NewEvent} NewEvent */
/** @typedef {import("../types").Member} Member */

/** States in which nothing is left to do for a document. */
const DONE = ["judged", "cannot", "skipped", "expired", "returned"];
/** States that the annotator gave, and can take back. */
const ANSWERED = ["judged", "cannot", "skipped"];

/** Return the leases that an event is about. @param {NewEvent} event @returns {string[]} */
export const leasesOf = (event) => event.leases ?? (event.lease === undefined ? [] : [event.lease]);

/** Apply an event to the documents it is about. @param {Item[]} items @param {NewEvent} event */
export function applyEvent(items, event) {
  const leases = leasesOf(event);
  if (event.kind === "split") return splitOff(items, leases);
  for (const item of items) if (leases.includes(item.lease)) changeItem(item, event);
}

/** @param {Item} item @param {NewEvent} event */
function changeItem(item, event) {
  if (event.kind === "label" || event.kind === "group") {
    Object.assign(item, { state: "judged", label: event.label ?? null, reason: null });
  } else if (event.kind === "cannot") Object.assign(item, { state: "cannot", label: null, reason: event.reason ?? null });
  else if (event.kind === "skip") Object.assign(item, { state: "skipped", label: null, reason: null });
  else if (event.kind === "undo") Object.assign(item, { state: "live", label: null, reason: null });
}

/** Make a new group of some documents; a single document belongs to no group. @param {Item[]} items @param {string[]} leases */
function splitOff(items, leases) {
  const highest = Math.max(...items.map((item) => item.group ?? -1));
  const group = leases.length > 1 ? highest + 1 : null;
  for (const item of items) if (leases.includes(item.lease)) item.group = group;
}

/** Return the index of the first unjudged document, or the number of documents. @param {Item[]} items */
export function findOpen(items) {
  const place = items.findIndex((item) => item.state === "live");
  return place < 0 ? items.length : place;
}

/** Return the index of the next unjudged document after a place, else of the first one. @param {Item[]} items @param {number} place */
export function findOpenAfter(items, place) {
  const next = items.findIndex((item, index) => index > place && item.state === "live");
  return next < 0 ? findOpen(items) : next;
}

/**
 * Return the indexes of what was answered last before a place, as far as the order of the batch
 * tells: after a reload there is no history.
 * @param {Item[]} items
 * @param {number} place
 * @returns {number[]}
 */
export function findLastAnswered(items, place) {
  let last = place - 1;
  while (last >= 0 && !ANSWERED.includes(items[last].state)) last--;
  if (last < 0) return [];
  const { group } = items[last];
  if (group === null) return [last];
  return listMembers(items, group).filter(({ item }) => item.state === "judged").map((member) => member.place);
}

/** Return the documents of a group with their indexes. @param {Item[]} items @param {number} group @returns {Member[]} */
export function listMembers(items, group) {
  return items.flatMap((item, place) => (item.group === group ? [{ item, place }] : []));
}

/** @param {Item[]} items */
export const countDone = (items) => items.filter((item) => DONE.includes(item.state)).length;

/** @param {Item[]} items */
export const countJudged = (items) => items.filter((item) => item.state === "judged").length;

/** Return the judged documents of each grade, the highest grade first; grades without any are left out.
 * @param {import("../types").Batch} batch
 * @returns {{grade: import("../types").Grade, items: Item[]}[]}
 */
export function listByGrade({ grades, items }) {
  return [...grades]
    .reverse()
    .map((grade) => ({ grade, items: items.filter((item) => item.state === "judged" && item.label === grade.value) }))
    .filter((row) => row.items.length);
}
