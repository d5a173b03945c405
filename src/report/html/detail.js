// One case with everything that the page has of it.
'use strict';

(() => {
  const h = lt.element;
  const row = (name, value) => h('div', {}, [h('dt', {}, name), h('dd', {}, value)]);
  const text = (value) => (value === undefined || value === null || value === '' ? undefined : String(value));

  const table = (title, heads, rows) => {
    if (rows.length === 0) return undefined;
    const head = h('tr', {}, heads.map((name) => h('th', {scope: 'col'}, name)));
    const body = rows.map((cells) => h('tr', {}, cells.map((cell) => h('td', {}, cell === undefined ? '' : cell))));
    return h('div', {class: 'part table-frame'}, h('table', {class: 'small'},
      [h('caption', {}, title), h('thead', {}, head), h('tbody', {}, body)]));
  };

  const stages = (observation) => table('Stages', ['stage', 'call', 'status'],
    lt.listOf(observation.stages).map((stage) => [
      text(stage.name), h('code', {}, text(stage.call)),
      h('span', {class: /^(SUCCESS|cudaSuccess)$/.test(stage.status) ? '' : 'refusal'}, text(stage.status))]));

  const heuristic = (observation) => table('Heuristic results',
    ['#', 'state', 'algo', 'tile', 'stages', 'split-K', 'workspace', 'waves'],
    lt.listOf(observation.heuristic).map((one, index) => [String(index), text(one.state), text(one.algo_id),
      text(one.tile), text(one.stages), text(one.split_k),
      one.workspace_bytes === undefined ? undefined : lt.number(one.workspace_bytes) + ' B', text(one.waves)]));

  // What the verification counted; zeros say that all is well and are left out but for the first ones.
  const kAlways = ['method', 'compared', 'wrong', 'unwritten', 'expected_nonzero'];
  const verificationText = (seen) => Object.entries(seen)
    .filter(([name, value]) => kAlways.includes(name) || (value !== 0 && value !== null && name !== 'first_wrong'))
    .map(([name, value]) => name.replaceAll('_', ' ') + ' ' + (typeof value === 'number' ? lt.number(value) : value))
    .join(', ');
  const firstWrong = (seen) => {
    const first = seen.first_wrong;
    if (first === null || typeof first !== 'object') return '';
    return `; first wrong: row ${first.row}, column ${first.col}, batch ${first.batch}: expected ${first.expected}, ` +
      `found ${first.actual}`;
  };
  const verification = (seen) =>
    (seen && typeof seen === 'object' ? verificationText(seen) + firstWrong(seen) : undefined);

  const cublas = (seen) => {
    if (!seen || typeof seen !== 'object') return undefined;
    if (!seen.call) return seen.not_expressible ? 'not called: ' + seen.not_expressible : undefined;
    const checked = verification(seen.verification);
    return `${seen.call}: ${seen.status}` + (checked ? '; ' + checked : '');
  };

  const log = (observation) => table('Log of the library', ['level', 'function', 'text'],
    lt.listOf(observation.log).map((line) => [text(line.level), h('code', {}, text(line.function)), text(line.text)]));

  const entries = (value) => (value && typeof value === 'object' ? Object.entries(value) : []);
  const facts = (observation) => table('Facts', ['fact', 'value'],
    entries(observation.facts).map(([name, value]) => [name, text(value)]));
  const times = (observation) => entries(observation.times)
    .map(([name, value]) => `${name.replace(/_us$/, '').replaceAll('_', ' ')} ${lt.number(value)} µs`).join(', ');

  const note = (index) => {
    const said = lt.noteOf(index);
    const parts = [];
    if (said.fresh) parts.push(row('baseline', 'new: the baseline has no such finding'));
    if (said.known) parts.push(row('baseline', 'known: the baseline has it too'));
    if (said.waiver) {
      const [reason, expires, link] = said.waiver;
      const value = [`${reason}, until ${expires} `];
      if (/^https?:\/\//i.test(link)) value.push(h('a', {href: link, rel: 'noopener noreferrer'}, link));
      parts.push(row('waived', value));
    }
    return parts;
  };

  const again = (index) => {
    const place = 'lt-audit.json:' + lt.checks[lt.checkOf[index]].id + '/' + lt.idOf(index);
    const command = 'lt-audit replay ' + lt.quoted(place);
    return row('again', h('span', {class: 'command'},
      [h('code', {title: 'lt-audit.json stands for the JSON report that this page was made from'}, command),
        lt.copyButton(command)]));
  };

  lt.detailOf = (index) => {
    const observation = lt.observationOf(index);
    const rows = [];
    const add = (name, value) => { if (text(value)) rows.push(row(name, value)); };
    if (lt.messageOf(index)) add('measured', lt.messageOf(index));
    if (lt.problemOf(index)) rows.push(row('problem', lt.problem(lt.problemOf(index))));
    add('expectation', lt.expectationOf(index).replaceAll('_', ' '));
    add('rule', lt.ruleOf(index));
    rows.push(...note(index));
    add('result', verification(observation.verification));
    add('cuBLAS', cublas(observation.cublas));
    if (observation.end) add('end', `${observation.end} ${observation.end_detail || ''}`);
    add('not run', observation.not_run);
    add('audit error', observation.audit_error);
    add('times', times(observation));
    rows.push(again(index));
    const parameters = table('Parameters', ['parameter', 'value'], lt.parametersOf(index));
    const shortened = observation.shortened === true
      ? h('p', {class: 'muted'}, 'Shortened to keep the page small: heuristic results, verification and times of this ' +
          'case are in the JSON report.')
      : undefined;
    return h('div', {class: 'case-detail'}, [h('dl', {}, rows), h('div', {class: 'parts'},
      [stages(observation), heuristic(observation), log(observation), parameters, facts(observation)]), shortened]);
  };
})();
