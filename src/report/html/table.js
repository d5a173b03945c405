// The table of cases: filters, search, order, pages, keys. Only the rows of one page are elements.
'use strict';

(() => {
  const kPageSize = 100;
  const h = lt.element;
  const form = lt.byId('filters');
  const body = lt.byId('case-rows');
  const search = lt.byId('search');
  const selects = {
    check: lt.byId('filter-check'), outcome: lt.byId('filter-outcome'), reason: lt.byId('filter-reason'),
    note: lt.byId('filter-note'),
  };
  const order = {key: 'status', down: false};
  let shown = new Uint32Array(0);
  let page = 0;
  let open = -1;

  const counted = (numbers) => {
    const counts = new Map();
    for (const number of numbers) counts.set(number, (counts.get(number) || 0) + 1);
    return counts;
  };
  const option = (value, words) => h('option', {value}, words);

  const fillFilters = () => {
    const statuses = counted(lt.status);
    for (const number of [2, 4, 1, 3, 0]) {
      const name = lt.statuses[number];
      const input = h('input', {type: 'checkbox', value: String(number), checked: true});
      lt.byId('filter-status').append(h('label', {class: 'chip'},
        [input, lt.badge(name), h('span', {class: 'muted'}, lt.number(statuses.get(number) || 0))]));
    }
    selects.check.append(option('', 'all'));
    lt.checks.forEach((check, number) => selects.check.append(option(String(number), `${check.id} (${check.ids.length})`)));
    selects.outcome.append(option('', 'all'));
    [...counted(lt.outcome)].sort((a, b) => a[0] - b[0]).forEach(([number, count]) => selects.outcome.append(
      option(String(number), `${lt.outcomes[number].replaceAll('_', ' ')} (${count})`)));
    selects.reason.append(option('', 'all'));
    [...counted(lt.reason)].filter(([number]) => number !== 0)
      .sort((a, b) => (lt.data.texts[a[0]] < lt.data.texts[b[0]] ? -1 : 1))
      .forEach(([number, count]) => selects.reason.append(option(String(number), `${lt.data.texts[number]} (${count})`)));
    if (lt.hasNotes) {
      const words = lt.data.hasBaseline ? ['all', 'new', 'known', 'waived', 'not waived'] : ['all', 'waived', 'not waived'];
      words.forEach((word) => selects.note.append(option(word === 'all' ? '' : word, word)));
      lt.byId('note-label').hidden = false;
    }
  };

  // Each text that cases share is searched once, not once for each case.
  let lowered;
  const lower = (list) => list.map((text) => lt.clean(text).toLowerCase());
  const searcher = (word) => {
    if (lowered === undefined) {
      lowered = {
        texts: lower(lt.data.texts),
        parameters: lt.data.parameters.map((list) => (list || []).map((pair) => pair.join(' ')).join(' ').toLowerCase()),
        lines: lower(lt.observationLines()),
        ids: lt.checks.map((check) => lower(check.ids)),
        problems: lt.checks.map((check) => lower(check.problems)),
        checks: lower(lt.checks.map((check) => check.id)),
      };
    }
    const has = (list) => list.map((text) => text.includes(word));
    const texts = has(lowered.texts);
    const parameters = has(lowered.parameters);
    const lines = has(lowered.lines);
    const checks = has(lowered.checks);
    const outcomes = lt.outcomes.map((name) => name.replaceAll('_', ' ').includes(word) || name.includes(word));
    return (index) => {
      const check = lt.checkOf[index];
      const place = lt.placeOf[index];
      return checks[check] || outcomes[lt.outcome[index]] || lowered.ids[check][place].includes(word) ||
        lowered.problems[check][place].includes(word) || texts[lt.reason[index]] || texts[lt.messageNumberOf(index)] ||
        texts[lt.ruleNumberOf(index)] || parameters[lt.parameterNumberOf(index)] || lines[lt.lineOf(index)];
    };
  };

  const noteMatches = {
    new: (note) => note.fresh === true, known: (note) => note.known === true,
    waived: (note) => note.waiver !== undefined, 'not waived': (note) => note.waiver === undefined,
  };

  const filters = () => {
    const statuses = [...lt.byId('filter-status').querySelectorAll('input')].map((input) => [input.value, input.checked]);
    const wanted = lt.statuses.map((name, number) => statuses.some(([value, on]) => on && value === String(number)));
    const tests = [];
    if (wanted.includes(false)) tests.push((index) => wanted[lt.status[index]]);
    const number = (select) => Number(select.value);
    if (selects.check.value !== '') { const check = number(selects.check); tests.push((index) => lt.checkOf[index] === check); }
    if (selects.outcome.value !== '') { const one = number(selects.outcome); tests.push((index) => lt.outcome[index] === one); }
    if (selects.reason.value !== '') { const one = number(selects.reason); tests.push((index) => lt.reason[index] === one); }
    if (selects.note.value) {
      const matches = noteMatches[selects.note.value];
      tests.push((index) => lt.status[index] !== 0 && matches(lt.noteOf(index)));
    }
    const words = search.value.toLowerCase().split(/\s+/).filter((word) => word !== '');
    return tests.concat(words.map(searcher));
  };

  const keys = {
    status: (index) => lt.rankOfStatus[lt.status[index]],
    check: (index) => lt.checkOf[index],
    id: lt.idOf,
    outcome: (index) => lt.outcomes[lt.outcome[index]],
    reason: lt.reasonOf,
    problem: lt.problemOf,
  };
  const sorted = (list) => {
    const key = keys[order.key];
    const values = new Array(lt.total);
    for (const index of list) values[index] = key(index);
    const sign = order.down ? -1 : 1;
    return list.sort((a, b) => (values[a] < values[b] ? -sign : values[a] > values[b] ? sign : a - b));
  };

  const noteBadges = (index) => {
    const note = lt.noteOf(index);
    const badges = [];
    for (const [kind, on] of [['new', note.fresh], ['known', note.known], ['waived', note.waiver]]) {
      if (on) badges.push(' ', h('span', {class: 'badge ' + kind}, kind));
    }
    return badges;
  };

  const rowOf = (index) => {
    const outcome = lt.outcomes[lt.outcome[index]];
    const button = h('button', {type: 'button', class: 'open-case', 'aria-expanded': String(index === open), tabindex: '-1'},
      lt.idOf(index));
    const cells = [lt.badge(lt.statuses[lt.status[index]]), lt.checks[lt.checkOf[index]].id, button,
      outcome.replaceAll('_', ' '), [lt.reasonOf(index), ...noteBadges(index)], lt.problem(lt.problemOf(index))];
    const names = ['status', 'check', 'id', 'outcome', 'reason', 'problem'];
    return h('tr', {'data-case': String(index), class: 'case-row'},
      cells.map((cell, column) => h('td', {class: 'c-' + names[column]}, cell)));
  };
  const detailRow = (index) => h('tr', {class: 'detail-row'}, h('td', {colspan: '6'}, lt.detailOf(index)));

  const pages = () => Math.max(1, Math.ceil(shown.length / kPageSize));

  const draw = () => {
    page = Math.min(Math.max(page, 0), pages() - 1);
    const rows = [];
    for (const index of shown.subarray(page * kPageSize, (page + 1) * kPageSize)) {
      rows.push(rowOf(index));
      if (index === open) rows.push(detailRow(index));
    }
    body.replaceChildren(...rows);
    const first = body.querySelector('.open-case');
    if (first !== null) first.tabIndex = 0;
    const from = shown.length === 0 ? 0 : page * kPageSize + 1;
    lt.byId('page-number').textContent =
      `${lt.number(from)}–${lt.number(Math.min((page + 1) * kPageSize, shown.length))} of ${lt.number(shown.length)}`;
    lt.byId('pager').hidden = pages() === 1;
    for (const button of lt.byId('pager').querySelectorAll('button')) {
      const back = button.dataset.page === 'first' || button.dataset.page === 'previous';
      button.disabled = back ? page === 0 : page === pages() - 1;
    }
  };

  const filter = () => {
    const tests = filters();
    const found = [];
    for (let index = 0; index < lt.total; ++index) {
      if (tests.every((test) => test(index))) found.push(index);
    }
    shown = sorted(Uint32Array.from(found));
    page = 0;
    open = -1;
    lt.byId('shown').textContent = shown.length === lt.total
      ? `All ${lt.count(lt.total, 'case')}.` : `${lt.number(shown.length)} of ${lt.count(lt.total, 'case')}.`;
    draw();
  };

  const buttons = () => [...body.querySelectorAll('.open-case')];
  const focusRow = (button) => {
    if (button === undefined) return;
    for (const other of buttons()) other.tabIndex = other === button ? 0 : -1;
    button.focus();
  };
  const turn = (to) => { page = to; open = -1; draw(); };

  const toggle = (button) => {
    const row = button.closest('tr');
    const index = Number(row.dataset.case);
    const old = body.querySelector('.detail-row');
    if (old !== null) {
      old.previousElementSibling.querySelector('.open-case').setAttribute('aria-expanded', 'false');
      old.remove();
    }
    open = open === index ? -1 : index;
    button.setAttribute('aria-expanded', String(open === index));
    if (open === index) row.after(detailRow(index));
    focusRow(button);
  };

  const clear = () => {
    search.value = '';
    for (const input of lt.byId('filter-status').querySelectorAll('input')) input.checked = true;
    for (const select of Object.values(selects)) select.value = '';
  };

  const onKey = (event) => {
    const here = event.target.closest('.open-case');
    if (here === null || event.ctrlKey || event.altKey || event.metaKey) return;
    const all = buttons();
    const place = all.indexOf(here);
    const moves = {
      ArrowDown: () => focusRow(all[place + 1]), ArrowUp: () => focusRow(all[place - 1]),
      Home: () => focusRow(all[0]), End: () => focusRow(all[all.length - 1]),
      PageDown: () => { if (page < pages() - 1) { turn(page + 1); focusRow(buttons()[0]); } },
      PageUp: () => { if (page > 0) { turn(page - 1); focusRow(buttons()[0]); } },
      Escape: () => { if (open >= 0 && body.querySelector('.detail-row') !== null) {
        toggle(body.querySelector('.detail-row').previousElementSibling.querySelector('.open-case')); } },
    };
    if (moves[event.key] === undefined) return;
    event.preventDefault();
    moves[event.key]();
  };

  const sortBy = (button) => {
    const key = button.dataset.sort;
    order.down = order.key === key && !order.down;
    order.key = key;
    for (const other of document.querySelectorAll('#case-table th button')) {
      if (other === button) other.parentElement.setAttribute('aria-sort', order.down ? 'descending' : 'ascending');
      else other.parentElement.removeAttribute('aria-sort');
    }
    shown = sorted(shown);
    turn(0);
  };

  // Shows the cases of a check, of a reason in it, or one case; clears what would hide them.
  lt.showCases = (check, reason) => {
    clear();
    selects.check.value = String(check);
    if (reason !== undefined) selects.reason.value = String(reason);
    filter();
    lt.byId('cases').scrollIntoView();
    lt.byId('cases').focus({preventScroll: true});
  };
  lt.showCase = (index) => {
    clear();
    selects.check.value = String(lt.checkOf[index]);
    filter();
    turn(Math.floor(shown.indexOf(index) / kPageSize));
    const button = body.querySelector(`tr[data-case="${index}"] .open-case`);
    toggle(button);
    button.scrollIntoView({block: 'center'});
  };

  lt.startTable = () => {
    fillFilters();
    let waiting;
    search.addEventListener('input', () => { clearTimeout(waiting); waiting = setTimeout(filter, 80); });
    form.addEventListener('submit', (event) => event.preventDefault());
    form.addEventListener('change', (event) => { if (event.target !== search) filter(); });
    lt.byId('clear').addEventListener('click', () => { clear(); filter(); search.focus(); });
    body.addEventListener('click', (event) => {
      const row = event.target.closest('.case-row');
      if (row !== null && String(window.getSelection()) === '') toggle(row.querySelector('.open-case'));
    });
    body.addEventListener('keydown', onKey);
    lt.byId('pager').addEventListener('click', (event) => {
      const targets = {first: 0, previous: page - 1, next: page + 1, last: pages() - 1};
      if (event.target.dataset.page !== undefined) turn(targets[event.target.dataset.page]);
    });
    lt.byId('case-table').tHead.addEventListener('click', (event) => {
      if (event.target.dataset.sort !== undefined) sortBy(event.target);
    });
    document.addEventListener('keydown', (event) => {
      const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
      if (event.key === '/' && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
        event.preventDefault();
        search.focus();
      }
    });
    for (const id of ['filters', 'case-table', 'case-keys']) lt.byId(id).hidden = false;
    filter();
  };
})();
