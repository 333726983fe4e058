'use strict';
// Bodies in three dimensions on a plain canvas, by a painter's algorithm: it needs no graphics card and prints.
// The report and the live page use it.
const solid = (() => {
  const BASE = [140, 150, 165];

  function capsule([a, b], radius, around = 12, rings = 3) {
    const along = b.map((value, k) => value - a[k]);
    const length = Math.hypot(...along) || 1;
    const w = along.map((value) => value / length);
    const helper = Math.abs(w[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0];
    const cross = (p, q) => [p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]];
    let u = cross(w, helper);
    u = u.map((value) => value / Math.hypot(...u));
    const v = cross(w, u), rows = [];
    const ring = (centre, angle) => {
      const out = radius * Math.cos(angle), up = radius * Math.sin(angle), row = [];
      for (let k = 0; k < around; k += 1) {
        const turn = 2 * Math.PI * k / around;
        row.push([0, 1, 2].map((c) => centre[c] + up * w[c] +
          out * (Math.cos(turn) * u[c] + Math.sin(turn) * v[c])));
      }
      rows.push(row);
    };
    for (let k = rings; k >= 0; k -= 1) ring(a, -Math.PI / 2 * k / rings);
    for (let k = 0; k <= rings; k += 1) ring(b, Math.PI / 2 * k / rings);
    const faces = [];
    for (let r = 0; r + 1 < rows.length; r += 1) {
      for (let k = 0; k < around; k += 1) {
        const next = (k + 1) % around;
        faces.push([rows[r][k], rows[r][next], rows[r + 1][next], rows[r + 1][k]]);
      }
    }
    return faces;
  }

  // A point of a body in the base frame; its pose is 12 numbers of `poses` from `start`, row by row.
  function placed(poses, start, point) {
    return [0, 4, 8].map((r) => poses[start + r] * point[0] + poses[start + r + 1] * point[1] +
      poses[start + r + 2] * point[2] + poses[start + r + 3]);
  }

  function view(canvas, redraw) {
    const context = canvas.getContext('2d');
    const eye = { turn: -0.9, tilt: 0.35, zoom: 1, x: 0, y: 0 };
    let middle = [0, 0, 0], reach = 1, labels = [];
    const unit = () => Math.min(canvas.width * 0.9, canvas.height) * 0.5;

    function project(point) {
      const [x, y, z] = point.map((value, k) => (value - middle[k]) / reach);
      const c = Math.cos(eye.turn), s = Math.sin(eye.turn);
      const ct = Math.cos(eye.tilt), st = Math.sin(eye.tilt);
      const right = c * x - s * y, away = s * x + c * y;
      const up = ct * z - st * away, depth = ct * away + st * z;
      const near = 3.6 / (3.6 + depth), size = unit() * eye.zoom;
      return [canvas.width / 2 + (right * near - eye.x) * size,
        canvas.height / 2 - (up * near - eye.y) * size, depth, near];
    }

    function size() {
      const ratio = window.devicePixelRatio || 1;
      canvas.width = canvas.clientWidth * ratio;
      canvas.height = canvas.clientHeight * ratio;
    }

    // Let balls, [centre, radius], fill the canvas; the base stands on the ground.
    function fit(balls) {
      const low = [0, 0, 0], high = [0, 0, 0];
      balls.forEach(([point, radius]) => point.forEach((value, k) => {
        low[k] = Math.min(low[k], value - radius);
        high[k] = Math.max(high[k], value + radius);
      }));
      middle = low.map((value, k) => (value + high[k]) / 2);
      reach = Math.hypot(...high.map((value, k) => value - low[k])) / 2 || 1;
      size();
      Object.assign(eye, { zoom: 1, x: 0, y: 0 });
      const least = [1e9, 1e9], most = [-1e9, -1e9];
      balls.forEach(([point, radius]) => {
        const p = project(point), room = p[3] * radius / reach;
        [(p[0] - canvas.width / 2) / unit(), (canvas.height / 2 - p[1]) / unit()].forEach((value, k) => {
          least[k] = Math.min(least[k], value - room);
          most[k] = Math.max(most[k], value + room);
        });
      });
      [eye.x, eye.y] = least.map((value, k) => (value + most[k]) / 2);
      eye.zoom = 0.88 * Math.min(...[canvas.width, canvas.height].map((room, k) => room / unit() / (most[k] - least[k])));
    }

    function line(points, colour, width = 1) {
      context.strokeStyle = colour;
      context.lineWidth = width;
      context.beginPath();
      points.map(project).forEach(([x, y], k) => (k ? context.lineTo(x, y) : context.moveTo(x, y)));
      context.stroke();
    }

    // Words above a point, higher where others are, with a rim of the paper's colour.
    function text(point, words, colour, paper) {
      const ratio = window.devicePixelRatio || 1, high = 14 * ratio;
      let [x, y] = project(point);
      context.font = `${12 * ratio}px system-ui`;
      const half = context.measureText(words).width / 2;
      x = Math.min(Math.max(x, half), Math.max(canvas.width - half, half));
      // From the lowest up, each once: rounding may leave `other.y - y` below `high`.
      labels.filter((each) => Math.abs(each.x - x) < each.half + half).sort((one, other) => other.y - one.y)
        .forEach((each) => { if (Math.abs(each.y - y) < high) y = each.y - high; });
      labels.push({ x, y, half });
      Object.assign(context, { fillStyle: colour, strokeStyle: paper, lineWidth: 3 * ratio, lineJoin: 'round', textAlign: 'center' });
      context.strokeText(words, x, y);
      context.fillText(words, x, y);
    }

    // An empty ground.
    function clear(colour) {
      size();
      labels = [];
      for (let k = -5; k <= 5; k += 1) {
        const far = reach * 0.75, at = far * k / 5;
        line([[at, -far, 0], [at, far, 0]], colour);
        line([[-far, at, 0], [far, at, 0]], colour);
      }
    }

    // Bodies { faces, rgb, tint }: the corners of a face are points of the base frame.
    function paint(bodies) {
      const visible = [];
      bodies.forEach(({ faces, rgb, tint }) => faces.forEach((corners) => {
        const p = corners.map(project);
        const a = [p[2][0] - p[0][0], p[2][1] - p[0][1]], b = [p[3][0] - p[1][0], p[3][1] - p[1][1]];
        const turned = a[0] * b[1] - a[1] * b[0];
        if (turned >= 0) return;
        // The screen's area of a face against its size says how much it faces the viewer.
        const deep = [p[2][2] - p[0][2], p[3][2] - p[1][2]].map((d) => d * canvas.height * 0.5);
        const n = [a[1] * deep[1] - deep[0] * b[1], deep[0] * b[0] - a[0] * deep[1], turned];
        const light = (0.35 * n[0] + 0.55 * n[1] - 0.75 * n[2]) / (Math.hypot(...n) || 1);
        const shade = tint * (0.55 + 0.45 * Math.max(light, -0.2));
        visible.push({ p, depth: (p[0][2] + p[2][2]) / 2, fill: `rgb(${rgb.map((c) => Math.round(c * shade))})` });
      }));
      visible.sort((one, other) => other.depth - one.depth).forEach(({ p, fill }) => {
        context.fillStyle = context.strokeStyle = fill;
        context.beginPath();
        p.forEach(([x, y], k) => (k ? context.lineTo(x, y) : context.moveTo(x, y)));
        context.closePath();
        context.fill();
        context.stroke();
      });
    }

    canvas.addEventListener('pointermove', (event) => {
      if (!event.buttons) return;
      eye.turn -= event.movementX * 0.01;
      eye.tilt = Math.min(Math.max(eye.tilt + event.movementY * 0.01, -0.3), 1.5);
      redraw();
    });
    canvas.addEventListener('pointerdown', (event) => canvas.setPointerCapture(event.pointerId));
    const KEYS = { ArrowLeft: ['turn', -0.1], ArrowRight: ['turn', 0.1], ArrowUp: ['tilt', 0.1], ArrowDown: ['tilt', -0.1] };
    canvas.addEventListener('keydown', (event) => {
      const move = KEYS[event.key];
      if (move) eye[move[0]] += move[1];
      else if (event.key === '+') eye.zoom *= 1.15;
      else if (event.key === '-') eye.zoom /= 1.15;
      else return;
      event.preventDefault();
      redraw();
    });
    return { fit, clear, paint, line, text };
  }

  return { BASE, capsule, placed, view };
})();
