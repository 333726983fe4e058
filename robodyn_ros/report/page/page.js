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
    zoomTo(...ZOOMS.all());
    redraws.push(() => plots.forEach(({ plot }) => plot.redraw(false, true)));
  }

  function resize() {
    plots.forEach(({ plot, place, box }) => {
      if (!box.hidden) plot.setSize({ width: Math.max(place.clientWidth, 200), height: 180 });
    });
  }

  // ---- robot ----
  const HEAT = [[59, 125, 216], [120, 180, 200], [242, 192, 55], [215, 48, 31]];
  function heat(share) {
    const at = Math.min(Math.max(share, 0), 1) * (HEAT.length - 1);
    const k = Math.min(Math.floor(at), HEAT.length - 2);
    return HEAT[k].map((low, c) => low + (at - k) * (HEAT[k + 1][c] - low));
  }

  function robotView(given) {
    const canvas = byId('robot'), scene = solid.view(canvas, () => draw());
    const times = floats(given.time), poses = floats(given.poses), errors = floats(given.errors);
    const count = given.bodies.length, width = given.joints.length;
    const shapes = given.shapes.map((shape) => ({ ...shape, faces: solid.capsule(shape.ends, shape.radius) }));
    // frame -1: the whole recording, with the errors of the table
    let frame = -1, playing = false, last = 0, clock = times[0];
    const shown = () => Math.max(frame, 0);
    const error = (k) => (frame < 0 ? given.mean[k] : errors[frame * width + k]);

    const placed = (body, point, at) => (body < 0 ? point : solid.placed(poses, (at * count + body) * 12, point));
    const step = Math.max(1, Math.floor(times.length / 60)), points = [];
    for (let at = 0; at < times.length; at += step) {
      shapes.forEach((shape) => shape.ends.forEach((end) => points.push([placed(shape.body, end, at), shape.radius])));
    }

    function draw() {
      scene.clear(colour('line'));
      scene.paint(shapes.map((shape) => {
        const share = shape.body < 0 ? -1 : error(given.bodies[shape.body]) / data.limit;
        return {
          rgb: share < 0 ? solid.BASE : heat(share), tint: shape.joint ? 0.72 : 1,
          faces: shape.faces.map((corners) => corners.map((corner) => placed(shape.body, corner, shown()))),
        };
      }));
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
        const share = error(k);
        circle.setAttribute('fill', `rgb(${heat(share / data.limit).map(Math.round)})`);
        value.textContent = `${(100 * share).toFixed(1)} %`;
      });
      byId('clock').textContent = frame < 0 ? 'all' : `${times[frame].toFixed(2)} s`;
      byId('seek').setAttribute('aria-valuetext', frame < 0 ? 'whole recording' : `${times[frame].toFixed(2)} seconds`);
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
      let at = shown();
      while (at + 1 < times.length && times[at + 1] <= clock) at += 1;
      show(clock < times[shown()] ? 0 : at);
      requestAnimationFrame(play);
    }

    byId('play').addEventListener('click', () => {
      playing = !playing;
      byId('play').textContent = playing ? 'Pause' : 'Play';
      byId('play').setAttribute('aria-pressed', String(playing));
      clock = times[shown()];
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
    scene.fit(points);
    draw();
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

  // ---- commands to copy ----
  document.querySelectorAll('pre[data-copy]').forEach((command) => {
    const text = command.textContent;
    const button = element('button', { type: 'button', className: 'copy noprint', textContent: 'Copy' });
    button.addEventListener('click', async () => {
      try {
        await navigator.clipboard.writeText(text);
        button.textContent = 'Copied';
      } catch {
        getSelection().selectAllChildren(command);
        button.textContent = 'Selected';
      }
    });
    command.before(button);
  });

  if (data.curves) drawCurves(data.curves);
  if (data.robot) robotView(data.robot);
  if (byId('search')) searchParameters();
  const redraw = () => { resize(); redraws.forEach((each) => each()); };
  window.addEventListener('resize', redraw);
  [['beforeprint', true], ['afterprint', false]].forEach(([event, paper]) =>
    window.addEventListener(event, () => {
      document.documentElement.classList.toggle('paper', paper);
      if (paper) document.querySelectorAll('details.fold').forEach((part) => { part.open = true; });
      redraw();
    }));
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
  document.documentElement.dataset.ready = 'true';
})();
