import assert from "node:assert/strict";
import { test } from "node:test";
import { Clock } from "../../src/venire/server/web/static/judge/clock.js";

/** Return a clock and the function that lets time pass, in seconds. */
function makeClock() {
  let now = 0;
  const clock = new Clock(() => now);
  return { clock, wait: (seconds) => (now += seconds * 1000) };
}

test("time while the page is used is active", () => {
  const { clock, wait } = makeClock();
  wait(10);
  clock.touch();
  wait(20);
  assert.deepEqual(clock.read(), { active_ms: 30_000, idle_ms: 0 });
});

test("after 30 seconds without a sign of use, time is idle", () => {
  const { clock, wait } = makeClock();
  wait(45);
  assert.deepEqual(clock.read(), { active_ms: 30_000, idle_ms: 15_000 });
  clock.touch();
  wait(5);
  assert.deepEqual(clock.read(), { active_ms: 35_000, idle_ms: 15_000 });
});

test("time while the page is hidden is idle", () => {
  const { clock, wait } = makeClock();
  wait(5);
  clock.setVisible(false);
  wait(8);
  clock.setVisible(true);
  wait(2);
  assert.deepEqual(clock.read(), { active_ms: 7_000, idle_ms: 8_000 });
});

test("another document starts from 0", () => {
  const { clock, wait } = makeClock();
  wait(50);
  clock.count();
  clock.restart();
  wait(1);
  assert.deepEqual(clock.read(), { active_ms: 1_000, idle_ms: 0 });
});

test("reading twice counts once", () => {
  const { clock, wait } = makeClock();
  wait(3);
  clock.read();
  assert.deepEqual(clock.read(), { active_ms: 3_000, idle_ms: 0 });
});
