// @ts-check
/** What stands in a form, as JSON: fields become values by name and type. */

/**
 * A field as this module reads it: an input, select or textarea.
 * @typedef {{name: string, type: string, value: string, checked?: boolean, dataset: DOMStringMap, selectedOptions?: ArrayLike<{value: string}>}} FormField
 */
/** @typedef {Record<string, unknown>} Values */

/** Return the value of a field; undefined where it has none to send. @param {FormField} field @returns {unknown} */
export function readField(field) {
  const { type, value, dataset } = field;
  if (type === "radio" && !field.checked) return undefined;
  if (type === "checkbox") return field.checked;
  if (type === "number" || dataset.type === "number") return value === "" ? null : Number(value);
  if (dataset.type === "numbers") return splitNumbers(value);
  if (dataset.type === "lines") return value.split("\n").map((line) => line.trim()).filter(Boolean);
  if (type !== "select-multiple") return value;
  const values = Array.from(field.selectedOptions ?? [], (option) => option.value);
  if (values.length || dataset.none === undefined) return values;
  return dataset.none === "all" ? undefined : null;
}

/** Return the numbers of a list; what is not a number stays as it is, for the server to refuse. @param {string} text */
export function splitNumbers(text) {
  const parts = text.split(/[\s,;]+/).filter(Boolean);
  return parts.map((part) => (Number.isNaN(Number(part)) ? part : Number(part)));
}

/** Put a value at a path of names. @param {Values} values @param {string[]} path @param {unknown} value */
export function setPath(values, path, value) {
  const [name, ...rest] = path;
  if (!rest.length) values[name] = value;
  else setPath(/** @type {Values} */ (values[name] ??= {}), rest, value);
}

/** Return the values of fields; names with dots make objects. @param {Iterable<FormField>} fields @returns {Values} */
export function readFields(fields) {
  /** @type {Values} */
  const values = {};
  for (const field of fields) {
    const value = readField(field);
    if (field.dataset.list !== undefined) {
      const list = /** @type {unknown[]} */ (values[field.name] ??= []);
      if (field.type !== "checkbox") list.push(value);
      else if (field.checked) list.push(field.value);
    } else if (value !== undefined) setPath(values, field.name.split("."), value);
  }
  return values;
}

/** Return the values of a form; tables marked with data-rows become lists of objects. @param {HTMLFormElement} form @returns {Values} */
export function readForm(form) {
  const fields = /** @type {HTMLInputElement[]} */ (Array.from(form.elements));
  const values = readFields(fields.filter((field) => field.name && !field.matches(":disabled")));
  for (const table of /** @type {NodeListOf<HTMLElement>} */ (form.querySelectorAll("[data-rows]"))) {
    const rows = Array.from(table.querySelectorAll("[data-row]"), readRow);
    setPath(values, table.dataset.rows?.split(".") ?? [], rows);
  }
  return values;
}

/** @param {Element} row @returns {Values} */
function readRow(row) {
  const cells = /** @type {HTMLInputElement[]} */ ([...row.querySelectorAll("[data-cell]")]);
  return Object.fromEntries(cells.map((cell) => [cell.dataset.cell ?? "", cell.type === "number" ? Number(cell.value) : cell.value]));
}
