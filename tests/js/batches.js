/** Batches, outboxes' stores and answers for the tests. */

export const GRADES = [
  { value: 0, name: "Not relevant", definition: "", key: "0" },
  { value: 1, name: "Relevant", definition: "", key: "1" },
  { value: 2, name: "Highly relevant", definition: "", key: "2" },
];

/** Return unjudged documents, one per group number; null is a document by itself. */
export const makeItems = (groups) =>
  groups.map((group, place) => ({ lease: `l${place}`, group, kind: "text", topic: 0, state: "live", label: null, reason: null }));

/** Return a batch with documents in these groups. */
export const makeBatch = (groups = [null, null, null, null], values = {}) => ({
  batch: "b1",
  kind: "work",
  state: "open",
  minutes: 60,
  grouped: groups.some((group) => group !== null),
  relevant_from: 1,
  study: "Study",
  instructions: "",
  grades: GRADES,
  reasons: ["broken"],
  topics: [{ title: "wind", description: "", narrative: "" }],
  items: makeItems(groups),
  ...values,
});

/** Return the states of documents, in order. */
export const statesOf = ({ items }) => items.map((item) => (item.state === "judged" ? item.label : item.state));

/** Return the groups of documents, in order. */
export const groupsOf = ({ items }) => items.map((item) => item.group);
