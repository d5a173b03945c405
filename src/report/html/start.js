// Theme, tooltips and the buttons of what was written in full; starts the rest.
'use strict';

(() => {
  const themes = ['system', 'light', 'dark'];
  const startTheme = () => {
    const button = lt.byId('theme');
    let place = 0;
    button.hidden = false;
    button.addEventListener('click', () => {
      place = (place + 1) % themes.length;
      if (place === 0) delete document.documentElement.dataset.theme;
      else document.documentElement.dataset.theme = themes[place];
      lt.byId('theme-name').textContent = themes[place];
      lt.announce('Theme: ' + themes[place]);
    });
  };

  // One tooltip for all; what it says is made when it is shown.
  lt.tips = new WeakMap();
  const tip = lt.byId('tip');
  let holder = null;
  const hide = () => {
    if (holder !== null) holder.removeAttribute('aria-describedby');
    holder = null;
    tip.hidden = true;
  };
  const place = () => {
    const box = holder.getBoundingClientRect();
    const size = tip.getBoundingClientRect();
    const left = Math.max(8, Math.min(box.left, document.documentElement.clientWidth - size.width - 8));
    const below = box.bottom + 6;
    const top = below + size.height > window.innerHeight ? Math.max(8, box.top - size.height - 6) : below;
    tip.style.left = left + 'px';
    tip.style.top = top + 'px';
  };
  const show = (element) => {
    hide();
    holder = element;
    tip.replaceChildren(...lt.tips.get(element)().filter(Boolean).map((line) => lt.element('div', {}, line)));
    tip.hidden = false;
    element.setAttribute('aria-describedby', 'tip');
    place();
  };
  const holderOf = (target) => {
    const element = target instanceof Element ? target.closest('td[data-case], .timed tbody tr') : null;
    return element !== null && lt.tips.has(element) ? element : null;
  };
  const startTips = () => {
    for (const name of ['pointerover', 'focusin']) {
      document.addEventListener(name, (event) => {
        const element = holderOf(event.target);
        if (element === holder) return;
        if (element !== null) show(element);
        else if (!tip.contains(event.target)) hide();
      });
    }
    document.addEventListener('keydown', (event) => { if (event.key === 'Escape') hide(); });
    // A cell that takes the focus may scroll into view only then.
    window.addEventListener('scroll', () => { if (holder !== null) place(); }, {passive: true, capture: true});
  };

  const startButtons = () => {
    for (const button of document.querySelectorAll('button.copy')) {
      button.hidden = false;
      button.addEventListener('click', () => lt.copy(button, button.previousElementSibling.textContent));
    }
    for (const button of document.querySelectorAll('button.show-cases')) {
      button.hidden = false;
      button.addEventListener('click', () => lt.showCases(Number(button.dataset.check)));
    }
    // The id of a finding is CHECK.REASON.
    for (const button of document.querySelectorAll('button.show-finding')) {
      const id = button.dataset.finding;
      const check = lt.checks.findIndex((one) => id.startsWith(one.id + '.'));
      const reason = check < 0 ? -1 : lt.data.texts.indexOf(id.slice(lt.checks[check].id.length + 1));
      if (reason <= 0) continue;
      button.hidden = false;
      button.addEventListener('click', () => lt.showCases(check, reason));
    }
  };

  // Folded findings are printed too.
  const startPrint = () => {
    let closed = [];
    window.addEventListener('beforeprint', () => {
      closed = [...document.querySelectorAll('details:not([open])')];
      for (const one of closed) one.open = true;
    });
    window.addEventListener('afterprint', () => { for (const one of closed) one.open = false; });
  };

  startTheme();
  startButtons();
  lt.startTable();
  document.documentElement.dataset.ready = 'table';
  startTips();
  startPrint();
  // After the first rows are on the screen.
  setTimeout(() => {
    lt.startPictures();
    document.documentElement.dataset.ready = 'all';
  });
})();
