// @ts-check
/** Documents as elements. Everything a document says becomes text, never markup. */

/**
 * @param {string} name
 * @param {Record<string, string>} [attributes]
 * @param {...(Node|string)} children
 * @returns {HTMLElement}
 */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** @param {[string, boolean][]} segments @returns {(Node|string)[]} */
function marked(segments) {
  return segments.map(([text, hit]) => (hit ? element("mark", {}, text) : text));
}

/**
 * The document of a lease as an article.
 * @param {any} data what the server sent
 * @returns {HTMLElement}
 */
export function show(data) {
  const article = element("article", { dir: "auto" });
  if (data.kind === "text") text(article, data);
  else if (data.kind === "entity") entity(article, data);
  else if (data.kind === "image") image(article, data);
  else if (data.kind === "html") html(article, data);
  else {
    article.append(
      element("h2", {}, data.title),
      element("p", { class: "soft" }, "The text of this document is not in the study. Open it where you usually read it, or say that it cannot be judged."),
    );
  }
  return article;
}

/** @param {HTMLElement} article @param {any} data */
function text(article, data) {
  if (data.title.length) article.append(element("h2", {}, ...marked(data.title)));
  data.paragraphs.forEach((/** @type {[string, boolean][]} */ one, /** @type {number} */ place) => {
    const made = element("p", { dir: "auto" }, ...marked(one));
    if (place === data.densest && data.paragraphs.length > 1) made.classList.add("densest");
    article.append(made);
  });
  if (!data.paragraphs.length) article.append(element("p", { class: "soft" }, "This document has no text."));
}

/** @param {HTMLElement} article @param {any} data */
function entity(article, data) {
  article.append(element("h2", {}, data.label), table(data.rows, `What is known of ${data.label}`, data.links));
  if (data.more) article.append(element("p", { class: "soft" }, `${data.more} more properties are not shown.`));
}

/** @param {any[]} rows @param {string} label @param {boolean} links */
function table(rows, label, links) {
  const body = element("tbody");
  for (const row of rows) {
    const list = element("ul");
    for (const value of row.values) list.append(element("li", { dir: "auto" }, ...valueOf(value, links)));
    if (row.more) list.append(element("li", { class: "soft" }, `and ${row.more} more`));
    body.append(element("tr", {}, element("th", { scope: "row" }, row.label), element("td", {}, list)));
  }
  return element("table", { class: "entity", "aria-label": label }, body);
}

/** @param {any} value @param {boolean} links whether the study lets addresses be links @returns {(Node|string)[]} */
function valueOf(value, links) {
  if (value.rows.length) return [table(value.rows, "Details", links)];
  /** @param {string} text */
  const shown = (text) => (links && value.uri ? element("a", { href: value.uri, target: "_blank", rel: "noopener noreferrer nofollow" }, text) : element("span", {}, text));
  if (value.short === value.full) return [shown(value.full)];
  const more = element("button", { type: "button", class: "plain small" }, "all");
  const span = shown(value.short);
  more.addEventListener("click", () => {
    span.textContent = value.full;
    more.remove();
  });
  return [span, " ", more];
}

/** @param {HTMLElement} article @param {any} data */
function image(article, data) {
  if (data.missing) {
    article.append(element("p", { class: "soft" }, "The image is not in the study."));
    return;
  }
  const picture = /** @type {HTMLImageElement} */ (element("img", {
    src: `/judge/images/${data.lease}`,
    alt: data.title || "The image to judge",
    tabindex: "0",
  }));
  const figure = element("figure", {}, picture);
  const zoom = () => figure.classList.toggle("zoomed");
  picture.addEventListener("click", zoom);
  picture.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === "z") zoom();
  });
  article.append(figure);
}

/** @param {HTMLElement} article @param {any} data */
function html(article, data) {
  // No token in sandbox: no scripts, no forms, no way to the page around it.
  article.append(element("iframe", { sandbox: "", title: data.title || "The document", srcdoc: data.html, referrerpolicy: "no-referrer" }));
}
