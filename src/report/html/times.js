// How much longer cuBLASLt takes than cuBLAS for each product, with the spread of the times.
'use strict';

(() => {
  const kShown = 30;
  const kWidth = 320;
  const kMargin = 14;
  // What lies further off stands at the edge: one product without a workspace would flatten all others.
  const kMostRatio = 2.5;
  const h = lt.element;
  const s = lt.svg;

  // Marks by what the check says of the speed: shape and colour.
  const kinds = {
    'cuBLASLt faster': {name: 'faster', shape: (x) => s('path', {d: `M${x} 3.5l4.5 8h-9z`})},
    'cuBLAS faster': {name: 'slower', shape: (x) => s('path', {d: `M${x} 12.5l4.5-8h-9z`})},
  };
  const noise = {name: 'noise', shape: (x) => s('circle', {cx: x, cy: 8, r: 3.2})};

  const scaleOf = (pairs) => {
    let most = 1.25;
    for (const [, , cublas, lt_us, spread] of pairs) {
      const ratio = lt_us / cublas;
      most = Math.max(most, ratio * (1 + spread), (1 + spread) / ratio);
    }
    const half = Math.log(Math.min(most, kMostRatio));
    const inside = (ratio) => Math.min(1, Math.max(-1, Math.log(ratio) / half));
    return {half, x: (ratio) => kWidth / 2 + inside(ratio) * (kWidth / 2 - kMargin)};
  };

  const ticksOf = (scale) => {
    const inside = [1, 1.1, 1.25, 1.5, 2].filter((step) => Math.log(step) <= scale.half * 1.001);
    const fewer = inside.length > 3 ? inside.filter((step) => step !== 1.1) : inside;
    return [...fewer.slice(1).reverse().map((step) => 1 / step), ...fewer];
  };
  const tickText = (ratio) => (ratio < 1 ? String(Number(ratio.toFixed(2))) : String(ratio));

  const axis = (scale, ticks) => s('svg', {class: 'plot axis', viewBox: `0 0 ${kWidth} 16`, 'aria-hidden': 'true'},
    ticks.map((tick) => s('text', {x: scale.x(tick).toFixed(1), y: 12, 'text-anchor': 'middle'}, tickText(tick))));

  const plot = (pair, scale, ticks) => {
    const [, , cublas, lt_us, spread, speed] = pair;
    const ratio = lt_us / cublas;
    const kind = kinds[speed] || noise;
    const x = Number(scale.x(ratio).toFixed(1));
    const from = scale.x(ratio / (1 + spread)).toFixed(1);
    const to = scale.x(ratio * (1 + spread)).toFixed(1);
    return s('svg', {class: 'plot ' + kind.name, viewBox: `0 0 ${kWidth} 16`, 'aria-hidden': 'true'}, [
      ...ticks.map((tick) => s('path', {class: tick === 1 ? 'one' : 'tick', d: `M${scale.x(tick).toFixed(1)} 0v16`})),
      s('path', {class: 'spread', d: `M${from} 8H${to}M${from} 5v6M${to} 5v6`}), kind.shape(x)]);
  };

  const rowOf = (pair, first, scale, ticks) => {
    const [place, label, cublas, lt_us, spread, speed] = pair;
    const index = first + place;
    const link = h('button', {type: 'button', class: 'link'}, label);
    link.addEventListener('click', () => lt.showCase(index));
    const row = h('tr', {}, [h('th', {scope: 'row'}, link), h('td', {class: 'number'}, cublas.toFixed(1)),
      h('td', {class: 'number'}, lt_us.toFixed(1)), h('td', {class: 'plot-cell'}, plot(pair, scale, ticks)),
      h('td', {class: 'number'}, (lt_us / cublas).toFixed(2)), h('td', {}, speed)]);
    lt.tips.set(row, () => [label, `cuBLAS ${cublas} µs, cuBLASLt ${lt_us} µs (best)`,
      `the median lies up to ${(100 * spread).toFixed(0)} % above the best`, lt.idOf(index), lt.problemOf(index)]);
    return row;
  };

  lt.timesOf = (pairs, first) => {
    const distance = (pair) => Math.abs(Math.log(pair[3] / pair[2]));
    const rank = (pair) => ({'cuBLAS faster': 0, 'cuBLASLt faster': 1}[pair[5]] ?? 2);
    const ordered = [...pairs].sort((a, b) => rank(a) - rank(b) || distance(b) - distance(a) || a[0] - b[0]);
    const scale = scaleOf(ordered);
    const ticks = ticksOf(scale);
    const body = h('tbody', {});
    let all = ordered.length <= kShown;
    const draw = () => body.replaceChildren(
      ...ordered.slice(0, all ? ordered.length : kShown).map((pair) => rowOf(pair, first, scale, ticks)));
    draw();
    const table = h('table', {class: 'small timed'}, [h('thead', {}, h('tr', {}, [h('th', {scope: 'col'}, 'product'),
      h('th', {scope: 'col', class: 'number'}, 'cuBLAS µs'), h('th', {scope: 'col', class: 'number'}, 'cuBLASLt µs'),
      h('th', {scope: 'col', class: 'plot-cell'}, [h('span', {class: 'hidden-text'}, 'ratio with spread'), axis(scale, ticks)]),
      h('th', {scope: 'col', class: 'number'}, 'ratio'), h('th', {scope: 'col'}, 'speed')])), body]);
    const figure = h('figure', {class: 'times'}, [h('figcaption', {}, [h('h4', {}, 'cuBLASLt against cuBLAS'),
      h('p', {class: 'muted'}, 'Time of cuBLASLt over that of cuBLAS: right of 1 it takes longer. Best of several runs; ' +
        'the line is the spread, how far the median lies above the best. What differs by more than noise comes first; ' +
        'beyond 2.5 a mark stands at the edge.')]),
    h('ul', {class: 'legend'}, [...Object.entries(kinds), ['within noise', noise]].map(([text, kind]) => h('li', {},
      [s('svg', {class: 'plot key ' + kind.name, viewBox: '0 0 16 16', 'aria-hidden': 'true'}, kind.shape(8)), text]))),
    h('div', {class: 'table-frame'}, table)]);
    if (!all) {
      const button = h('button', {type: 'button', class: 'quiet', 'aria-pressed': 'false'}, `All ${ordered.length} products`);
      button.addEventListener('click', () => { all = !all; button.setAttribute('aria-pressed', String(all)); draw(); });
      figure.append(button);
    }
    return figure;
  };
})();
