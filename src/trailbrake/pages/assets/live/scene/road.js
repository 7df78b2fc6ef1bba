// The road as meshes: asphalt, edge lines, kerbs, run-off, walls, the ground, trees, and the planned line.
import * as THREE from "../vendor/three.module.min.js";

const EDGE_LINE = 0.18, KERB_STRIPE = 2;  // m: width of the white line; stations of one colour of a kerb
const WALL_HEIGHT = 1.0, WALL_FOOT = 4;   // m above and below the road's surface at the wall
const TREES = 420, TREE_GAP = 9;          // m between a wall and the nearest tree
const COLOURS = { asphalt: 0x50545b, edge: 0xf4f4f0, red: 0xc8352b, white: 0xf0efe9, runoff: 0x6f8f4e, wall: 0xb9bec5, band: 0x2f6fb0, ground: 0x7d9b57 };

const pointsOf = (flat) => Array.from({ length: flat.length / 3 }, (_, i) => new THREE.Vector3(flat[3 * i], flat[3 * i + 1], flat[3 * i + 2]));

// A strip between two lines of points. `colour(i)` is that of the part behind station i.
function strip(left, right, closed, colour, lift = 0) {
  const position = [], colours = [], index = [], count = left.length, tint = new THREE.Color(), sharp = colour.length > 0;
  const add = (point) => { position.push(point.x, point.y, point.z + lift); colours.push(tint.r, tint.g, tint.b); };
  const last = closed ? count : count - 1;
  if (sharp) {  // each part has a colour of its own: no shared corners
    for (let i = 0; i < last; i++) {
      const next = (i + 1) % count, first = position.length / 3;
      tint.setHex(colour(i));
      add(left[i]); add(right[i]); add(left[next]); add(right[next]);
      index.push(first, first + 1, first + 2, first + 1, first + 3, first + 2);
    }
  } else {
    tint.setHex(colour());
    for (let i = 0; i < count; i++) { add(left[i]); add(right[i]); }
    for (let i = 0; i < last; i++) {
      const a = 2 * i, b = 2 * ((i + 1) % count);
      index.push(a, a + 1, b, a + 1, b + 1, b);
    }
  }
  return { position, colours, index };
}
function merge(parts) {
  const position = [], colours = [], index = [];
  for (const part of parts) {
    const first = position.length / 3;
    for (const value of part.position) position.push(value);
    for (const value of part.colours) colours.push(value);
    for (const value of part.index) index.push(value + first);
  }
  const made = new THREE.BufferGeometry();
  made.setAttribute("position", new THREE.Float32BufferAttribute(position, 3));
  made.setAttribute("color", new THREE.Float32BufferAttribute(colours, 3));
  // World metres, so that the grain is the same everywhere.
  made.setAttribute("uv", new THREE.Float32BufferAttribute(position.flatMap((v, i) => (i % 3 === 2 ? [] : [v / 6])), 2));
  made.setIndex(index);
  made.computeVertexNormals();
  return made;
}
// A grey grain that repeats every 6 m: speed can be seen on it.
function grain() {
  const size = 128, canvas = document.createElement("canvas"), pen = canvas.getContext("2d");
  canvas.width = canvas.height = size;
  const image = pen.createImageData(size, size);
  let seed = 7;
  for (let i = 0; i < image.data.length; i += 4) {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    const level = 205 + (seed / 2147483648) * 50;
    image.data[i] = image.data[i + 1] = image.data[i + 2] = level;
    image.data[i + 3] = 255;
  }
  pen.putImageData(image, 0, 0);
  const texture = new THREE.CanvasTexture(canvas);
  texture.wrapS = texture.wrapT = THREE.RepeatWrapping;
  texture.colorSpace = THREE.SRGBColorSpace;
  texture.anisotropy = 2;
  return texture;
}
const between = (from, to, metres) => from.map((point, i) => {
  const step = to[i].clone().sub(point), length = step.length();
  return point.clone().addScaledVector(step, length > 0 ? Math.min(metres / length, 1) : 0);
});
const raised = (points, metres) => points.map((point) => new THREE.Vector3(point.x, point.y, point.z + metres));

export function buildRoad(scene) {
  const group = new THREE.Group();
  if (!scene.strips) return { group, posts: [], heightAt: () => 0 };
  const lines = Object.fromEntries(Object.entries(scene.strips).map(([name, flat]) => [name, pointsOf(flat)])), { closed } = scene;
  const hex = (value) => () => value;
  const stripes = (i) => (Math.floor(i / KERB_STRIPE) % 2 ? COLOURS.white : COLOURS.red);
  const kerb = (side) => lines[`kerb_${side}`].map((point, i) => (scene.kerbs[2 * i + (side === "left" ? 0 : 1)] > 0.05 ? point : lines[`edge_${side}`][i]));
  const kerbs = { left: kerb("left"), right: kerb("right") };
  const flat = [
    strip(lines.edge_left, lines.edge_right, closed, hex(COLOURS.asphalt)),
    strip(lines.edge_left, between(lines.edge_left, lines.edge_right, EDGE_LINE), closed, hex(COLOURS.edge), 0.015),
    strip(between(lines.edge_right, lines.edge_left, EDGE_LINE), lines.edge_right, closed, hex(COLOURS.edge), 0.015),
    strip(lines.wall_left, kerbs.left, closed, hex(COLOURS.runoff)),
    strip(kerbs.right, lines.wall_right, closed, hex(COLOURS.runoff)),
    strip(raised(kerbs.left, 0.02), raised(lines.edge_left, scene.kerb_height), closed, (i) => stripes(i), 0.01),
    strip(raised(lines.edge_right, scene.kerb_height), raised(kerbs.right, 0.02), closed, (i) => stripes(i), 0.01),
  ];
  const mesh = new THREE.Mesh(merge(flat), new THREE.MeshLambertMaterial({ vertexColors: true, map: grain(), side: THREE.DoubleSide }));
  const walls = ["left", "right"].flatMap((side) => {
    const foot = lines[`wall_${side}`];
    return [
      strip(raised(foot, WALL_HEIGHT - 0.22), raised(foot, -WALL_FOOT), closed, hex(COLOURS.wall)),
      strip(raised(foot, WALL_HEIGHT), raised(foot, WALL_HEIGHT - 0.22), closed, (i) => (Math.floor(i / 8) % 2 ? COLOURS.white : COLOURS.band)),
    ];
  });
  group.add(mesh, new THREE.Mesh(merge(walls), new THREE.MeshLambertMaterial({ vertexColors: true, side: THREE.DoubleSide })));
  if (scene.ground) group.add(buildGround(scene.ground), buildTrees(scene.ground, lines));
  if (scene.line) group.add(buildLine(scene.line, closed));
  // Where trackside cameras stand: on the walls, alternately, some 140 m apart.
  const gap = Math.max(1, Math.round(140 / lines.edge_left[0].distanceTo(lines.edge_left[1])));
  const posts = lines.edge_left.flatMap((_, i) => (i % gap ? [] : [raised([lines[(i / gap) % 2 ? "wall_right" : "wall_left"][i]], 3.2)[0]]));
  return { group, posts, heightAt: nearestHeight(lines) };
}
// For wires without a height: that of the nearest station, searched near the last one first.
function nearestHeight(lines) {
  const middle = lines.edge_left.map((point, i) => point.clone().add(lines.edge_right[i]).multiplyScalar(0.5));
  return (x, y) => {
    let best = Infinity, z = 0;
    for (const point of middle) {
      const far = (point.x - x) ** 2 + (point.y - y) ** 2;
      if (far < best) { best = far; z = point.z; }
    }
    return z;
  };
}
function buildGround({ x0, y0, cell, count, z }) {
  const position = [], index = [];
  for (let row = 0; row < count; row++) for (let column = 0; column < count; column++) position.push(x0 + column * cell, y0 + row * cell, z[row * count + column]);
  for (let row = 0; row + 1 < count; row++) for (let column = 0; column + 1 < count; column++) {
    const a = row * count + column;
    index.push(a, a + 1, a + count, a + 1, a + count + 1, a + count);
  }
  const made = new THREE.BufferGeometry();
  made.setAttribute("position", new THREE.Float32BufferAttribute(position, 3));
  made.setIndex(index);
  made.computeVertexNormals();
  return new THREE.Mesh(made, new THREE.MeshLambertMaterial({ color: COLOURS.ground }));
}
function buildTrees({ x0, y0, cell, count, z }, lines) {
  let seed = 11;
  const random = () => { seed = (seed * 1103515245 + 12345) % 2147483648; return seed / 2147483648; };
  const walls = [...lines.wall_left, ...lines.wall_right].filter((_, i) => i % 4 === 0), places = [];
  const middle = lines.edge_left.map((point, i) => point.clone().add(lines.edge_right[i]).multiplyScalar(0.5));
  const free = (x, y) => walls.every((wall) => (wall.x - x) ** 2 + (wall.y - y) ** 2 > TREE_GAP ** 2) && middle.every((point, i) => (
    (point.x - x) ** 2 + (point.y - y) ** 2 > lines.wall_left[i].distanceToSquared(lines.wall_right[i]) / 3));
  for (let tried = 0; tried < 3 * TREES && places.length < TREES; tried++) {
    const near = walls[Math.floor(random() * walls.length)], angle = 2 * Math.PI * random(), far = 12 + 90 * random() ** 2;
    const x = near.x + far * Math.cos(angle), y = near.y + far * Math.sin(angle);
    const column = Math.round((x - x0) / cell), row = Math.round((y - y0) / cell);
    if (column >= 0 && row >= 0 && column < count && row < count && free(x, y)) places.push([x, y, z[row * count + column], 0.7 + 0.8 * random()]);
  }
  const crown = new THREE.ConeGeometry(2.6, 8, 6);
  crown.rotateX(Math.PI / 2);
  crown.translate(0, 0, 5);
  const trees = new THREE.InstancedMesh(crown, new THREE.MeshLambertMaterial({ color: 0xffffff, flatShading: true }), places.length);
  const matrix = new THREE.Matrix4(), tint = new THREE.Color();
  places.forEach(([x, y, height, size], i) => {
    matrix.makeScale(size, size, size).setPosition(x, y, height);
    trees.setMatrixAt(i, matrix);
    trees.setColorAt(i, tint.setHSL(0.27 + 0.06 * random(), 0.32, 0.2 + 0.1 * random()));
  });
  return trees;
}
function buildLine(flat, closed) {
  const points = pointsOf(flat), side = points.map((point, i) => {
    const next = points[(i + 1) % points.length], before = points[(i + points.length - 1) % points.length];
    const along = next.clone().sub(before).setZ(0).normalize();
    return new THREE.Vector3(-along.y, along.x, 0).multiplyScalar(0.14);
  });
  const left = points.map((point, i) => point.clone().add(side[i])), right = points.map((point, i) => point.clone().sub(side[i]));
  const material = new THREE.MeshBasicMaterial({ color: 0x35c2ff, transparent: true, opacity: 0.75, side: THREE.DoubleSide });
  return new THREE.Mesh(merge([strip(left, right, closed, () => 0xffffff, 0.05)]), material);
}
