"use strict";
// Joins the parts: the lap picker, the readout, the colours, the sizes.
const darkWanted = window.matchMedia("(prefers-color-scheme: dark)");
let printing = false;

function firstChoice() {
  if (compared) {  // the lap that is to become faster, and the reference
    view.focus = report.laps.findIndex((lap, i) => i !== report.reference);
    view.shown = new Set(report.laps.length <= 3 ? report.laps.keys() : [report.reference, view.focus]);
    return;
  }
  const finished = report.laps.map((lap, i) => i).filter((i) => report.laps[i].finished);
  const best = finished.find((i) => report.laps[i].number === report.best);
  view.focus = best !== undefined ? best : finished.length ? finished[0] : 0;
  view.shown = new Set(report.laps.length <= 3 ? report.laps.keys() : [view.focus, report.laps.length - 1]);
}

function buildPicker() {
  const box = byId("picker");
  box.replaceChildren();
  report.laps.forEach((lap, index) => {
    const swatch = element("span", { className: "swatch" });
    swatch.style.background = lapColour(index);
    const name = `${lapName(lap)}  ${clock(lap.time_s)}${lap.valid || !lap.finished ? "" : " (not valid)"}`;
    const button = element("button", { type: "button" }, swatch, name);
    button.setAttribute("aria-pressed", view.shown.has(index));
    button.onclick = () => {
      if (!view.shown.delete(index)) view.shown.add(index);
      notify("shown");
    };
    box.append(button);
  });
  if (report.laps.length > 1) {
    const select = element("select", { id: "focus" });
    report.laps.forEach((lap, index) => select.append(element("option", { value: index, textContent: lapName(lap), selected: index === view.focus })));
    select.onchange = () => focusOn(Number(select.value));
    box.append(element("label", { htmlFor: "focus", textContent: "map and g-g show" }), select);
  }
}
function focusOn(index) {
  view.focus = index;
  view.shown.add(index);
  notify("shown");
}
function markFocus() {
  const lap = report.laps[view.focus];
  for (const row of document.querySelectorAll("tr[data-lap]")) {
    row.classList.toggle("focus", lap.finished && Number(row.dataset.lap) === lap.number);
  }
}

function buildLegend() {
  const stops = Array.from({ length: 11 }, (_, i) => (compared ? lossColour(i / 5 - 1) : ramp(i / 10))).join(",");
  const bar = element("span", { className: "ramp" });
  bar.style.background = `linear-gradient(to right,${stops})`;
  bar.style.printColorAdjust = "exact";
  const [lo, hi] = speedRange.map((v) => Math.round(v * KMH));
  const name = lapName(report.laps[view.focus]);
  const parts = [compared ? element("span", {}, `${name}: gains`, bar, "loses") : element("span", {}, `${name}: ${lo}`, bar, `${hi} km/h`)];
  if (report.plan) parts.push(element("span", {}, element("span", { className: "dash" }), "planned line"));
  byId("legend").replaceChildren(...parts);
}

const number = (value, digits = 0) => (value === null || value === undefined ? "-" : value.toFixed(digits));
function drawReadout() {
  const i = view.cursor === null ? 0 : view.cursor, corner = cornerAt(i);
  const columns = charts.map(({ chart, plot }) => [chart.short, (index) => {
    const value = plot.data[index + 1][i];
    return chart.ticks && value !== null ? chart.ticks(value) || "-" : number(value, chart.digits);
  }]);
  columns.push(["time s", (index) => number(report.laps[index].time?.[i], 3)]);
  const head = element("tr", {}, element("th", { textContent: `${(i * report.step).toFixed(0)} m${corner ? `, ${corner.title}` : ""}` }));
  columns.forEach(([name]) => head.append(element("th", { textContent: name })));
  const body = element("tbody");
  for (const [lap, index] of shownLaps()) {
    const swatch = element("span", { className: "swatch" });
    swatch.style.background = lapColour(index);
    const row = element("tr", {}, element("th", {}, swatch, lapName(lap)));
    columns.forEach(([, text]) => row.append(element("td", { textContent: text(index) })));
    body.append(row);
  }
  if (report.plan) {
    const row = element("tr", {}, element("th", {}, element("span", { className: "dash" }), "plan"));
    columns.forEach(([name]) => row.append(element("td", {
      textContent: name === "km/h" ? number(report.plan.speed[i] * KMH, 1) : name === "time s" ? number(report.plan.time[i], 3) : "",
    })));
    body.append(row);
  }
  byId("readout").replaceChildren(element("table", {}, element("thead", {}, head), body));
}

const inner = (box) => Math.max(120, Math.floor(box.clientWidth - 16));
// The camera's newest picture at the cursor, of the lap in focus.
function showPicture() {
  const { pictures } = report.laps[view.focus], box = byId("picture-box");
  box.hidden = !pictures;
  if (!pictures) return;
  const next = pictures.at.findIndex((at) => at > (view.cursor || 0));
  byId("picture").src = pictures.data[next < 0 ? pictures.at.length - 1 : Math.max(0, next - 1)];
}
function drawPictures() {
  showPicture();
  drawMap(inner(byId("map-box")));
  drawMapCursor();
  drawClose(inner(byId("close-box")));
  drawDiagram(inner(byId("gg-box")));
}
function drawAll() {
  view.theme = darkWanted.matches && !printing ? "dark" : "light";
  document.documentElement.dataset.theme = view.theme;
  buildPicker(); buildLegend(); markFocus();
  buildCharts(byId("charts"), byId("charts").clientWidth);
  drawReadout();
  drawPictures();
}

let drawing = false;
on("cursor", () => {
  if (drawing) return;  // at most once a frame, however fast the mouse moves
  drawing = true;
  requestAnimationFrame(() => {
    drawing = false;
    drawReadout(); drawMapCursor(); showPicture();
    drawClose(inner(byId("close-box"))); drawDiagram(inner(byId("gg-box")));
  });
});
on("shown", () => { buildPicker(); buildLegend(); markFocus(); drawReadout(); showInCharts(); drawPictures(); });

byId("map").addEventListener("pointermove", (event) => {
  const found = sampleAt(event.offsetX, event.offsetY);
  if (found !== null) { setCursor(found); moveCharts(); }
});
byId("map").addEventListener("pointerdown", (event) => {
  const found = sampleAt(event.offsetX, event.offsetY);
  if (found !== null) { setCursor(found); moveCharts(); }
});
byId("charts").addEventListener("keydown", (event) => {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!step) return;
  event.preventDefault();
  const next = (view.cursor === null ? 0 : view.cursor) + step * (event.shiftKey ? 20 : 1);
  setCursor(Math.max(0, Math.min(report.count - 1, next)));
  moveCharts();
});
byId("laps")?.addEventListener("click", (event) => {
  const row = event.target.closest("tr[data-lap]");
  const index = row ? report.laps.findIndex((lap) => lap.finished && lap.number === Number(row.dataset.lap)) : -1;
  if (index >= 0) focusOn(index);
});

firstChoice();
buildChannels();
let lastWidth = document.documentElement.clientWidth;  // the charts' height may bring a scroll bar, which takes some of it
drawAll();
darkWanted.addEventListener("change", drawAll);
new ResizeObserver(() => {
  const width = document.documentElement.clientWidth;
  if (width === lastWidth || printing) return;
  lastWidth = width;
  requestAnimationFrame(() => { resizeCharts(byId("charts").clientWidth); drawPictures(); moveCharts(); });
}).observe(document.documentElement);
// Paper is light and narrow, whatever the screen is.
const PAPER = 680;
window.addEventListener("beforeprint", () => {
  printing = true;
  document.body.style.width = `${PAPER}px`;
  drawAll();
  resizeCharts(PAPER);
});
window.addEventListener("afterprint", () => {
  printing = false;
  document.body.style.width = "";
  drawAll();
});
