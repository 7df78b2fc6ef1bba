"use strict";
// The map renderer: a road, lines, a path coloured by speed, and what surrounds the car. Points are { x: [], y: [] } in
// metres, world axes; null where there is none. A view says where metres go: { scale, to(x, y), matrix }.

// The smallest box around lists of points, [x0, x1, y0, y1]; null without a point.
function boundsOf(lists) {
  let [x0, x1, y0, y1] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const points of lists) {
    if (points && points.x && points.y) points.x.forEach((x, i) => {
      const y = points.y[i];
      if (x === null || y === null) return;
      x0 = Math.min(x0, x); x1 = Math.max(x1, x); y0 = Math.min(y0, y); y1 = Math.max(y1, y);
    });
  }
  return x0 <= x1 ? [x0, x1, y0, y1] : null;
}
// North up: a box in the middle of a canvas that is `width` pixels wide and `least` to `most` high.
function fitView([x0, x1, y0, y1], width, margin, least, most) {
  const wide = Math.max(x1 - x0, 1), high = Math.max(y1 - y0, 1);
  const height = Math.round(Math.min(Math.max((width * high) / wide, least), most));
  const scale = Math.min((width - 2 * margin) / wide, (height - 2 * margin) / high);
  const dx = width / 2 - ((x0 + x1) / 2) * scale, dy = height / 2 + ((y0 + y1) / 2) * scale;
  return { scale, width, height, to: (x, y) => [x * scale + dx, -y * scale + dy], matrix: [scale, 0, 0, -scale, dx, dy] };
}
// Course up: the point (x, y) of a car that drives at `course` (rad) is at pixel (px, py).
function followView(x, y, course, scale, px, py) {
  const c = Math.cos(course), s = Math.sin(course);
  const to = (qx, qy) => {
    const forward = (qx - x) * c + (qy - y) * s, left = -(qx - x) * s + (qy - y) * c;
    return [px - left * scale, py - forward * scale];
  };
  return { scale, to, matrix: [s * scale, -c * scale, -c * scale, -s * scale, ...to(0, 0)] };
}

function pathOf(points, close) {
  const made = new Path2D();
  points.x.forEach((x, i) => { if (i) made.lineTo(x, points.y[i]); else made.moveTo(x, points.y[i]); });
  if (close) made.closePath();
  return made;
}
// The paths of a road { left, right, closed }: its surface, to be filled "evenodd", and its edges. null without edges.
function roadPaths(road) {
  if (!road || !road.left.x || !road.right.x) return null;
  const { left, right, closed } = road, edges = new Path2D();
  edges.addPath(pathOf(left, closed));
  edges.addPath(pathOf(right, closed));
  const around = { x: [...left.x, ...[...right.x].reverse()], y: [...left.y, ...[...right.y].reverse()] };
  return { surface: closed ? edges : pathOf(around, true), edges };
}
// In metres: the pen scales, so that even the close-up of a long road is drawn at once.
function inMetres(pen, view, paint) {
  pen.save();
  pen.transform(...view.matrix);
  paint();
  pen.restore();
}
function paintRoad(pen, view, road, edgeWidth) {
  if (!road) return;
  inMetres(pen, view, () => {
    pen.fillStyle = css("--road"); pen.fill(road.surface, "evenodd");
    pen.strokeStyle = css("--edge"); pen.lineWidth = edgeWidth / view.scale; pen.stroke(road.edges);
  });
}
function paintDashed(pen, view, path, colour, width, dash) {
  if (!path) return;
  inMetres(pen, view, () => {
    pen.setLineDash(dash.map((length) => length / view.scale));
    pen.strokeStyle = colour; pen.lineWidth = width / view.scale; pen.stroke(path);
  });
}
// One stroke per stretch of one level: thousands of single strokes would be slow. Segment i leads to point i from the
// one before; `gap(i)` leaves it out.
function strokeByLevel(pen, view, points, { first, last, width, level, colour, gap }) {
  pen.lineWidth = width; pen.lineCap = "round"; pen.lineJoin = "round";
  let i = Math.max(1, first);
  while (i <= last) {
    if (gap(i)) { i++; continue; }
    const now = level(i);
    pen.beginPath();
    pen.moveTo(...view.to(points.x[i - 1], points.y[i - 1]));
    for (; i <= last && !gap(i) && level(i) === now; i++) pen.lineTo(...view.to(points.x[i], points.y[i]));
    pen.strokeStyle = colour(now);
    pen.stroke();
  }
  pen.lineCap = "butt";
}
function paintScaleBar(pen, view, height) {
  pen.strokeStyle = pen.fillStyle = css("--quiet"); pen.lineWidth = 1.5;
  pen.beginPath(); pen.moveTo(8, height - 8); pen.lineTo(8 + 20 * view.scale, height - 8); pen.stroke();
  pen.font = "12px system-ui, sans-serif"; pen.textAlign = "left";
  pen.fillText("20 m", 8, height - 13);
}
// A second canvas over the map, so that the map is not drawn again for every move.
function copyCanvas(canvas) {
  const copy = document.createElement("canvas");
  copy.width = canvas.width; copy.height = canvas.height;
  copy.getContext("2d").drawImage(canvas, 0, 0);
  return copy;
}
function restoreCanvas(canvas, copy) {
  const pen = canvas.getContext("2d");
  pen.save(); pen.setTransform(1, 0, 0, 1, 0, 0);
  pen.clearRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(copy, 0, 0);
  pen.restore();
  return pen;
}
