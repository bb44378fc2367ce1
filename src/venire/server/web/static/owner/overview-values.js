// @ts-check
/** Figures of the overview as text, as the server writes them. */

/** @param {number} hours */
function formatHours(hours) {
  if (hours < 1) return `${Math.round(hours * 60)} min`;
  return hours < 48 ? `${hours.toFixed(1)} h` : `${(hours / 24).toFixed(1)} days`;
}

/**
 * Return a figure as text; a dash where there is none.
 * @param {unknown} value
 * @param {string} format "number", "number1" (one decimal), "percent", "hours" or "" (as it is)
 */
export function formatValue(value, format) {
  if (value === null || value === undefined) return "–";
  const number = Number(value);
  if (format === "number") return number.toLocaleString("en");
  if (format === "number1") return number.toLocaleString("en", { minimumFractionDigits: 1, maximumFractionDigits: 1 });
  if (format === "percent") return `${Math.round(number * 100)}%`;
  if (format === "hours") return formatHours(number);
  return String(value);
}
