// Torque curves, one plot per joint. A gap in a curve is a time without data.
import { element } from '/joints.js';

const KEPT = 120; // s
const SERIES = [
  { key: 'measured', label: 'measured', colour: '--measured', width: 2 },
  { key: 'model', label: 'model (measured + error)', colour: '--model', dash: [6, 3], width: 1.5 },
  { key: 'error', label: 'error', colour: '--error', width: 1.5 },
  { key: 'threshold', label: 'threshold ±', colour: '--threshold', dash: [2, 3], width: 1 },
  { key: 'additive', label: 'additive (feed-forward)', colour: '--additive', dash: [10, 3, 2, 3], width: 1.5 },
];
const shown = new Set(SERIES.map((series) => series.key));
const plots = new Map();
let times = [];
let dirty = false;
let paused = false;
const visible = new Set(); // figures on the screen: only these are drawn
const screen = new IntersectionObserver((entries) => entries.forEach(({ target, isIntersecting }) => {
  if (isIntersecting) visible.add(target); else visible.delete(target);
  dirty = true;
}));

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function columnsOf(joint) {
  const limit = joint.threshold ?? null;
  return [joint.measured ?? null, joint.model ?? null, joint.error ?? null, limit, joint.additive ?? null,
    limit === null ? null : -limit];
}

export function addToPlots(frame) {
  if (paused) return;
  const names = frame.joints.map((joint) => joint.name).join('\n');
  if (names !== [...plots.keys()].join('\n')) makePlots(frame);
  if (!plots.size) return;
  if (frame.time - times.at(-1) > 1) { // a pause, or a lost connection: no line across it
    times.push(times.at(-1) + 0.05);
    plots.forEach((plot) => plot.data.forEach((column) => column.push(null)));
  }
  times.push(frame.time);
  frame.joints.forEach((joint) => columnsOf(joint).forEach((value, i) => plots.get(joint.name).data[i].push(value)));
  const old = times.findIndex((time) => time > frame.time - KEPT);
  if (old > 200) { // rarely, because it copies
    times.splice(0, old);
    plots.forEach((plot) => plot.data.forEach((column) => column.splice(0, old)));
  }
  dirty = true;
}

function makePlots(frame) {
  const parent = document.getElementById('plots');
  times = [];
  plots.forEach((plot) => { plot.chart.destroy(); screen.unobserve(plot.figure); visible.delete(plot.figure); });
  plots.clear();
  parent.replaceChildren();
  frame.joints.forEach((joint) => {
    const figure = element('figure', 'plot', parent);
    const caption = element('figcaption', '', figure);
    caption.textContent = `${joint.name} [${joint.unit}]`;
    screen.observe(figure);
    const data = Array.from({ length: SERIES.length + 1 }, () => []);
    const chart = new uPlot(options(figure), [[], ...data], figure);
    chart.root.setAttribute('aria-hidden', 'true'); // the same numbers are in the list of joints
    plots.set(joint.name, { chart, data, figure });
  });
}

function options(figure) {
  const curve = (series) => ({
    label: series.label, stroke: () => colour(series.colour), width: series.width, dash: series.dash,
    points: { show: false }, show: shown.has(series.key),
  });
  const axis = { stroke: () => colour('--muted'), grid: { stroke: () => colour('--line'), width: 1 },
    ticks: { stroke: () => colour('--line') }, font: '11px system-ui' };
  const clock = (_, splits) => splits.map((t) => new Date(t * 1000).toLocaleTimeString('en-GB'));
  return {
    width: figure.clientWidth || 320, height: 170, legend: { show: false },
    cursor: { y: false }, scales: { x: { time: true, range: span } },
    axes: [{ ...axis, values: clock, space: 90, size: 28 }, { ...axis, size: 46 }],
    series: [{}, ...SERIES.map(curve), curve(SERIES[3])],
  };
}

function span(_, low, high) {
  const seconds = Number(document.getElementById('span').value);
  return high === null ? [0, 1] : [high - seconds, high];
}

// Points to draw: those of the chosen time at 20 per second, and some more for the left edge.
const kept = () => 20 * Number(document.getElementById('span').value) + 5;

export function drawPlots() {
  if (!dirty || document.hidden) return;
  dirty = false;
  plots.forEach((plot) => {
    if (!visible.has(plot.figure)) return;
    const width = plot.figure.clientWidth;
    if (width && width !== plot.chart.width) plot.chart.setSize({ width, height: 170 });
    const first = Math.max(0, times.length - kept());
    plot.chart.setData([times, ...plot.data].map((column) => (first ? column.slice(first) : column)));
  });
}

function toggle(series, button) {
  const on = !shown.has(series.key);
  if (on) shown.add(series.key); else shown.delete(series.key);
  button.setAttribute('aria-pressed', String(on));
  const index = SERIES.indexOf(series) + 1;
  plots.forEach((plot) => {
    plot.chart.setSeries(index, { show: on });
    if (series.key === 'threshold') plot.chart.setSeries(SERIES.length + 1, { show: on });
  });
}

SERIES.forEach((series) => {
  const button = element('button', `curve ${series.key}`, element('li', '', document.getElementById('series')));
  button.type = 'button';
  button.setAttribute('aria-pressed', 'true');
  element('span', 'line', button).setAttribute('aria-hidden', 'true');
  button.append(series.label);
  button.addEventListener('click', () => toggle(series, button));
});
document.getElementById('pause').addEventListener('click', (event) => {
  paused = !paused;
  event.target.setAttribute('aria-pressed', String(paused));
  event.target.textContent = paused ? 'Continue' : 'Pause';
});
document.getElementById('span').addEventListener('change', () => { dirty = true; });
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { dirty = true; });
