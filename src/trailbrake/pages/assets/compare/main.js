"use strict";
// A row of the corner table shows its corner in the charts and on the map.
const MARGIN = 0.08;  // of a zone that is shown beside it
function showCorner(row) {
  const corner = corners.find((c) => c.number === Number(row.dataset.corner)), room = (corner.end - corner.start) * MARGIN;
  focusOn(Number(row.dataset.index));
  zoomTo(corner.start - room, corner.end + room);
  setCursor(Math.min(report.count - 1, Math.round(corner.apex / report.step)));
  moveCharts();
  byId("charts").scrollIntoView({ behavior: "smooth" });
}
for (const row of document.querySelectorAll("tr[data-corner]")) {
  row.addEventListener("click", () => showCorner(row));
  row.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    showCorner(row);
  });
}
