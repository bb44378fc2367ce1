import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { EventStore } from "../../src/venire/server/web/static/judge/event-store.js";
import { Outbox, sendLeftEvents } from "../../src/venire/server/web/static/judge/outbox.js";
import { BrokenStore, MemoryStore, fail, json, refuseAll, saveAll, serve, stored } from "./fake-server.js";

/** Return an outbox, and what it reports: [unsent, state] and answers. */
async function makeOutbox(store = null) {
  const states = [];
  const answers = [];
  const outbox = new Outbox("ann", "b1", {
    changed: (unsent, state) => states.push([unsent, state]),
    answered: (event, answer) => answers.push([event.kind, answer.status]),
  });
  const left = await outbox.start(store);
  return { outbox, states, answers, left };
}

/** Wait until promises that are due are done. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

test("node has no IndexedDB, as some private windows: there is no store", async () => {
  assert.equal(await EventStore.open(), null);
});

test("without a store an event is sent from memory", async () => {
  const requests = serve(saveAll);
  const { outbox, states, answers } = await makeOutbox(undefined);
  await outbox.add({ kind: "label", lease: "l0", label: 1 });
  await settle();
  assert.equal(requests[0].path, "/judge/batches/b1/events");
  assert.deepEqual(requests[0].body.events.map(({ kind, lease, label }) => [kind, lease, label]), [["label", "l0", 1]]);
  assert.match(requests[0].body.events[0].id, /^[0-9a-f-]{36}$/);
  assert.deepEqual([states, answers], [[[1, "sending"], [0, "saved"]], [["label", "saved"]]]);
});

test("an event is stored until the server has answered", async () => {
  serve(fail, saveAll);
  const store = new MemoryStore();
  const { outbox, states } = await makeOutbox(store);
  await outbox.add({ kind: "label", lease: "l0", label: 1 });
  await settle();
  assert.deepEqual([store.entries.length, states.at(-1)], [1, [1, "offline"]]);
  await outbox.resume();
  assert.deepEqual([store.entries.length, states.at(-1)], [0, [0, "saved"]]);
});

test("what an earlier page left is sent first, in order", async () => {
  const requests = serve(saveAll);
  const others = [stored("x", { user: "bob" }), stored("y", { batch: "b2" })];
  const { outbox, left } = await makeOutbox(new MemoryStore(stored("a"), ...others, stored("b")));
  assert.deepEqual(left.map(({ id }) => id), ["a", "b"]);
  await outbox.add({ kind: "label", lease: "c", label: 1 });
  await settle();
  assert.deepEqual(requests[0].body.events.map(({ lease }) => lease), ["a", "b", "c"]);
});

test("more than 100 events go in several requests", async () => {
  const requests = serve(saveAll);
  const entries = Array.from({ length: 150 }, (_, place) => stored(`e${place}`));
  const { outbox } = await makeOutbox(new MemoryStore(...entries));
  await outbox.flush();
  await settle();
  await settle();
  assert.deepEqual(requests.map(({ body }) => body.events.length), [100, 50]);
  assert.equal(outbox.unsent, 0);
});

test("without a connection it tries again, later each time", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  try {
    const requests = serve(fail);
    const { outbox } = await makeOutbox();
    await outbox.add({ kind: "label", lease: "l0", label: 1 });
    await settle();
    mock.timers.tick(1000);
    await settle();
    mock.timers.tick(1000);
    await settle();
    assert.equal(requests.length, 2);
    mock.timers.tick(1000);
    await settle();
    assert.equal(requests.length, 3);
    assert.equal(outbox.wait, 8000);
  } finally {
    mock.timers.reset();
  }
});

for (const status of [401, 403, 404]) {
  test(`after status ${status} it waits for a sign-in, and keeps everything`, async () => {
    const requests = serve(() => json({ error: "sign in", code: "sign-in" }, status), saveAll);
    const { outbox, states } = await makeOutbox();
    await outbox.add({ kind: "label", lease: "l0", label: 1 });
    await settle();
    await outbox.add({ kind: "label", lease: "l1", label: 1 });
    await settle();
    assert.equal(requests.length, 1);
    assert.deepEqual(states.find(([, state]) => state === "signed-out"), [1, "signed-out"]);
    await outbox.resume();
    assert.deepEqual(requests[1].body.events.map(({ lease }) => lease), ["l0", "l1"]);
  });
}

test("another error is reported, and the event is kept", async () => {
  serve(() => json({ error: "malformed", code: "malformed" }, 422));
  const { outbox, states } = await makeOutbox();
  await outbox.add({ kind: "label", lease: "l0", label: 1 });
  await settle();
  clearTimeout(outbox.timer);
  assert.deepEqual([states.at(-1), outbox.unsent], [[1, "failed"], 1]);
});

test("a refused event is answered and not sent again", async () => {
  serve(refuseAll);
  const { outbox, answers } = await makeOutbox();
  await outbox.add({ kind: "label", lease: "l0", label: 1 });
  await settle();
  assert.deepEqual([answers, outbox.unsent], [[["label", "refused"]], 0]);
});

test("a store that fails gives way to memory", async () => {
  serve(saveAll);
  const { outbox, left } = await makeOutbox(new BrokenStore());
  assert.deepEqual([left, outbox.store], [[], null]);
  await outbox.add({ kind: "label", lease: "l0", label: 1 });
  await settle();
  assert.equal(outbox.unsent, 0);
});

test("events left from any batch are sent, each to its own, and only one's own", async () => {
  const requests = serve(saveAll);
  const store = new MemoryStore(stored("a"), stored("b", { batch: "b2" }), stored("c", { user: "bob" }), stored("d"));
  assert.deepEqual(await sendLeftEvents("ann", store), []);
  assert.deepEqual(
    requests.map(({ path, body }) => [path, body.events.map(({ id }) => id)]),
    [["/judge/batches/b1/events", ["a", "d"]], ["/judge/batches/b2/events", ["b"]]],
  );
  assert.deepEqual([store.entries.map(({ event }) => event.id), store.isClosed], [["c"], true]);
});

test("reasons of refused events are returned, and they are not kept", async () => {
  serve(refuseAll);
  const store = new MemoryStore(stored("a"));
  assert.deepEqual(await sendLeftEvents("ann", store), ["too late"]);
  assert.equal(store.entries.length, 0);
});

test("without a connection everything left stays; a batch that the server does not know does not stop the others", async () => {
  const store = () => new MemoryStore(stored("a"), stored("b", { batch: "b2" }));
  const kept = store();
  assert.equal(serve(fail).length, 0);
  assert.deepEqual(await sendLeftEvents("ann", kept), []);
  assert.equal(kept.entries.length, 2);
  const rest = store();
  serve(() => json({ error: "no batch", code: "not-found" }, 404), saveAll);
  await sendLeftEvents("ann", rest);
  assert.deepEqual(rest.entries.map(({ event }) => event.id), ["a"]);
});

test("without a store nothing is left", async () => {
  assert.deepEqual(await sendLeftEvents("ann"), []);
  assert.deepEqual(await sendLeftEvents("ann", new BrokenStore()), []);
});
