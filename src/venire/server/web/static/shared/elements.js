// @ts-check
/** Make and find elements. Text given as a child becomes text, never markup. */

/**
 * @param {string} name
 * @param {Record<string, string>} [attributes]
 * @param {...(Node|string)} children
 * @returns {HTMLElement}
 */
export function element(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

/** Return the element that the page has under this id. @param {string} id @returns {HTMLElement} */
export const byId = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** @param {string} id @returns {HTMLInputElement} */
export const inputById = (id) => /** @type {HTMLInputElement} */ (document.getElementById(id));

/** @param {string} id @returns {HTMLDialogElement} */
export const dialogById = (id) => /** @type {HTMLDialogElement} */ (document.getElementById(id));

/**
 * Return all elements of a selector.
 * @param {string} selector
 * @param {ParentNode} [root]
 * @returns {HTMLElement[]}
 */
export const findAll = (selector, root = document) => [...root.querySelectorAll(selector)].map((node) => /** @type {HTMLElement} */ (node));

/**
 * Make a button that calls a function.
 * @param {Record<string, string>} attributes
 * @param {() => void} action
 * @param {...(Node|string)} children
 * @returns {HTMLButtonElement}
 */
export function actionButton(attributes, action, ...children) {
  const button = element("button", { type: "button", ...attributes }, ...children);
  button.addEventListener("click", action);
  return /** @type {HTMLButtonElement} */ (button);
}
