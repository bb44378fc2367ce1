// @ts-check
/** Documents as elements. Everything that a document says becomes text, never markup. */
import { actionButton, element } from "./elements.js";

/** @typedef {import("../types").Segment} Segment */

const MISSING_TEXT = "The text of this document is not stored on this server. Open it where you usually read it, or choose “Cannot judge”.";

/** @param {Segment[]} segments @returns {(Node|string)[]} */
function markTerms(segments) {
  return segments.map(([text, isTerm]) => (isTerm ? element("mark", {}, text) : text));
}

/**
 * Return a document as an article.
 * @param {import("../types").DocumentData} data
 * @returns {HTMLElement}
 */
export function showDocument(data) {
  const article = element("article", { dir: "auto" });
  if (data.kind === "text") addText(article, data);
  else if (data.kind === "entity") addEntity(article, data);
  else if (data.kind === "image") addImage(article, data);
  else if (data.kind === "html") addPage(article, data);
  else article.append(element("h2", {}, data.title), element("p", { class: "soft" }, MISSING_TEXT));
  return article;
}

/** @param {HTMLElement} article @param {import("../types").TextDocument} data */
function addText(article, data) {
  if (data.title.length) article.append(element("h2", {}, ...markTerms(data.title)));
  data.paragraphs.forEach((segments, place) => {
    const paragraph = element("p", { dir: "auto" }, ...markTerms(segments));
    if (place === data.densest && data.paragraphs.length > 1) paragraph.classList.add("densest");
    article.append(paragraph);
  });
  if (!data.paragraphs.length) article.append(element("p", { class: "soft" }, "This document has no text."));
}

/** @param {HTMLElement} article @param {import("../types").EntityDocument} data */
function addEntity(article, data) {
  article.append(element("h2", {}, data.label), propertyTable(data.rows, `Properties of ${data.label}`, data.links));
  if (data.omitted) article.append(element("p", { class: "soft" }, `${data.omitted} more properties are not shown.`));
}

/** @param {import("../types").EntityRow[]} rows @param {string} label @param {boolean} links @returns {HTMLElement} */
function propertyTable(rows, label, links) {
  const body = element("tbody");
  for (const row of rows) {
    const list = element("ul");
    for (const value of row.values) list.append(element("li", { dir: "auto" }, ...showValue(value, links)));
    if (row.omitted) list.append(element("li", { class: "soft" }, `and ${row.omitted} more`));
    body.append(element("tr", {}, element("th", { scope: "row" }, row.label), element("td", {}, list)));
  }
  return element("table", { class: "entity", "aria-label": label }, body);
}

/** @param {import("../types").EntityValue} value @param {boolean} links whether the study shows URLs as links @returns {(Node|string)[]} */
function showValue(value, links) {
  if (value.rows.length) return [propertyTable(value.rows, "Details", links)];
  const { uri } = value;
  const attributes = { target: "_blank", rel: "noopener noreferrer nofollow" };
  const node = links && uri ? element("a", { href: uri, ...attributes }, value.short) : element("span", {}, value.short);
  if (value.short === value.full) return [node];
  const button = actionButton({ class: "plain small" }, () => {
    node.textContent = value.full;
    button.remove();
  }, "Show all");
  return [node, " ", button];
}

/** @param {HTMLElement} article @param {import("../types").ImageDocument & {lease?: string}} data */
function addImage(article, data) {
  if (data.missing) {
    article.append(element("p", { class: "soft" }, "The image is not stored on this server."));
    return;
  }
  const image = element("img", { src: `/judge/images/${data.lease}`, alt: data.title || "The image to judge", tabindex: "0" });
  const figure = element("figure", {}, image);
  const zoom = () => figure.classList.toggle("zoomed");
  image.addEventListener("click", zoom);
  image.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === "z") zoom();
  });
  article.append(figure);
}

/** @param {HTMLElement} article @param {import("../types").HtmlDocument} data */
function addPage(article, data) {
  // No token in sandbox: no scripts, no forms, no access to the page around it.
  const title = data.title || "The document";
  article.append(element("iframe", { sandbox: "", title, srcdoc: data.html, referrerpolicy: "no-referrer" }));
}
