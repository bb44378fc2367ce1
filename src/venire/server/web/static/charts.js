// @ts-check
/** Charts, drawn by the plotly that is installed, in the colours of the page. */

const style = getComputedStyle(document.documentElement);
/** @param {string} name */
const token = (name) => style.getPropertyValue(name).trim();
const dark = window.matchMedia("(prefers-color-scheme: dark)").matches;
const colours = dark
  ? ["#7db4f0", "#f0a070", "#86d6a0", "#c9a4ee", "#e2c766", "#a9b4bc", "#f08bc2", "#66cfd1"]
  : ["#1f5fa8", "#c4541a", "#2a7f4f", "#7a4fa3", "#8a6d00", "#5b6770", "#b0307a", "#0f8a8a"];

/** Draw one chart; drawn again it is replaced. @param {Element} box @param {any} spec */
export function draw(box, spec) {
  const plotly = /** @type {any} */ (window).Plotly;
  if (!spec || !plotly) return;
  const axis = { gridcolor: token("--line"), zerolinecolor: token("--line"), automargin: true };
  void plotly.react(box, spec.data, {
    height: 340,
    margin: { l: 55, r: 15, t: 15, b: 50 },
    font: { family: token("--sans"), size: 13, color: token("--ink") },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    colorway: colours,
    ...spec.layout,
    xaxis: { ...axis, ...spec.layout.xaxis },
    yaxis: { ...axis, ...spec.layout.yaxis },
  }, { displaylogo: false, responsive: true, modeBarButtonsToRemove: ["select2d", "lasso2d"] });
}

for (const box of document.querySelectorAll("[data-chart]")) {
  draw(box, JSON.parse(box.parentElement?.querySelector("script")?.textContent ?? "null"));
}
