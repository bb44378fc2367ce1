// @ts-check
/** Charts, drawn by the installed plotly in the colours of the page. */

/** @typedef {import("../types").Chart} Chart */

const style = getComputedStyle(document.documentElement);
/** @param {string} name */
const token = (name) => style.getPropertyValue(name).trim();
const isDark = window.matchMedia("(prefers-color-scheme: dark)").matches;
const COLOURS = isDark
  ? ["#7db4f0", "#f0a070", "#86d6a0", "#c9a4ee", "#e2c766", "#a9b4bc", "#f08bc2", "#66cfd1"]
  : ["#1f5fa8", "#c4541a", "#2a7f4f", "#7a4fa3", "#8a6d00", "#5b6770", "#b0307a", "#0f8a8a"];
const CONFIG = { displaylogo: false, responsive: true, modeBarButtonsToRemove: ["select2d", "lasso2d"] };

/** Draw a chart, in place of the one before it. @param {Element} box @param {Chart|null} chart */
export function drawChart(box, chart) {
  const { Plotly } = /** @type {{Plotly?: import("../types").Plotly}} */ (/** @type {unknown} */ (window));
  if (!chart || !Plotly) return;
  const axis = { gridcolor: token("--line"), zerolinecolor: token("--line"), automargin: true };
  const layout = {
    height: 340,
    margin: { l: 55, r: 15, t: 15, b: 50 },
    font: { family: token("--sans"), size: 13, color: token("--ink") },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    colorway: COLOURS,
    ...chart.layout,
    xaxis: { ...axis, ...chart.layout.xaxis },
    yaxis: { ...axis, ...chart.layout.yaxis },
  };
  void Plotly.react(box, chart.data, layout, CONFIG);
}

for (const box of document.querySelectorAll("[data-chart]")) {
  drawChart(box, JSON.parse(box.parentElement?.querySelector("script")?.textContent ?? "null"));
}
