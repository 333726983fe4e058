// The robot in three dimensions, with the markers that RViz shows, drawn from the same messages.
const byId = (id) => document.getElementById(id);
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`);
const colour = ([r, g, b, a]) => `rgba(${[r, g, b].map((part) => Math.round(255 * part))}, ${a})`;
let shapes = [], room = null, corners = [], current = null, scene = null, waiting = false;

export function takeRobot(message) {
  shapes = message.shapes.map((shape) => ({ ...shape, faces: solid.capsule(shape.ends, shape.radius) }));
  room = message.room;
  byId('robot').hidden = false;
  if (!current) byId('scene-note').textContent = 'No joint states with all joints of the robot yet.';
  scene = scene || solid.view(byId('scene'), draw);
  corners = [0, 1].flatMap((x) => [0, 1].flatMap((y) => [0, 1].map((z) => [room[x][0], room[y][1], room[z][2]])));
  fit([]);
  draw();
}

const fit = (points) => scene.fit([...corners, ...points].map((point) => [point, 0]));

// A path outside the picture widens it, once: turn and zoom of the user are kept while nothing new comes.
function widen(lines) {
  const points = lines.flatMap((line) => line.points);
  const wide = [Math.min, Math.max].map((end, k) => room[k].map((value, c) => end(value, ...points.map((point) => point[c]))));
  if (String(wide) === String(room)) return;
  room = wide;
  fit(points);
}

export function takeScene(message) {
  if (!waiting) requestAnimationFrame(draw); // after the lights; not while the page is hidden
  waiting = true;
  current = message;
  byId('scene-note').textContent = message.fresh ? '' : 'The joint states are old: this is the last known position.';
}

// Without a connection, nobody knows whether the markers are still true.
export function loseScene() {
  if (current && (current.fresh || current.markers.length)) takeScene({ ...current, fresh: false, markers: [] });
}

const placed = (body, point) => (body < 0 ? point : solid.placed(current.poses, 12 * body, point));

function tip([from, to], size) { // a cone of lines would be hidden: a thick end is seen from everywhere
  const last = to.map((value, k) => from[k] + 0.8 * (value - from[k]));
  return { faces: solid.capsule([last, to], size), tint: 1 };
}

function solidOf(marker) {
  const rgb = marker.rgba.slice(0, 3).map((part) => 255 * part);
  if (marker.kind === 'ball') {
    const [[x, y, z]] = marker.points;
    return [{ faces: solid.capsule([[x, y, z], [x, y, z + 1e-4]], marker.size / 2), rgb, tint: 1 }];
  }
  if (marker.kind !== 'arrow' || marker.points.length < 2) return [];
  const shaft = { faces: solid.capsule(marker.points, marker.size / 2), rgb, tint: 1 };
  return [shaft, { ...tip(marker.points, marker.size), rgb }];
}

function draw() {
  waiting = false;
  if (!current || !scene) return;
  const lines = current.markers.filter(({ kind }) => kind === 'line');
  widen(lines);
  scene.clear(css('line'));
  const robot = shapes.map((shape) => ({
    rgb: solid.BASE, tint: shape.joint ? 0.72 : 1,
    faces: shape.faces.map((corners) => corners.map((corner) => placed(shape.body, corner))),
  }));
  scene.paint(robot);
  scene.paint(current.markers.flatMap(solidOf)); // in front: a light inside a thick link must be seen
  lines.forEach(({ points, rgba }) => scene.line(points, colour(rgba), 2));
  current.markers.filter(({ kind }) => kind === 'text')
    .forEach(({ points, text }) => scene.text(points[0], text, css('text'), css('card')));
}
