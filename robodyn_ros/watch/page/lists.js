// State of monitor and feed-forward, diagnostics and events.
import { element, LEVELS } from '/joints.js';

export function setText(target, text) {
  if (target.textContent !== text) target.textContent = text;
}

function since(source) {
  if (source.age === null || source.age === undefined) return 'no data yet';
  return source.fresh ? 'live' : `no data since ${source.age.toFixed(1)} s`;
}

function fill(id, entries) {
  const list = document.getElementById(id);
  if (list.children.length !== 2 * entries.length) {
    list.replaceChildren();
    entries.forEach(() => { element('dt', '', list); element('dd', '', list); });
  }
  entries.forEach(([name, text, state], index) => {
    const value = list.children[2 * index + 1];
    setText(list.children[2 * index], name);
    setText(value, text);
    value.dataset.state = state ?? '';
  });
}

export function showNodes(frame, stale) {
  const { monitor, feedforward, measured, joints } = frame;
  const count = (word) => joints.filter((joint) => LEVELS[joint.level] === word).length;
  const any = joints.length > count('unknown');
  const live = (source) => [since(source), source.fresh ? 'good' : 'bad'];
  const old = (source, text) => (source.fresh ? text : 'not known');
  fill('monitor', [
    ['data', ...live(monitor)],
    ['joints monitored', old(monitor, `${joints.length - count('unknown')} of ${joints.length}`)],
    ['collision', monitor.collision ? `${monitor.latched ? 'latched' : 'not acknowledged'}: ${monitor.collision}` : old(monitor, any ? 'none' : 'not known'), monitor.collision ? 'bad' : ''],
    ['reactions', old(monitor, monitor.muted ? 'muted: a collision starts none' : 'on'), monitor.fresh && monitor.muted ? 'bad' : ''],
    ['message', old(monitor, monitor.message)],
    ['measured torque', ...live(measured)],
  ]);
  const off = feedforward.age === null ? '' : 'not known';
  const value = (text) => (feedforward.fresh ? text : off);
  fill('feedforward', [
    ['data', feedforward.age === null ? 'does not run' : live(feedforward)[0],
      feedforward.age === null ? '' : live(feedforward)[1]],
    ['torque', value(feedforward.enabled ? 'enabled' : 'disabled')],
    ['fault', value(feedforward.fault || 'none'), feedforward.fresh && feedforward.fault ? 'bad' : ''],
  ]);
  showProgress(frame.progress);
  document.body.classList.toggle('stale', stale);
}

function showProgress(progress) {
  const bar = document.getElementById('progress');
  const recent = progress.age !== null && progress.age < 30;
  bar.hidden = !progress.fresh;
  bar.value = progress.share;
  if (!recent) {
    fill('task', [['running', 'nothing reports progress']]);
    return;
  }
  fill('task', [
    ['running', progress.task],
    ['phase', progress.phase],
    ['completed', `${Math.round(100 * progress.share)} % of the phase`],
    ['remaining', progress.text || '–'],
    ['reported', since(progress), progress.fresh ? 'good' : ''],
  ]);
}

export function showLists(lists) {
  showEvents(lists.events);
  showDiagnostics(lists.diagnostics);
}

function showEvents(events) {
  document.getElementById('events-empty').hidden = events.length > 0;
  document.getElementById('events').replaceChildren(...events.map((event) => {
    const item = element('li', '');
    item.dataset.severity = event.severity;
    const time = element('time', '', item);
    const date = new Date(event.time * 1000);
    time.dateTime = date.toISOString();
    time.textContent = `${date.toLocaleTimeString('en-GB')}.${String(date.getMilliseconds()).padStart(3, '0')}`;
    element('span', 'tag', item).textContent = event.severity;
    const text = element('span', 'text', item);
    text.textContent = `${event.source}: ${event.text}${event.count > 1 ? ` (${event.count} times)` : ''}`;
    return item;
  }));
}

function showDiagnostics(rows) {
  document.getElementById('diagnostics-empty').hidden = rows.length > 0;
  const parent = document.getElementById('diagnostics');
  const open = new Set([...parent.querySelectorAll('details[open]')].map((each) => each.dataset.name));
  const focused = document.activeElement?.closest?.('details')?.dataset.name;
  parent.replaceChildren(...rows.map((row) => {
    const details = element('details', 'diagnostic');
    details.dataset.name = row.name;
    details.dataset.level = row.level;
    details.open = open.has(row.name);
    const summary = element('summary', '', details);
    element('span', 'tag', summary).textContent = row.level;
    element('span', 'name', summary).textContent = row.name;
    element('span', 'text', summary).textContent = row.fresh ? row.message : `no data since ${row.age.toFixed(0)} s`;
    const list = element('dl', '', details);
    Object.entries(row.values).forEach(([key, value]) => {
      element('dt', '', list).textContent = key;
      element('dd', '', list).textContent = value;
    });
    return details;
  }));
  if (focused) [...parent.children].find((each) => each.dataset.name === focused)?.querySelector('summary').focus();
}
