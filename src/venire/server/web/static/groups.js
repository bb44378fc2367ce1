// @ts-check
/**
 * A group of near-alike documents, judged in one action: the best-ranked one large, seven small;
 * opened, all of them in a grid where single ones are marked as different. The review round at
 * the end shows everything by grade.
 */
import { element } from "./document.js";

const SMALL = 7;

/**
 * @typedef {{batch: () => any, place: HTMLElement, document: (lease: string) => Promise<any>,
 *   act: (kind: string, values?: Record<string, unknown>) => void, moved: (places: number[]) => void,
 *   undoable: (back: () => void) => void,
 *   go: (place: number) => void, say: (words: string) => void, finish: () => void,
 *   time: () => {active_ms: number, idle_ms: number}, restart: () => void, canAct: () => boolean}} Hooks
 */

export class GroupView {
  /** @param {Hooks} hooks */
  constructor(hooks) {
    this.hooks = hooks;
    this.shown = false;
    this.opened = false;
    /** @type {number} */
    this.group = -1;
    /** @type {Map<string, number>} grades of images that were marked as different */
    this.marks = new Map();
    this.last = -1;
  }

  /** @returns {{item: any, place: number}[]} */
  members() {
    const found = [];
    for (const [place, item] of this.hooks.batch().items.entries()) {
      if (item.group === this.group) found.push({ item, place });
    }
    return found;
  }

  hide() {
    this.shown = false;
    this.opened = false;
  }

  /** @param {number} group */
  show(group) {
    if (group !== this.group || !this.shown) this.marks = new Map();
    this.group = group;
    this.shown = true;
    this.opened = false;
    this.strip();
    this.hooks.restart();
    this.hooks.say(`A group of ${this.members().length}. A grade is for all of them; o opens the group.`);
    performance.mark("venire-shown");
  }

  /* ---- the strip ---- */

  strip() {
    const members = this.members();
    const strip = element("div", { class: "strip" });
    members.slice(0, SMALL + 1).forEach(({ item }, place) => strip.append(this.tile(item, place === 0)));
    if (members.length > SMALL + 1) strip.append(element("span", { class: "soft" }, `and ${members.length - SMALL - 1} more`));
    const open = element("button", { type: "button", "aria-keyshortcuts": "o" }, element("kbd", {}, "o"), " Open");
    open.addEventListener("click", () => this.open());
    this.fill(
      element("h2", {}, `${members.length} that look alike `, open),
      element("p", { class: "soft" }, this.marks.size ? `${this.marks.size} marked as different. A grade below is for all others.` : "A grade below is for all of them."),
      strip,
    );
  }

  /** @param {...(Node|string)} children */
  fill(...children) {
    const { place } = this.hooks;
    place.replaceChildren(element("div", { class: "group" }, ...children));
    place.dataset.lease = this.members()[0]?.item.lease ?? "";
    place.focus({ preventScroll: true });
  }

  /** @param {any} item @param {boolean} [large] */
  tile(item, large = false) {
    const tile = element("span", { class: large ? "tile large" : "tile" });
    if (item.kind === "image") {
      tile.append(element("img", { src: `/judge/images/${item.lease}${large ? "" : "?size=small"}`, alt: "", loading: "lazy" }));
    } else {
      void this.hooks.document(item.lease).then((data) => {
        const title = Array.isArray(data.title) ? data.title.map((/** @type {any} */ one) => one[0]).join("") : data.title ?? data.label ?? "";
        const first = (data.paragraphs?.[0] ?? []).map((/** @type {any} */ one) => one[0]).join("");
        tile.append(element("strong", { dir: "auto" }, title), element("span", { class: "small", dir: "auto" }, first.slice(0, large ? 600 : 160)));
      }, () => tile.append("…"));
    }
    return tile;
  }

  /* ---- the grid ---- */

  open() {
    this.opened = true;
    const leases = this.members().map(({ item }) => item.lease);
    this.hooks.act("look", { leases });
    this.grid();
  }

  close() {
    this.opened = false;
    this.strip();
  }

  grid() {
    const grid = element("div", { class: "grid", role: "group", "aria-label": "All of this group" });
    this.members().forEach(({ item }, place) => {
      const button = element("button", { type: "button", class: "pick" }, this.tile(item));
      this.name(button, item, place);
      button.addEventListener("click", (event) => this.mark(place, event.shiftKey));
      grid.append(button);
    });
    const close = element("button", { type: "button", "aria-keyshortcuts": "o" }, element("kbd", {}, "o"), " Close");
    close.addEventListener("click", () => this.close());
    const split = element("button", { type: "button", "aria-keyshortcuts": "x" }, element("kbd", {}, "x"), " Split the marked off");
    split.addEventListener("click", () => this.split());
    this.fill(
      element("h2", {}, `All ${this.members().length} of the group `, close, " ", split),
      element("p", { class: "soft" }, "Click, or Space, marks one as different: with the highest grade, then the next lower one. Shift-click marks a row of them. A grade below is for all that are not marked."),
      grid,
    );
  }

  /** @param {HTMLElement} button @param {any} item @param {number} place */
  name(button, item, place) {
    const own = this.marks.get(item.lease) ?? (item.state === "judged" ? item.label : undefined);
    const grade = this.grade(own);
    button.querySelector(".own")?.remove();
    button.classList.toggle("marked", this.marks.has(item.lease));
    button.setAttribute("aria-pressed", String(this.marks.has(item.lease)));
    button.setAttribute("aria-label", `${place + 1} of ${this.members().length}${grade ? `: ${grade.name}` : ""}`);
    if (grade) button.append(element("span", { class: "own badge" }, grade.name));
  }

  /** @param {number|undefined} value */
  grade(value) {
    return this.hooks.batch().grades.find((/** @type {any} */ one) => one.value === value);
  }

  /** @param {number} place @param {boolean} range */
  mark(place, range) {
    if (!this.hooks.canAct()) return;
    const members = this.members();
    const from = range && this.last >= 0 ? Math.min(this.last, place) : place;
    const to = range && this.last >= 0 ? Math.max(this.last, place) : place;
    // Most groups are not relevant, so what differs in one most often is: the highest grade first.
    const values = this.hooks.batch().grades.map((/** @type {any} */ one) => one.value).reverse();
    const now = this.marks.get(members[place].item.lease);
    const next = now === undefined ? values[0] : values[values.indexOf(now) + 1];
    for (let at = from; at <= to; at++) {
      const { item } = members[at];
      if (next === undefined) this.marks.delete(item.lease);
      else this.marks.set(item.lease, next);
    }
    this.last = place;
    const buttons = this.hooks.place.querySelectorAll(".pick");
    members.forEach(({ item }, at) => this.name(/** @type {HTMLElement} */ (buttons[at]), item, at));
    const grade = this.grade(next);
    this.hooks.say(grade ? `Marked as ${grade.name}` : "No longer marked");
  }

  split() {
    if (!this.hooks.canAct()) return;
    const leases = this.members().map(({ item }) => item.lease).filter((lease) => this.marks.has(lease));
    if (!leases.length || leases.length === this.members().length) return this.hooks.say("Mark some, and not all, to split them off.");
    const all = this.members();
    const [first] = all;
    this.hooks.act("split", { leases, ...this.hooks.time() });
    this.hooks.undoable(() => {
      this.hooks.act("split", { leases: all.map(({ item }) => item.lease), ...this.hooks.time() });
      this.hooks.go(first.place);
      this.hooks.say("Undone: they are one group again.");
    });
    this.marks = new Map();
    this.hooks.say(`${leases.length} split off.`);
    this.hooks.go(first.place);
    this.hooks.restart();
  }

  /** A grade for the group; what was marked has its own. @param {number} value */
  label(value) {
    const members = this.members();
    const rest = members.filter(({ item }) => !this.marks.has(item.lease));
    const time = this.hooks.time();
    const shares = Math.max(1, Number(rest.length > 0) + this.marks.size);
    const share = { active_ms: Math.round(time.active_ms / shares), idle_ms: Math.round(time.idle_ms / shares) };
    if (rest.length) this.hooks.act("group", { leases: rest.map(({ item }) => item.lease), label: value, ...share });
    for (const { item } of members) {
      const own = this.marks.get(item.lease);
      if (own !== undefined) this.hooks.act("label", { lease: item.lease, label: own, ...share });
    }
    this.marks = new Map();
    this.hooks.moved(members.map(({ place }) => place));
  }

  /* ---- the review round ---- */

  /** @param {string} [moved] the lease of an image that was just changed */
  review(moved) {
    this.hide();
    const { batch, place } = this.hooks;
    const page = element("div", { class: "group review" });
    const finish = element("button", { type: "button", class: "primary", id: "finish" }, "Finish ", element("kbd", {}, "Enter"));
    finish.addEventListener("click", this.hooks.finish);
    page.append(element("h2", {}, "Review "), element("p", { class: "soft" }, "Everything by grade. A click gives the next grade, u takes it back. Handed in, they are final."), element("p", {}, finish));
    for (const grade of [...batch().grades].reverse()) {
      const there = batch().items.filter((/** @type {any} */ item) => item.state === "judged" && item.label === grade.value);
      if (!there.length) continue;
      const grid = element("div", { class: "grid" });
      for (const item of there) {
        const button = element("button", { type: "button", class: "pick", "aria-label": `${grade.name}; click for the next grade` }, this.tile(item));
        button.addEventListener("click", () => this.change(item));
        if (item.lease === moved) button.classList.add("marked");
        grid.append(button);
      }
      page.append(element("h3", {}, `${grade.name} (${there.length})`), grid);
    }
    const top = place.scrollTop;
    place.replaceChildren(page);
    place.scrollTop = top;
    place.dataset.lease = "";
    document.getElementById("grades")?.replaceChildren();
    const changed = /** @type {HTMLElement|null} */ (moved ? page.querySelector(".marked") : null);
    if (changed) {
      changed.focus({ preventScroll: true });
      changed.scrollIntoView({ block: "nearest" });
    } else if (!top) finish.focus();
    this.hooks.restart();
    if (moved) return;
    this.hooks.say("All are judged. Look them over, then press Enter to finish.");
  }

  /** @param {any} item */
  change(item) {
    if (!this.hooks.canAct()) return;
    const values = this.hooks.batch().grades.map((/** @type {any} */ one) => one.value);
    const before = item.label;
    const next = values[(values.indexOf(before) + 1) % values.length];
    this.hooks.undoable(() => this.set(item, before, "Undone"));
    this.set(item, next, "Now");
  }

  /** @param {any} item @param {number} value @param {string} word */
  set(item, value, word) {
    this.hooks.act("label", { lease: item.lease, label: value, text: "review", ...this.hooks.time() });
    this.review(item.lease);
    this.hooks.say(`${word}: ${this.grade(value)?.name}`);
  }

  /* ---- keys ---- */

  /** @param {KeyboardEvent} event @returns {boolean} whether the key was for a group */
  key(event) {
    if (!this.shown) return false;
    if (event.key === "o") {
      if (this.opened) this.close();
      else this.open();
      return true;
    }
    if (!this.opened) return false;
    if (event.key === "Escape") this.close();
    else if (event.key === "x") this.split();
    else return this.step(event.key);
    return true;
  }

  /** Arrow keys move in the grid. @param {string} key */
  step(key) {
    const buttons = /** @type {HTMLElement[]} */ ([...this.hooks.place.querySelectorAll(".pick")]);
    const at = buttons.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    const top = buttons[0]?.offsetTop;
    const across = buttons.filter((button) => button.offsetTop === top).length || 1;
    const move = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -across, ArrowDown: across }[key];
    if (move === undefined) return false;
    buttons[Math.min(Math.max(at < 0 ? 0 : at + move, 0), buttons.length - 1)]?.focus();
    return true;
  }
}
