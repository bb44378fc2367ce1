// @ts-check
/**
 * What a group of similar documents looks like: a strip (the best-ranked one large, seven small),
 * opened a grid in which single documents are marked, and at the end of the batch a review.
 */
import { actionButton, byId, element } from "../shared/elements.js";

/** @typedef {import("../types").Item} Item */
/** @typedef {import("../types").Member} Member */
/** @typedef {import("../types").Grade} Grade */
/** @typedef {(lease: string) => Promise<import("../types").DocumentData>} Fetch */

const FINAL = "After you submit, you cannot change your answers.";
/** How many small documents a strip shows beside the large one. */
const SMALL = 7;

/** Return the noun for documents of a group. @param {Item[]} items */
const nounOf = (items) => (items.every((item) => item.kind === "image") ? "images" : "documents");

/** Return a document as a small picture or its first words. @param {Item} item @param {Fetch} fetch @param {boolean} [large] */
function tile(item, fetch, large = false) {
  const box = element("span", { class: large ? "tile large" : "tile" });
  if (item.kind === "image") {
    const src = `/judge/images/${item.lease}${large ? "" : "?size=small"}`;
    box.append(element("img", { src, alt: "", loading: "lazy" }));
    return box;
  }
  void fetch(item.lease).then((data) => box.append(...tileText(data, large)), () => box.append("…"));
  return box;
}

/** @param {import("../types").Segment[]|undefined} segments */
const plainText = (segments) => (segments ?? []).map(([text]) => text).join("");

/** @param {import("../types").DocumentData} data @param {boolean} large @returns {Node[]} */
function tileText(data, large) {
  const title = data.kind === "text" ? plainText(data.title) : data.kind === "entity" ? data.label : data.title;
  const first = data.kind === "text" ? plainText(data.paragraphs[0]).slice(0, large ? 600 : 160) : "";
  return [element("strong", { dir: "auto" }, title), element("span", { class: "small", dir: "auto" }, first)];
}

/** Put content into the place of the document. @param {HTMLElement} place @param {string} lease @param {...(Node|string)} children */
function fill(place, lease, ...children) {
  place.replaceChildren(element("div", { class: "group" }, ...children));
  place.dataset.lease = lease;
  place.focus({ preventScroll: true });
}

/** @param {string} key @param {string} text @param {() => void} action */
const keyButton = (key, text, action) => actionButton({ "aria-keyshortcuts": key }, action, element("kbd", {}, key), ` ${text}`);

/**
 * Show a group as a strip.
 * @param {HTMLElement} place
 * @param {Member[]} members
 * @param {{fetch: Fetch, marked: number, open: () => void}} options `marked` counts the marked documents
 */
export function showStrip(place, members, { fetch, marked, open }) {
  const items = members.map(({ item }) => item);
  const strip = element("div", { class: "strip" });
  items.slice(0, SMALL + 1).forEach((item, index) => strip.append(tile(item, fetch, index === 0)));
  const hidden = items.length - SMALL - 1;
  if (hidden > 0) strip.append(element("span", { class: "soft" }, `and ${hidden} more`));
  const scope = marked
    ? `${marked} marked as different. The grade below applies to all others.`
    : "The grade below applies to all of them.";
  fill(
    place, items[0]?.lease ?? "",
    element("h2", {}, `${items.length} similar ${nounOf(items)} `, keyButton("o", "Open", open)),
    element("p", { class: "soft" }, scope),
    strip,
  );
}

/**
 * Show all documents of a group in a grid.
 * @param {HTMLElement} place
 * @param {Member[]} members
 * @param {{fetch: Fetch, gradeOf: (item: Item) => Grade|undefined, isMarked: (item: Item) => boolean,
 *   mark: (index: number, range: boolean) => void, close: () => void, split: () => void}} options
 */
export function showGrid(place, members, options) {
  const items = members.map(({ item }) => item);
  const noun = nounOf(items);
  const grid = element("div", { class: "grid", role: "group", "aria-label": `All ${noun} of this group` });
  items.forEach((item, index) => {
    const button = element("button", { type: "button", class: "pick" }, tile(item, options.fetch));
    button.addEventListener("click", (event) => options.mark(index, event.shiftKey));
    grid.append(button);
  });
  const hint = "Click, or press Space, to mark one as different: with the highest grade, then the next lower one. "
    + "Shift-click marks a range. The grade below applies to everything that is not marked.";
  const buttons = [keyButton("o", "Close", options.close), " ", keyButton("x", "Split off marked", options.split)];
  const heading = element("h2", {}, `All ${items.length} ${noun} of this group `, ...buttons);
  fill(place, items[0]?.lease ?? "", heading, element("p", { class: "soft" }, hint), grid);
  updateGrid(place, members, options);
}

/**
 * Show the marks of a grid anew.
 * @param {HTMLElement} place
 * @param {Member[]} members
 * @param {{gradeOf: (item: Item) => Grade|undefined, isMarked: (item: Item) => boolean}} options
 */
export function updateGrid(place, members, { gradeOf, isMarked }) {
  const buttons = place.querySelectorAll(".pick");
  members.forEach(({ item }, index) => {
    const button = buttons[index];
    const grade = gradeOf(item);
    button.querySelector(".own")?.remove();
    button.classList.toggle("marked", isMarked(item));
    button.setAttribute("aria-pressed", String(isMarked(item)));
    button.setAttribute("aria-label", `${index + 1} of ${members.length}${grade ? `: ${grade.name}` : ""}`);
    if (grade) button.append(element("span", { class: "own badge" }, grade.name));
  });
}

/**
 * Show all judged documents by grade, before the batch is submitted.
 * @param {HTMLElement} place
 * @param {{grade: Grade, items: Item[]}[]} rows
 * @param {{fetch: Fetch, submit: () => void, change: (item: Item) => void, changed?: string}} options `changed` is the lease of the last change
 */
export function showReview(place, rows, { fetch, submit, change, changed }) {
  const button = actionButton({ class: "primary", id: "finish" }, submit, "Submit ", element("kbd", {}, "Enter"));
  const noun = nounOf(rows.flatMap(({ items }) => items));
  const page = element(
    "div", { class: "group review" },
    element("h2", {}, "Review"),
    element("p", { class: "soft" }, `All ${noun} by grade. Click one to give it the next grade; press u to undo. `, FINAL),
    element("p", {}, button),
  );
  for (const { grade, items } of rows) {
    const grid = element("div", { class: "grid" });
    for (const item of items) {
      const label = `${grade.name}; click for the next grade`;
      const pick = actionButton({ class: item.lease === changed ? "pick marked" : "pick", "aria-label": label }, () => change(item), tile(item, fetch));
      grid.append(pick);
    }
    page.append(element("h3", {}, `${grade.name} (${items.length})`), grid);
  }
  const top = place.scrollTop;
  place.replaceChildren(page);
  place.scrollTop = top;
  place.dataset.lease = "";
  byId("grades").replaceChildren();
  const marked = /** @type {HTMLElement|null} */ (page.querySelector(".marked"));
  if (marked) {
    marked.focus({ preventScroll: true });
    marked.scrollIntoView({ block: "nearest" });
  } else if (!top) button.focus();
}

/** Move the focus in a grid by an arrow key. @param {HTMLElement} place @param {string} key @returns {boolean} whether it was one */
export function moveInGrid(place, key) {
  const buttons = /** @type {HTMLElement[]} */ ([...place.querySelectorAll(".pick")]);
  const current = buttons.indexOf(/** @type {HTMLElement} */ (document.activeElement));
  const top = buttons[0]?.offsetTop;
  const across = buttons.filter((button) => button.offsetTop === top).length || 1;
  const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -across, ArrowDown: across }[key];
  if (step === undefined) return false;
  const next = current < 0 ? 0 : current + step;
  buttons[Math.min(Math.max(next, 0), buttons.length - 1)]?.focus();
  return true;
}
