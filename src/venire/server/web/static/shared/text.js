// @ts-check
/** Numbers and messages as text. */

/**
 * Return a count with its noun.
 * @param {number} count
 * @param {string} noun
 * @param {string} [plural]
 */
export const countNoun = (count, noun, plural = `${noun}s`) => `${formatNumber(count)} ${count === 1 ? noun : plural}`;

/** @param {number} value */
export const formatNumber = (value) => value.toLocaleString("en");

/** Return the message of whatever was thrown. @param {unknown} error */
export const messageOf = (error) => (error instanceof Error ? error.message : String(error));

/** Return a length of time in its largest fitting unit. @param {number} minutes */
export function formatMinutes(minutes) {
  if (minutes < 120) return countNoun(minutes, "minute");
  return minutes < 2880 ? countNoun(Math.floor(minutes / 60), "hour") : countNoun(Math.floor(minutes / 1440), "day");
}
