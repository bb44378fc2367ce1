// @ts-check
/** Settings of grouping methods: spelled out, in words, and what a value must be. */

/** @typedef {import("../types").Method} Method */

export const ONE_AT_A_TIME = "one-at-a-time";
/** Methods whose names keep their hyphen. */
const HYPHENATED = ["k-means"];

/**
 * Spell out a setting.
 * @param {Method} method
 * @param {number} value
 * @param {string} cap the maximum group size, "none" where there is none
 */
export function spellSetting({ name, parameter }, value, cap) {
  return `${name}(${parameter}=${value}${cap === "none" ? "" : `,cap=${cap}`})`;
}

/**
 * Return a setting in words, as the server does: "average linkage at 0.2, groups of at most 16".
 * @param {string} setting
 */
export function describeSetting(setting) {
  const [, method, value, cap] = /^([\w-]+)(?:\(\w+=([^,)]*)(?:,cap=(\d+))?\))?$/.exec(setting) ?? ["", setting];
  const name = HYPHENATED.includes(method) ? method : method.replaceAll("-", " ");
  return `${name}${value ? ` at ${value}` : ""}${cap ? `, groups of at most ${cap}` : ""}`;
}

/** Whether a method takes a value. @param {Method} method @param {number} value */
export function isAllowed({ limits: [least, most], whole }, value) {
  if (Number.isNaN(value) || (whole && !Number.isInteger(value))) return false;
  return (least === null || value >= least) && (most === null || value <= most);
}

/** Return what a value must be, in words. @param {Method} method */
export function describeRange({ limits: [least, most], whole }) {
  const noun = whole ? "a whole number" : "a number";
  if (least !== null && most !== null) return `${noun} between ${least} and ${most}`;
  if (least !== null) return `${noun} >= ${least}`;
  return most !== null ? `${noun} <= ${most}` : noun;
}
