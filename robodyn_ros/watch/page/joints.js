// The joints as a chain with lights. Each level has its own shape and word, not only a colour.
export const LEVELS = { '-1': 'nodata', 0: 'unknown', 1: 'ok', 2: 'contact', 3: 'collision' };
export const NAMES = { nodata: 'no data', unknown: 'unknown', ok: 'ok', contact: 'contact', collision: 'collision' };
const rows = new Map();

export function element(kind, className, parent) {
  const made = document.createElement(kind);
  if (className) made.className = className;
  if (parent) parent.append(made);
  return made;
}

export const number = (value) => (value === null || value === undefined ? '–' : String(Number(value.toPrecision(3))));

function makeRow(joint) {
  const item = element('li', 'joint');
  const light = element('span', 'light', item);
  light.setAttribute('aria-hidden', 'true');
  const name = element('span', 'name', item);
  name.textContent = joint.name;
  const word = element('span', 'word', item);
  const meter = element('meter', '', item);
  meter.max = 1;
  meter.setAttribute('aria-label', `torque error of ${joint.name}, share of its threshold`);
  return { item, word, meter, value: element('span', 'value', item), shown: '' };
}

function update(row, joint) {
  const level = LEVELS[joint.level] ?? 'unknown';
  if (row.item.dataset.level !== level) {
    row.item.dataset.level = level;
    row.word.textContent = NAMES[level];
  }
  const known = joint.error !== null && joint.error !== undefined && joint.threshold > 0;
  const text = known ? `${number(joint.error)} of ${number(joint.threshold)} ${joint.unit}` : 'no torque error';
  if (text === row.shown) return;
  row.shown = text;
  row.value.textContent = text;
  row.meter.value = known ? Math.min(1, Math.abs(joint.error) / joint.threshold) : 0;
}

export function showJoints(frame) {
  const list = document.getElementById('joints');
  const names = frame.joints.map((joint) => joint.name);
  if (names.join('\n') !== [...rows.keys()].join('\n')) {
    rows.clear();
    frame.joints.forEach((joint) => rows.set(joint.name, makeRow(joint)));
    list.replaceChildren(...[...rows.values()].map((row) => row.item));
  }
  document.getElementById('joints-empty').hidden = names.length > 0;
  frame.joints.forEach((joint) => update(rows.get(joint.name), joint));
}
