// The pictures: grids coloured by outcome or by time, and the ratios of times with their spread. Grids are tables, so
// that they can be read aloud, moved through with arrow keys, scrolled on a narrow screen and printed.
'use strict';

(() => {
  const h = lt.element;
  const kGroups = {
    correct: 'good', refused: 'neutral', not_run: 'neutral', unproven: 'weak', slower: 'weak', late_refusal: 'late',
    context_lost: 'lost', crashed: 'lost', timed_out: 'lost', audit_error: 'lost',
  };
  const groupOf = (outcome) => kGroups[outcome] || 'bad';
  const words = (name) => name.replaceAll('_', ' ');

  const stageText = (index) => {
    const observation = lt.observationOf(index);
    const stages = lt.listOf(observation.stages);
    const refused = stages.find((stage) => !/^(SUCCESS|cudaSuccess)$/.test(stage.status)) || stages[stages.length - 1];
    const lines = [];
    if (refused) lines.push(`${refused.name}: ${refused.status}`);
    const log = lt.listOf(observation.log)[0];
    if (log) lines.push(`log: ${log.text}`);
    return lines;
  };

  // What the tooltip of a cell says, line by line.
  const cellLines = (picture, cell, index) => {
    const [row, column, , count, , , , detail] = cell;
    const group = cell.group ? cell.group + ' ' : '';
    const lines = [`${picture.rows[row]} · ${group}${picture.columns[column]}`];
    if (detail) lines.push(detail);
    lines.push(`${words(lt.outcomes[lt.outcome[index]])} · ${lt.statuses[lt.status[index]]}` +
      (count > 1 ? ` · the worst of ${count} cases` : ''));
    if (lt.messageOf(index)) lines.push(lt.messageOf(index));
    if (!detail) lines.push(...stageText(index));
    lines.push(lt.idOf(index), lt.problemOf(index));
    return lines;
  };

  const cellOf = (picture, cell, first) => {
    const index = first + cell[2];
    const outcome = lt.outcomes[lt.outcome[index]];
    const noted = lt.status[index] === 0 || lt.status[index] === 3 ? '' : ' noted';
    const lines = () => cellLines(picture, cell, index);
    let element;
    if (picture.times) {
      const [, , , , text, level, mark] = cell;
      const refused = text === '–';
      element = h('td', {class: `cell time level${level}${refused ? ' refused' : ''}${noted}`},
        [h('span', {}, text), mark ? h('sup', {}, mark) : undefined]);
    } else {
      element = h('td', {class: `cell ${groupOf(outcome)}${noted}`}, lt.glyph(outcome));
    }
    element.setAttribute('aria-label',
      `${picture.times ? (cell[7] || cell[4]) : words(outcome)}, ${lt.statuses[lt.status[index]]}`);
    element.dataset.case = String(index);
    element.tabIndex = -1;
    lt.tips.set(element, lines);
    return element;
  };

  const legendOf = (picture, first) => {
    if (picture.times) {
      const parts = ['within 5 %', 'up to 1.25', 'up to 1.5', 'up to 2', 'more than 2 times the fastest of its row'];
      return h('ul', {class: 'legend'}, parts.map((part, level) =>
        h('li', {}, [h('span', {class: `swatch time level${level}`, 'aria-hidden': 'true'}), part])));
    }
    const seen = new Set(picture.cells.map((cell) => lt.outcome[first + cell[2]]));
    const noted = picture.cells.some((cell) => ![0, 3].includes(lt.status[first + cell[2]]));
    const items = [...seen].sort((a, b) => a - b).map((number) => h('li', {},
      [h('span', {class: 'swatch ' + groupOf(lt.outcomes[number])}, lt.glyph(lt.outcomes[number])), words(lt.outcomes[number])]));
    if (noted) items.push(h('li', {}, [h('span', {class: 'swatch noted', 'aria-hidden': 'true'}), 'a finding: warn, fail or error']));
    items.push(h('li', {class: 'muted'}, 'empty: not tried'));
    return h('ul', {class: 'legend'}, items);
  };

  const headRows = (picture, columns) => {
    const rows = [];
    const groupOfColumn = picture.groups.flatMap(([name, width]) => new Array(width).fill(name));
    if (picture.groups.length > 0) {
      const heads = [h('td', {})];
      for (let at = 0; at < columns.length;) {
        let end = at;
        while (end < columns.length && groupOfColumn[columns[end]] === groupOfColumn[columns[at]]) ++end;
        heads.push(h('th', {scope: 'colgroup', colspan: String(end - at), class: 'group'}, groupOfColumn[columns[at]]));
        at = end;
      }
      rows.push(h('tr', {}, heads));
    }
    rows.push(h('tr', {}, [h('td', {}), ...columns.map((column, place) => {
      const starts = place > 0 && groupOfColumn[column] !== groupOfColumn[columns[place - 1]];
      return h('th', {scope: 'col', class: starts ? 'starts' : ''}, picture.columns[column]);
    })]));
    return rows;
  };

  const gridOf = (picture, first, all) => {
    const columns = picture.columns.map((name, column) => column).filter((column) => all || !picture.quietColumns[column]);
    const groups = picture.groups.flatMap(([name, width]) => new Array(width).fill(name));
    const cells = new Map(picture.cells.map((cell) => [cell[0] * picture.columns.length + cell[1], cell]));
    const rows = [];
    picture.rows.forEach((label, row) => {
      if (!all && picture.quietRows[row]) return;
      rows.push(h('tr', {}, [h('th', {scope: 'row'}, label), ...columns.map((column, place) => {
        const cell = cells.get(row * picture.columns.length + column);
        if (cell !== undefined) cell.group = groups[column];
        const element = cell === undefined ? h('td', {class: 'cell empty'}) : cellOf(picture, cell, first);
        if (place > 0 && groups[column] !== groups[columns[place - 1]]) element.classList.add('starts');
        return element;
      })]));
    });
    const table = h('table', {class: 'grid' + (picture.times ? ' times' : ''), role: 'grid', 'aria-label': picture.title},
      [h('thead', {}, headRows(picture, columns)), h('tbody', {}, rows)]);
    const start = table.querySelector('td[data-case]');
    if (start !== null) start.tabIndex = 0;
    return table;
  };

  // Arrow keys go to the next cell that holds something.
  const moved = (table, cell, key) => {
    const rows = [...table.tBodies[0].rows];
    const step = {ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0]}[key];
    let row = rows.indexOf(cell.parentElement);
    let column = cell.cellIndex;
    if (key === 'Home') return [...rows[row].cells].find((one) => one.dataset.case !== undefined);
    if (key === 'End') return [...rows[row].cells].reverse().find((one) => one.dataset.case !== undefined);
    if (step === undefined) return undefined;
    for (;;) {
      row += step[0];
      column += step[1];
      const next = rows[row] && rows[row].cells[column];
      if (next === undefined || next === null) return undefined;
      if (next.dataset.case !== undefined) return next;
    }
  };

  const listen = (frame) => {
    frame.addEventListener('keydown', (event) => {
      const cell = event.target.closest('td[data-case]');
      if (cell === null || event.ctrlKey || event.altKey || event.metaKey) return;
      if (event.key === 'Enter' || event.key === ' ') {
        event.preventDefault();
        lt.showCase(Number(cell.dataset.case));
        return;
      }
      if (!/^(Arrow|Home$|End$)/.test(event.key)) return;
      event.preventDefault();
      const next = moved(cell.closest('table'), cell, event.key);
      if (!next) return;
      cell.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    });
    frame.addEventListener('click', (event) => {
      const cell = event.target.closest('td[data-case]');
      if (cell !== null) lt.showCase(Number(cell.dataset.case));
    });
  };

  const pictureOf = (picture, first) => {
    const frame = h('div', {class: 'table-frame'});
    const quiet = picture.quietRows.filter(Boolean).length;
    let all = quiet === picture.rows.length;
    const draw = () => frame.replaceChildren(gridOf(picture, first, all));
    draw();
    listen(frame);
    const figure = h('figure', {}, [h('figcaption', {}, [h('h4', {}, picture.title), h('p', {class: 'muted'}, picture.note)]),
      legendOf(picture, first), frame]);
    if (quiet > 0 && !all) {
      const button = h('button', {type: 'button', class: 'quiet', 'aria-pressed': 'false'},
        `Also the ${lt.count(quiet, 'row')} where all is refused as expected`);
      button.addEventListener('click', () => {
        all = !all;
        button.setAttribute('aria-pressed', String(all));
        draw();
      });
      figure.append(button);
    }
    return figure;
  };

  lt.startPictures = () => {
    for (const place of document.querySelectorAll('.pictures')) {
      const number = Number(place.dataset.check);
      const check = lt.checks[number];
      place.append(...check.pictures.filter((picture) => picture.cells.length > 0)
        .map((picture) => pictureOf(picture, lt.first[number])));
      if (check.timed.length > 0) place.append(lt.timesOf(check.timed, lt.first[number]));
    }
  };
})();
