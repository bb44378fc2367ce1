import assert from "node:assert/strict";
import { test } from "node:test";
import { isOthersBatch } from "../../src/venire/server/web/static/judge/answers.js";
import { Offline, Refused, ask, uuid } from "../../src/venire/server/web/static/shared/api.js";
import { fail, json, serve } from "./fake-server.js";

test("an answer is JSON, a body is sent as JSON", async () => {
  const requests = serve(() => json({ a: 1 }));
  assert.deepEqual(await ask("/x", { method: "POST", body: { b: 2 } }), { a: 1 });
  assert.deepEqual(requests, [{ path: "/x", body: { b: 2 } }]);
});

test("an error has its code and its facts", async () => {
  serve(() => json({ error: "No batch 'b1'", code: "not-found", facts: { kind: "batch" } }, 404));
  const error = await ask("/x").catch((caught) => caught);
  assert.ok(error instanceof Refused);
  assert.deepEqual([error.message, error.status, error.code, error.facts], ["No batch 'b1'", 404, "not-found", { kind: "batch" }]);
});

test("no connection, a proxy's error and an answer that is no JSON are no answer", async () => {
  for (const answer of [fail, () => json({}, 502), () => new Response("<html>")]) {
    serve(answer);
    await assert.rejects(ask("/x"), Offline);
  }
});

test("an empty answer is null", async () => {
  serve(() => new Response(""));
  assert.equal(await ask("/x"), null);
});

test("that another person has signed in is told by code and facts, never by the text", () => {
  const refused = (data) => new Refused(404, { error: "No batch 'b1'", ...data });
  assert.equal(isOthersBatch(refused({ code: "not-found", facts: { kind: "batch" } })), true);
  assert.equal(isOthersBatch(refused({ code: "not-found", facts: { kind: "document" } })), false);
  assert.equal(isOthersBatch(refused({ code: "sign-in" })), false);
  assert.equal(isOthersBatch(refused({})), false);
  assert.equal(isOthersBatch(new Offline("No batch 'b1'")), false);
});

test("ids are UUIDs, also without randomUUID", () => {
  const pattern = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
  assert.match(uuid(), pattern);
  const { randomUUID } = crypto;
  Object.defineProperty(crypto, "randomUUID", { value: undefined, configurable: true });
  try {
    assert.match(uuid(), pattern);
  } finally {
    Object.defineProperty(crypto, "randomUUID", { value: randomUUID, configurable: true });
  }
});
