'use strict';
// The page's script: torque curves, the moving robot, the search. Without it all else is readable.
(() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const floats = (text) => {
    const bytes = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
    return new Float32Array(bytes.buffer);
  };
  const byId = (id) => document.getElementById(id);
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`);
  const element = (tag, properties = {}, ...children) => {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  };
  const redraws = [];

  // ---- torque curves ----
  // Name, colour and width of each curve.
  const LINES = data.curves ? data.curves.lines : [];
  const plots = [];
  let time = null;

  function shown(plot) {
    const { min, max } = plot.scales.x;
    return [min, max];
  }

  function zoomTo(min, max) {
    const first = time[0], last = time[time.length - 1];
    const width = Math.min(Math.max(max - min, 5 * (last - first) / time.length), last - first);
    const start = Math.min(Math.max((min + max - width) / 2, first), last - width);
    plots.forEach(({ plot }) => plot.setScale('x', { min: start, max: start + width }));
    byId('range').textContent = `${start.toFixed(2)} s to ${(start + width).toFixed(2)} s`;
  }

  const ZOOMS = {
    in: ([a, b]) => [a + (b - a) / 4, b - (b - a) / 4],
    out: ([a, b]) => [a - (b - a) / 2, b + (b - a) / 2],
    left: ([a, b]) => [a - (b - a) / 4, b - (b - a) / 4],
    right: ([a, b]) => [a + (b - a) / 4, b + (b - a) / 4],
    all: () => [time[0], time[time.length - 1]],
  };

  function axis(extra) {
    const line = { stroke: () => colour('line'), width: 1 };
    return { stroke: () => colour('faint'), grid: line, ticks: line, font: '11px system-ui', ...extra };
  }

  function plotOf(joint, box) {
    const series = LINES.map(([label, shade, width]) => ({
      label, stroke: () => colour(shade), width, points: { show: false },
    }));
    const readout = element('output');
    const place = element('div');
    box.append(element('h3', { textContent: `${joint.name}: torque [${joint.unit}] over time [s]` }), place, readout);
    const plot = new uPlot({
      width: Math.max(place.clientWidth, 200), height: 180, legend: { show: false },
      scales: { x: { time: false } }, series: [{}, ...series],
      axes: [axis({ size: 30 }), axis({ size: 52 })],
      cursor: { sync: { key: 'torque' }, drag: { x: true, y: false, setScale: false } },
      hooks: {
        setSelect: [(u) => {
          if (u.select.width > 4) zoomTo(u.posToVal(u.select.left, 'x'),
            u.posToVal(u.select.left + u.select.width, 'x'));
          u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        }],
        setCursor: [(u) => {
          const at = u.cursor.idx;
          readout.textContent = at == null ? '' : `${u.data[0][at].toFixed(3)} s: ` +
            LINES.map(([name], k) => `${name} ${u.data[k + 1][at].toPrecision(4)}`).join(', ');
        }],
      },
    }, [time, ...joint.series.map(floats)], place);
    plot.root.setAttribute('role', 'img');
    plot.root.setAttribute('aria-label', `Torque of ${joint.name} over time`);
    plot.over.addEventListener('dblclick', () => zoomTo(...ZOOMS.all()));
    return { plot, box, place };
  }

  function toggle(container, text, key, change) {
    const input = element('input', { type: 'checkbox', checked: true });
    input.addEventListener('change', () => change(input.checked));
    const label = element('label', {}, input);
    if (key) label.append(element('span', { className: `key ${key}` }));
    label.append(text);
    container.append(label);
  }

  function drawCurves(given) {
    time = floats(given.time);
    given.joints.forEach((joint) => {
      const box = element('div', { className: 'plot' });
      byId('plots').append(box);
      plots.push(plotOf(joint, box));
      toggle(byId('joints'), joint.name, '', (on) => { box.hidden = !on; resize(); });
    });
    LINES.forEach(([name, shade], k) => toggle(byId('series'), name, shade,
      (on) => plots.forEach(({ plot }) => plot.setSeries(k + 1, { show: on }))));
    document.querySelectorAll('[data-zoom]').forEach((button) => button.addEventListener('click',
      () => zoomTo(...ZOOMS[button.dataset.zoom](shown(plots[0].plot)))));
    zoomTo(...(given.focus || ZOOMS.all()));
    redraws.push(() => plots.forEach(({ plot }) => plot.redraw(false, true)));
  }

  function resize() {
    plots.forEach(({ plot, place, box }) => {
      if (!box.hidden) plot.setSize({ width: Math.max(place.clientWidth, 200), height: 180 });
    });
  }

  // ---- robot ----
  // A painter's algorithm on a plain canvas: it needs no graphics card and prints.
  const HEAT = [[59, 125, 216], [120, 180, 200], [242, 192, 55], [215, 48, 31]];
  function heat(share) {
    const at = Math.min(Math.max(share, 0), 1) * (HEAT.length - 1);
    const k = Math.min(Math.floor(at), HEAT.length - 2);
    return HEAT[k].map((low, c) => low + (at - k) * (HEAT[k + 1][c] - low));
  }

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

  function robotView(given) {
    const canvas = byId('robot'), context = canvas.getContext('2d');
    const times = floats(given.time), poses = floats(given.poses), errors = floats(given.errors);
    const count = given.bodies.length, width = given.joints.length;
    const shapes = given.shapes.map((shape) => ({ ...shape, faces: capsule(shape.ends, shape.radius) }));
    const view = { turn: -0.9, tilt: 0.35, zoom: 1, x: 0, y: 0 };
    let frame = 0, playing = false, last = 0, clock = times[0];

    const placed = (body, point, at) => {
      if (body < 0) return point;
      const m = (at * count + body) * 12;
      return [0, 1, 2].map((r) => poses[m + 4 * r] * point[0] + poses[m + 4 * r + 1] * point[1] +
        poses[m + 4 * r + 2] * point[2] + poses[m + 4 * r + 3]);
    };
    const low = [0, 0, 0], high = [0, 0, 0];
    const step = Math.max(1, Math.floor(times.length / 60));
    for (let at = 0; at < times.length; at += step) {
      shapes.forEach((shape) => shape.ends.forEach((end) => placed(shape.body, end, at).forEach((value, k) => {
        low[k] = Math.min(low[k], value - shape.radius);
        high[k] = Math.max(high[k], value + shape.radius);
      })));
    }
    const middle = low.map((value, k) => (value + high[k]) / 2);
    const reach = Math.hypot(...high.map((value, k) => value - low[k])) / 2 || 1;
    const floor = 0;  // the base stands on it

    const unit = () => Math.min(canvas.width * 0.9, canvas.height) * 0.5;

    function project(point) {
      const [x, y, z] = point.map((value, k) => (value - middle[k]) / reach);
      const c = Math.cos(view.turn), s = Math.sin(view.turn);
      const ct = Math.cos(view.tilt), st = Math.sin(view.tilt);
      const right = c * x - s * y, away = s * x + c * y;
      const up = ct * z - st * away, depth = ct * away + st * z;
      const near = 3.6 / (3.6 + depth), size = unit() * view.zoom;
      return [canvas.width / 2 + (right * near - view.x) * size,
        canvas.height / 2 - (up * near - view.y) * size, depth, near];
    }

    // Let the recorded motion fill the canvas as it is first seen.
    function fit() {
      size();
      Object.assign(view, { zoom: 1, x: 0, y: 0 });
      const least = [1e9, 1e9], most = [-1e9, -1e9];
      for (let at = 0; at < times.length; at += step) {
        shapes.forEach((shape) => shape.ends.forEach((end) => {
          const p = project(placed(shape.body, end, at)), room = p[3] * shape.radius / reach;
          [(p[0] - canvas.width / 2) / unit(), (canvas.height / 2 - p[1]) / unit()].forEach((value, k) => {
            least[k] = Math.min(least[k], value - room);
            most[k] = Math.max(most[k], value + room);
          });
        }));
      }
      [view.x, view.y] = least.map((value, k) => (value + most[k]) / 2);
      view.zoom = 0.88 * Math.min(...[canvas.width, canvas.height].map((room, k) => room / unit() / (most[k] - least[k])));
    }

    function size() {
      const ratio = window.devicePixelRatio || 1;
      canvas.width = canvas.clientWidth * ratio;
      canvas.height = canvas.clientHeight * ratio;
    }

    function ground() {
      context.strokeStyle = colour('line');
      context.lineWidth = 1;
      context.beginPath();
      for (let k = -5; k <= 5; k += 1) {
        const far = reach * 0.75, at = far * k / 5;
        [[[at, -far], [at, far]], [[-far, at], [far, at]]].forEach((ends) => {
          const [p, q] = ends.map(([x, y]) => project([x, y, floor]));
          context.moveTo(p[0], p[1]);
          context.lineTo(q[0], q[1]);
        });
      }
      context.stroke();
    }

    function draw() {
      size();
      ground();
      const faces = [];
      shapes.forEach((shape) => {
        const share = shape.body < 0 ? -1 : errors[frame * width + given.bodies[shape.body]] / data.limit;
        const rgb = share < 0 ? [140, 150, 165] : heat(share);
        const tint = shape.joint ? 0.72 : 1;
        shape.faces.forEach((corners) => {
          const p = corners.map((corner) => project(placed(shape.body, corner, frame)));
          const a = [p[2][0] - p[0][0], p[2][1] - p[0][1]], b = [p[3][0] - p[1][0], p[3][1] - p[1][1]];
          const turned = a[0] * b[1] - a[1] * b[0];
          if (turned >= 0) return;
          // The screen's area of a face against its size says how much it faces the viewer.
          const deep = [p[2][2] - p[0][2], p[3][2] - p[1][2]].map((d) => d * canvas.height * 0.5);
          const n = [a[1] * deep[1] - deep[0] * b[1], deep[0] * b[0] - a[0] * deep[1], turned];
          const light = (0.35 * n[0] + 0.55 * n[1] * 1 - 0.75 * n[2]) / (Math.hypot(...n) || 1);
          const shade = tint * (0.55 + 0.45 * Math.max(light, -0.2));
          faces.push({ p, depth: (p[0][2] + p[2][2]) / 2, fill: `rgb(${rgb.map((c) => Math.round(c * shade))})` });
        });
      });
      faces.sort((one, other) => other.depth - one.depth).forEach(({ p, fill }) => {
        context.fillStyle = context.strokeStyle = fill;
        context.beginPath();
        p.forEach(([x, y], k) => (k ? context.lineTo(x, y) : context.moveTo(x, y)));
        context.closePath();
        context.fill();
        context.stroke();
      });
      list();
    }

    const rows = given.joints.map((name) => {
      const dot = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
      const circle = document.createElementNS('http://www.w3.org/2000/svg', 'circle');
      dot.setAttribute('viewBox', '0 0 14 14');
      dot.setAttribute('aria-hidden', 'true');
      [['cx', 7], ['cy', 7], ['r', 6]].forEach(([key, value]) => circle.setAttribute(key, value));
      dot.append(circle);
      const value = element('b');
      byId('robot-errors').append(element('li', {}, dot, element('span', { textContent: name }), value));
      return { circle, value };
    });

    function list() {
      rows.forEach(({ circle, value }, k) => {
        const share = errors[frame * width + k];
        circle.setAttribute('fill', `rgb(${heat(share / data.limit).map(Math.round)})`);
        value.textContent = `${(100 * share).toFixed(1)} %`;
      });
      byId('clock').textContent = `${times[frame].toFixed(2)} s`;
      byId('seek').setAttribute('aria-valuetext', `${times[frame].toFixed(2)} seconds`);
    }

    function show(at) {
      frame = Math.min(Math.max(Math.round(at), 0), times.length - 1);
      byId('seek').value = Math.round(1000 * frame / (times.length - 1));
      draw();
    }

    function play(now) {
      if (!playing) return;
      clock += Math.min(now - last, 200) / 1000 * Number(byId('speed').value);
      last = now;
      if (clock > times[times.length - 1]) clock = times[0];
      let at = frame;
      while (at + 1 < times.length && times[at + 1] <= clock) at += 1;
      show(clock < times[frame] ? 0 : at);
      requestAnimationFrame(play);
    }

    byId('play').addEventListener('click', () => {
      playing = !playing;
      byId('play').textContent = playing ? 'Pause' : 'Play';
      byId('play').setAttribute('aria-pressed', String(playing));
      clock = times[frame];
      last = performance.now();
      if (playing) requestAnimationFrame(play);
    });
    byId('seek').addEventListener('input', (event) => {
      show(Number(event.target.value) / 1000 * (times.length - 1));
      clock = times[frame];
    });
    const worst = () => {
      let at = 0;
      errors.forEach((value, k) => { if (value > errors[at]) at = k; });
      show(Math.floor(at / width));
      clock = times[frame];
    };
    byId('worst').addEventListener('click', worst);
    canvas.addEventListener('pointermove', (event) => {
      if (!event.buttons) return;
      view.turn -= event.movementX * 0.01;
      view.tilt = Math.min(Math.max(view.tilt + event.movementY * 0.01, -0.3), 1.5);
      draw();
    });
    canvas.addEventListener('pointerdown', (event) => canvas.setPointerCapture(event.pointerId));
    const KEYS = { ArrowLeft: ['turn', -0.1], ArrowRight: ['turn', 0.1], ArrowUp: ['tilt', 0.1], ArrowDown: ['tilt', -0.1] };
    canvas.addEventListener('keydown', (event) => {
      const move = KEYS[event.key];
      if (move) view[move[0]] += move[1];
      else if (event.key === '+') view.zoom *= 1.15;
      else if (event.key === '-') view.zoom /= 1.15;
      else return;
      event.preventDefault();
      draw();
    });
    fit();
    worst();
    redraws.push(draw);
  }

  // ---- search ----
  function searchParameters() {
    const rows = [...document.querySelectorAll('#parameter-table tbody tr')];
    byId('search').addEventListener('input', (event) => {
      const words = event.target.value.toLowerCase().split(/\s+/).filter(Boolean);
      let found = 0;
      rows.forEach((row) => {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
        found += Number(!row.hidden);
      });
      byId('found').textContent = `${found} rows`;
    });
  }

  if (data.curves) drawCurves(data.curves);
  if (data.robot) robotView(data.robot);
  if (byId('search')) searchParameters();
  const redraw = () => { resize(); redraws.forEach((each) => each()); };
  window.addEventListener('resize', redraw);
  [['beforeprint', true], ['afterprint', false]].forEach(([event, paper]) =>
    window.addEventListener(event, () => {
      document.documentElement.classList.toggle('paper', paper);
      redraw();
    }));
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
  document.documentElement.dataset.ready = 'true';
})();
