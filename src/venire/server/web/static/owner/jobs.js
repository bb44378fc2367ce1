// @ts-check
/** Jobs in the queue: looked at every second; the page reloads when one has ended. */
import { ask } from "../shared/api.js";
import { findAll } from "../shared/elements.js";
import { storeTyped } from "../shared/form-memory.js";
import { labelOf } from "../shared/labels.js";
import { formatNumber } from "../shared/text.js";

const EVERY = 1000;

/** Whether a job has not ended. @param {import("../types").Job} job */
const isActive = (job) => ["waiting", "running"].includes(job.state);

/** @param {HTMLElement} box @param {import("../types").Job} job */
function showJob(box, job) {
  const bar = /** @type {HTMLProgressElement} */ (box.querySelector("progress"));
  const text = job.total ? `${job.message} · ${formatNumber(job.done)} of ${formatNumber(job.total)}` : job.message;
  /** @type {HTMLElement} */ (box.querySelector("[data-state]")).textContent = labelOf("job", job.state);
  /** @type {HTMLElement} */ (box.querySelector("[data-message]")).textContent = text;
  if (job.total) {
    bar.max = job.total;
    bar.value = job.done;
  } else bar.removeAttribute("value");
}

/** @param {HTMLElement} box */
async function watchJob(box) {
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, EVERY));
    if (document.hidden) continue;
    try {
      /** @type {import("../types").Job} */
      const job = await ask(box.dataset.job ?? "");
      if (!isActive(job)) {
        storeTyped();
        return location.reload();
      }
      showJob(box, job);
    } catch {
      // The server does not answer: ask again.
    }
  }
}

/** Watch all jobs of the page. */
export function watchJobs() {
  for (const box of findAll("[data-job]")) void watchJob(box);
}
