// What the scripts share: the data of the report and how elements are made. Texts of the report become text nodes and
// attributes alone; nothing is ever parsed as HTML.
'use strict';
const lt = {};

(() => {
  const kSvg = 'http://www.w3.org/2000/svg';
  lt.statuses = ['pass', 'warn', 'fail', 'skip', 'error'];
  lt.outcomes = ['correct', 'unproven', 'refused', 'late_refusal', 'wrong_result', 'unwritten', 'out_of_bounds',
    'input_changed', 'not_captured', 'stale', 'nondeterministic', 'context_lost', 'crashed', 'timed_out', 'slower',
    'not_run', 'audit_error'];
  lt.expectations = ['must_work', 'must_refuse', 'may_refuse'];
  // Worst first, by number of the status.
  lt.rankOfStatus = [4, 2, 0, 3, 1];

  lt.byId = (id) => document.getElementById(id);

  // Without control characters and without characters that turn the direction of what follows.
  lt.clean = (text) => String(text).replace(
    /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, ' ');

  const fill = (element, attributes, children) => {
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value !== undefined && value !== false) element.setAttribute(name, value === true ? '' : value);
    }
    for (const child of [children].flat()) {
      if (child === undefined || child === null) continue;
      element.append(child instanceof Node ? child : document.createTextNode(lt.clean(child)));
    }
    return element;
  };
  lt.element = (tag, attributes, children) => fill(document.createElement(tag), attributes, children);
  lt.svg = (tag, attributes, children) => fill(document.createElementNS(kSvg, tag), attributes, children);

  lt.glyph = (name) => lt.svg('svg', {class: 'glyph', 'aria-hidden': 'true'}, lt.svg('use', {href: '#g-' + name}));
  lt.badge = (status) => lt.element('span', {class: 'status ' + status}, [lt.glyph(status), status]);
  // A problem text, which may break after each comma.
  lt.problem = (problem) => lt.element('code', {}, lt.clean(problem).split(',')
    .flatMap((part, place) => (place === 0 ? [part] : [',', lt.element('wbr'), part])));
  lt.number = (value) => Number(value).toLocaleString('en-US');
  lt.count = (count, noun) => lt.number(count) + ' ' + noun + (count === 1 ? '' : 's');
  lt.announce = (text) => { lt.byId('announce').textContent = text; };

  const data = JSON.parse(lt.byId('lt-data').textContent);
  lt.data = data;
  lt.checks = data.checks;

  // All cases in one row of numbers: which check, and where in it.
  const total = data.checks.reduce((sum, check) => sum + check.ids.length, 0);
  lt.total = total;
  lt.checkOf = new Uint16Array(total);
  lt.placeOf = new Uint32Array(total);
  lt.status = new Uint8Array(total);
  lt.outcome = new Uint8Array(total);
  lt.reason = new Uint32Array(total);
  lt.first = [];
  let at = 0;
  data.checks.forEach((check, number) => {
    lt.first.push(at);
    lt.status.set(check.status, at);
    lt.outcome.set(check.outcome, at);
    lt.reason.set(check.reason, at);
    for (let place = 0; place < check.ids.length; ++place, ++at) {
      lt.checkOf[at] = number;
      lt.placeOf[at] = place;
    }
  });

  const field = (name) => (index) => data.checks[lt.checkOf[index]][name][lt.placeOf[index]];
  lt.idOf = field('ids');
  lt.problemOf = field('problems');
  lt.expectationOf = (index) => lt.expectations[field('expectation')(index)];
  lt.messageOf = (index) => data.texts[field('message')(index)];
  lt.ruleOf = (index) => data.texts[field('rule')(index)];
  lt.reasonOf = (index) => data.texts[lt.reason[index]];
  lt.parametersOf = (index) => data.parameters[field('parameters')(index)] || [];
  lt.lineOf = field('observation');
  lt.parameterNumberOf = field('parameters');
  lt.messageNumberOf = field('message');
  lt.ruleNumberOf = field('rule');

  // What a baseline and waivers say of a case that is not pass.
  lt.hasNotes = data.checks.some((check) => check.isNew !== undefined);
  lt.noteOf = (index) => {
    if (!lt.hasNotes || lt.status[index] === 0) return {};
    const waiver = data.waivers[field('waiver')(index)];
    return {
      fresh: data.hasBaseline && field('isNew')(index) === 1,
      known: data.hasBaseline && field('isNew')(index) === 0,
      waiver: waiver || undefined,
    };
  };

  let lines;
  lt.observationLines = () => {
    if (lines === undefined) lines = lt.byId('lt-observations').textContent.split('\n');
    return lines;
  };
  // Empty for a damaged observation.
  lt.observationOf = (index) => {
    try {
      const value = JSON.parse(lt.observationLines()[lt.lineOf(index)]);
      return value !== null && typeof value === 'object' && !Array.isArray(value) ? value : {};
    } catch {
      return {};
    }
  };
  // A list of objects, whatever the report held there.
  lt.listOf = (value) => (Array.isArray(value) ? value : []).filter((one) => one !== null && typeof one === 'object');

  // For a POSIX shell: what is copied must be one word, whatever the report says.
  lt.quoted = (text) => "'" + lt.clean(text).replace(/'/g, "'\\''") + "'";

  lt.copyButton = (text) => {
    const button = lt.element('button', {type: 'button', class: 'quiet copy'}, 'Copy');
    button.addEventListener('click', () => lt.copy(button, text));
    return button;
  };
  // navigator.clipboard is missing in a page that was opened as a file in some browsers.
  lt.copy = async (button, text) => {
    let done = true;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = lt.element('textarea', {class: 'hidden-text', readonly: true});
      area.value = text;
      document.body.append(area);
      area.select();
      done = document.execCommand('copy');
      area.remove();
      button.focus();
    }
    button.textContent = done ? 'Copied' : 'Not copied';
    lt.announce(done ? 'Command copied' : 'The browser did not allow to copy');
    setTimeout(() => { button.textContent = 'Copy'; }, 1500);
  };
})();
