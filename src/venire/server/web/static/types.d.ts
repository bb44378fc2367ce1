/** Types of what the server sends and of what the scripts keep. Checked by tsc, never loaded. */

/* ---- judging ---- */

/** One grade of the scale, with the key that gives it. */
export interface Grade {
  value: number;
  name: string;
  definition: string;
  key: string;
}

export interface Topic {
  title: string;
  description: string;
  narrative: string;
}

export type ItemState = "live" | "judged" | "cannot" | "skipped" | "expired" | "returned";

/** One document of a batch. */
export interface Item {
  lease: string;
  /** Number of the group in the batch; null where the document is judged by itself. */
  group: number | null;
  kind: "text" | "html" | "image" | "entity";
  /** Index into the topics of the batch. */
  topic: number;
  state: ItemState;
  label: number | null;
  reason: string | null;
}

/** A batch as its annotator sees it. */
export interface Batch {
  batch: string;
  kind: "practice" | "work";
  state: "open" | "finished" | "expired" | "returned";
  minutes: number;
  grouped: boolean;
  relevant_from: number;
  study: string;
  /** Cleaned HTML. */
  instructions: string;
  grades: Grade[];
  reasons: string[];
  topics: Topic[];
  items: Item[];
}

/** What an annotator can do next. */
export type Next =
  | { state: "batch"; batch: Batch }
  | { state: "wait" | "done"; retry_seconds: number | null; code: string | null };

export type EventKind =
  | "label" | "group" | "split" | "cannot" | "skip" | "undo" | "comment" | "look" | "note" | "finish" | "leave";

/** An action of an annotator, before it has an id and a time. */
export interface NewEvent {
  kind: EventKind;
  lease?: string;
  leases?: string[];
  label?: number;
  reason?: string;
  text?: string;
  active_ms?: number;
  idle_ms?: number;
}

/** An action as it is sent. */
export interface JudgeEvent extends NewEvent {
  id: string;
  at: string;
}

/** Active and idle milliseconds. */
export interface Time {
  active_ms: number;
  idle_ms: number;
}

export interface Feedback {
  right: boolean;
  grade: number;
  note: string;
}

/** The server's answer to one event. */
export interface Answer {
  id: string;
  status: "saved" | "refused";
  lease: string | null;
  /** Why the event was refused, for programs. */
  code?: string;
  /** The same for people. */
  reason?: string;
  feedback?: Feedback;
}

/** The server's answer to events sent together. */
export interface Answers {
  answers: Answer[];
  /** The code that a platform's worker takes back, once the batch is submitted. */
  code?: string | null;
}

/** A document of a group, and its index in the batch. */
export interface Member {
  item: Item;
  place: number;
}

/** How an action is taken back. */
export type UndoStep =
  | { kind: "judged"; places: number[] }
  | { kind: "split"; leases: string[]; place: number }
  | { kind: "review"; lease: string; label: number };

/** An event in the outbox; `seq` is its key in IndexedDB. */
export interface StoredEvent {
  seq?: number;
  user: string;
  batch: string;
  event: JudgeEvent;
}

export type SaveState = "saved" | "sending" | "offline" | "signed-out" | "failed";

export interface OutboxListener {
  changed(unsent: number, state: SaveState, error?: unknown): void;
  answered(event: JudgeEvent, answer: Answer, answers: Answers): void;
}

/* ---- documents ---- */

/** Text, and whether a query term is in it. */
export type Segment = [string, boolean];

export interface TextDocument {
  kind: "text";
  title: Segment[];
  paragraphs: Segment[][];
  /** Index of the paragraph with the most query terms. */
  densest: number | null;
}

export interface EntityValue {
  short: string;
  full: string;
  uri: string | null;
  rows: EntityRow[];
}

export interface EntityRow {
  label: string;
  values: EntityValue[];
  /** Number of values that are left out. */
  omitted: number;
}

export interface EntityDocument {
  kind: "entity";
  label: string;
  links: boolean;
  rows: EntityRow[];
  /** Number of properties that are left out. */
  omitted: number;
}

export interface ImageDocument {
  kind: "image";
  title: string;
  missing: boolean;
}

export interface HtmlDocument {
  kind: "html";
  title: string;
  html: string;
}

/** A document of which the study has only the id. */
export interface AbsentDocument {
  kind: "none";
  title: string;
}

export type DocumentData = (TextDocument | EntityDocument | ImageDocument | HtmlDocument | AbsentDocument) & {
  lease?: string;
};

/* ---- owner pages ---- */

export type JobState = "waiting" | "running" | "done" | "failed" | "stopped";

export interface Job {
  id: string;
  state: JobState;
  message: string;
  done: number;
  total: number | null;
}

/** Labels of states for readers, by the kind of thing that has the state. */
export type Labels = Record<string, Record<string, string>>;

/** One line of an import report. */
export interface ImportRow {
  kind?: string;
  what?: string;
  name?: string;
  rows?: number;
  read?: number;
  added?: number;
  changed?: number;
  unchanged?: number;
  left_out?: number;
  reason?: string;
}

/** The report of a file, or of a folder with a row per file. */
export interface ImportReport extends Omit<ImportRow, "rows"> {
  rows?: ImportRow[] | number;
  notes?: string[];
  next?: string;
}

/** A preview of a pool. */
export interface PoolFacts {
  pairs: number;
  topics: number;
  documents_per_topic: number;
  share_of_lists: number | null;
  new: number;
  gone: number;
  gone_with_judgments: number;
  left_out: number;
  notes?: string[];
  by_run?: Record<string, string | number>[];
}

export interface Overview {
  campaigns: (Progress & { state: string })[];
  topics: (Progress & { query_id: string })[];
  alarms: { kind: string; text: string }[];
}

/** Judgments so far; other fields are read by the name that the page gives. */
export interface Progress {
  campaign_id: string;
  filled: number;
  asked: number;
}

/** A chart for plotly. */
export interface Chart {
  data: Record<string, unknown>[];
  layout: Record<string, unknown> & { xaxis?: object; yaxis?: object };
}

/** The part of plotly that is used. */
export interface Plotly {
  react(box: Element, data: object[], layout: object, config: object): Promise<unknown>;
}

/** An element in which plotly has drawn a chart. */
export interface ChartElement extends HTMLElement {
  on?(name: "plotly_click", listener: (event: { points: { customdata: string }[] }) => void): void;
  removeAllListeners?(name: "plotly_click"): void;
}

/* ---- simulation ---- */

/** Settings of a simulated annotator. */
export interface AnnotatorValues {
  name: string;
  [setting: string]: string | number | boolean;
}

/** A measured accuracy with its interval. */
export interface Share {
  right: number;
  total: number;
  low: number;
  high: number;
}

/** An annotator of the pilot, measured against the ground truth. */
export interface Pilot {
  values: AnnotatorValues;
  relevant: Share;
  not_relevant: Share;
  notes: string[];
}

/** A class of cosines between documents of one pool. */
export interface CosineClass {
  low: number;
  high: number;
  share: number;
  above: number;
}

/** What the server says of the selected labels and encoder. */
export interface Start {
  queries: number;
  labels: number;
  relevant: number;
  pilots: Pilot[];
  cosines: CosineClass[];
  notes: string[];
}

/** A grouping method with the values worth trying. */
export interface Method {
  name: string;
  words: string;
  parameter: string;
  values: number[];
  limits: [number | null, number | null];
  whole: boolean;
  needs: string;
}

/** A setting under one annotator type. */
export interface SettingRow {
  setting: string;
  annotator: string;
  seconds_per_image: number;
  saved: number;
  recall: number;
  loss: number;
  loss_low: number | null;
  loss_high: number | null;
  within: boolean;
  never_looked: number;
}

/** A finished simulation. */
export interface Results {
  setting: string;
  encoder: string;
  truth: string;
  labels: string;
  points: number;
  /** Annotator types that the recommendation is based on. */
  chosen: string[];
  /** All annotator types, in the order of the page. */
  order: string[];
  words: Record<string, string>;
  types: Record<string, SettingRow[]>;
  charts: Record<string, Record<string, Chart | null>>;
  sentences: Record<string, Record<string, string>>;
}

export interface Field {
  key: string;
  words: string;
}

export interface Truth {
  value: string;
  words: string;
  labels: number;
}

/** What the page of the simulation brings along. */
export interface SimulationData {
  study: string;
  api: string;
  here: string;
  owner: boolean;
  truths: Truth[];
  vectors: string[];
  hashes: boolean;
  types: { values: AnnotatorValues; bound: boolean }[];
  fields: { values: Field[]; times: Field[] };
  methods: Method[];
  current: { setting?: string; encoder?: string };
  job: { id: string; state: JobState } | null;
  found: Results | null;
}

export type TypeKind = "type" | "pilot" | "own" | "bound";

/** An annotator type of the wizard. */
export interface AnnotatorType {
  id: string;
  values: AnnotatorValues;
  kind: TypeKind;
  pilot?: Pilot;
}

/** What was selected in the wizard. */
export interface Selection {
  truth: string;
  encoder: string;
  queries: number | null;
  repetitions: number;
  seed: number;
  on: Record<string, boolean>;
  edits: Record<string, Record<string, string | number | boolean>>;
  own: string[];
  methods: Record<string, number[]>;
  extra: Record<string, number[]>;
  caps: string[];
  setting: string;
}
