// Connection to the server, and what is shown when it is lost. Old data are never shown as valid.
import { showJoints, LEVELS } from '/joints.js';
import { addToPlots, drawPlots } from '/plots.js';
import { takeRobot, takeScene, loseScene } from '/scene.js';
import { showNodes, showLists, setText } from '/lists.js';

const STALE = 1000; // ms without a frame until everything is 'no data'; frames come every 100 ms
const byId = (id) => document.getElementById(id);
let frame = null;
let lists = null;
let received = performance.now();
let stale = true;

function connect() {
  const socket = new WebSocket(`ws://${location.host}/live`);
  socket.onmessage = (event) => {
    try {
      take(JSON.parse(event.data));
    } finally {
      socket.send('ok'); // receipt: the server sends the next message, the newest one, after it
    }
  };
  socket.onclose = () => setTimeout(connect, 1000);
}

const OTHERS = { robot: takeRobot, scene: takeScene };

function take(message) {
  if (message.kind in OTHERS) {
    OTHERS[message.kind](message);
    return;
  }
  if (message.kind === 'lists') {
    lists = message;
    showLists(lists);
    return;
  }
  frame = message;
  received = performance.now();
  stale = false;
  show(frame);
  addToPlots(frame);
}

function show(current) {
  showJoints(current);
  showNodes(current, stale);
  showVerdict(current);
}

// The same frame without anything that could be taken for present.
function withoutData(old) {
  const age = (performance.now() - received) / 1000;
  const aged = (source) => ({ ...source, fresh: false, age: source.age === null ? null : source.age + age });
  return {
    ...old,
    monitor: aged(old.monitor),
    feedforward: aged(old.feedforward),
    measured: aged(old.measured),
    progress: aged(old.progress),
    joints: old.joints.map((joint) => ({ name: joint.name, unit: joint.unit, level: -1 })),
  };
}

// A node that was ok when the connection was lost is not ok now: nobody knows.
function oldLists() {
  const age = (performance.now() - received) / 1000;
  const rows = lists.diagnostics.map((row) => ({ ...row, level: 'stale', fresh: false, age: row.age + age }));
  return { ...lists, diagnostics: rows };
}

function showVerdict(current) {
  const [level, text, detail] = verdict(current);
  byId('verdict').dataset.level = level;
  setText(byId('verdict-text'), text); // an alert: read out when it changes
  setText(byId('verdict-detail'), detail);
  document.title = `${text} - robodyn watch`;
}

function verdict(current) {
  const { monitor, joints } = current;
  // A collision that was not acknowledged stays, whatever goes away after it.
  const last = monitor.collision ? `Last known: ${monitor.collision}, not acknowledged` : '';
  if (stale) {
    const lost = 'No connection to robodyn watch';
    const since = `no data since ${seconds(current)} s`;
    return last ? ['collision', last, `${lost}, ${since}`] : ['nodata', lost, since];
  }
  if (!monitor.fresh) {
    const since = monitor.age === null ? 'no data since this page was started'
      : `no data since ${monitor.age.toFixed(1)} s`;
    const silent = 'The collision monitor sends no data';
    return last ? ['collision', last, `${silent}, ${since}`] : ['nodata', silent, since];
  }
  const worst = ['collision', 'contact', 'unknown', 'ok'].find((word) => joints.some((j) => LEVELS[j.level] === word));
  const names = joints.filter((j) => LEVELS[j.level] === worst).map((j) => j.name).join(', ');
  const latched = monitor.latched ? 'latched until the service collision_monitor/reset is called'
    : monitor.muted ? 'the reactions of the monitor are muted' : '';
  if (worst === 'collision') return ['collision', `Collision at ${names}`, latched];
  if (last) return ['collision', last, latched || 'the monitor was started again; start robodyn watch again to forget it'];
  if (worst === 'contact') return ['contact', `Contact at ${names}`, latched];
  if (worst === 'ok') return ['ok', 'No collision', latched || `${joints.length} joints are monitored`];
  const all = joints.every((j) => LEVELS[j.level] === 'unknown');
  return ['unknown', all ? 'Not monitored' : `Not monitored: ${names}`, monitor.message];
}

function seconds() {
  return ((performance.now() - received) / 1000).toFixed(1);
}

function watchConnection() {
  stale = performance.now() - received > STALE;
  const link = byId('link');
  link.dataset.state = stale ? 'lost' : 'live';
  setText(link, stale ? `no data since ${seconds()} s` : 'live');
  if (stale && lists) showLists(oldLists());
  if (stale) loseScene();
  if (stale && frame) show(withoutData(frame));
  else if (stale) showVerdict({ joints: [], monitor: { age: null } });
}

setInterval(watchConnection, 250);
setInterval(() => requestAnimationFrame(drawPlots), 200); // slower than the lights, which come first
connect();
