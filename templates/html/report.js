// Filters, tooltips, links to cases, and reading whole documents. The page can be read without it.
(() => {
  "use strict";
  const find = (selector, within = document) => within.querySelector(selector);
  const data = JSON.parse(find("#data").textContent);
  const words = data.words;
  const fill = (pattern, values) => pattern.replace(/\{(\w+)\}/g, (_, key) => values[key]);
  const language = document.documentElement.lang;
  const number = (value) => value.toLocaleString(language);
  const PAGE = 25;
  const PRINTED = 1000;

  // The documents' text is in the page once; everything else points into it.
  const articles = [...document.querySelectorAll("#documents details")];
  const names = articles.map((article) => find(".name", article).textContent);
  const texts = articles.map((article) => find(".text", article).textContent);
  const bases = [];
  texts.reduce((base, text) => { bases.push(base); return base + text.length + 1; }, 0);
  const folded = new Map();
  // Where cases begin. Without script these are the targets of links; here they would only draw the focus away.
  const anchors = new Map();
  document.querySelectorAll("#documents i[id]").forEach((anchor) => { anchors.set(anchor.id, anchor); anchor.removeAttribute("id"); });

  const running = (differences) => { let sum = 0; return Int32Array.from(differences, (step) => (sum += step)); };
  const side = (packed) => {
    const begin = running(packed.begin);
    const start = running(packed.start);
    return {
      begin, start, match: packed.match, labels: packed.labels,
      end: begin.map((value, row) => value + packed.units[row]),
      last: start.map((value, row) => value + packed.tokens[row] - 1),
      caseOf: new Map(),
    };
  };
  const sides = { gold: side(data.gold), pred: side(data.pred) };

  // The first index whose value is greater than the target.
  const above = (values, target) => {
    let low = 0, high = values.length;
    while (low < high) { const middle = (low + high) >> 1; if (values[middle] > target) high = middle; else low = middle + 1; }
    return low;
  };
  const documentAt = (unit) => above(bases, unit) - 1;
  const rowAt = (spans, unit) => { const row = above(spans.begin, unit) - 1; return row >= 0 && spans.end[row] > unit ? row : -1; };
  const touching = (spans, first, last) => {
    const rows = [];
    for (let row = above(spans.last, first - 1); row < spans.start.length && spans.start[row] <= last; row++) rows.push(row);
    return rows;
  };
  const labelsOf = (spans, row) => data.layers.map((_, layer) => spans.labels[layer][row]).map((code, layer) => code ? data.labels[layer][code - 1] : "").filter(Boolean).join(", ") || "–";

  // The labels of both sides at a place, each once.
  const labelAt = (unit) => [...new Set([sides.gold, sides.pred].map((spans) => [spans, rowAt(spans, unit)]).filter(([, row]) => row >= 0).map(([spans, row]) => labelsOf(spans, row)))].join(" / ");

  // Cases, in the order of the text.
  const cases = [];
  for (const [sheet, own, other] of [["FN", sides.gold, sides.pred], ["FP", sides.pred, sides.gold]]) {
    const packed = data[sheet], width = packed.id.length / packed.row.length;
    running(packed.row).forEach((row, i) => {
      const left = own.begin[row] - packed.before[i];
      const made = {
        sheet, own, other, row, left, right: left + packed.context[i], cut: +packed.cut[i], relaxed: packed.relaxed[i] === "1", sentence: packed.sentence[i], twins: packed.twins[i] ? sheet + packed.twins[i] : "",
        kind: data.classes[packed.class[i]], id: sheet + "-" + packed.id.slice(width * i, width * (i + 1)), document: documentAt(own.begin[row]),
      };
      own.caseOf.set(row, made);
      cases.push(made);
    });
  }
  cases.sort((a, b) => a.own.begin[a.row] - b.own.begin[b.row] || (a.sheet < b.sheet ? -1 : 1));
  const byId = new Map(cases.map((one) => [one.id, one]));
  const others = (one) => touching(one.other, one.own.start[one.row], one.own.last[one.row]);
  const partner = (one) => {
    let best = -1, most = 0;
    for (const row of others(one)) {
      const shared = Math.min(one.own.last[one.row], one.other.last[row]) - Math.max(one.own.start[one.row], one.other.start[row]) + 1;
      if (shared > most) { most = shared; best = row; }
    }
    return best;
  };
  const surface = (one) => slice(one.document, one.own.begin[one.row], one.own.end[one.row]);
  const slice = (index, from, to) => texts[index].slice(from - bases[index], to - bases[index]);
  const lower = (index) => {
    if (!folded.has(index)) {
      const text = texts[index], small = text.toLowerCase();
      folded.set(index, small.length === text.length ? small : [...text].map((c) => c.toLowerCase().length === c.length ? c.toLowerCase() : c).join(""));
    }
    return folded.get(index);
  };

  // Cells of the confusion matrix: 0 stands for a span without a label, -1 for no span.
  const cellOf = (one, layer) => {
    const found = partner(one);
    const own = one.own.labels[layer][one.row], other = found < 0 ? -1 : one.other.labels[layer][found];
    return one.sheet === "FN" ? own + "," + other : other + "," + own;
  };
  const cells = data.layers.map((_, layer) => cases.map((one) => cellOf(one, layer)));

  // Views
  const sections = [...document.querySelectorAll("main > section")];
  const links = [...document.querySelectorAll("nav a")];
  const show = (id) => {
    hideTip();
    if (id === "documents" && articles.length && !find("details.shown")) read(0);
    sections.forEach((section) => section.classList.toggle("shown", section.id === id));
    links.forEach((link) => { if (link.hash === "#" + id) link.setAttribute("aria-current", "page"); else link.removeAttribute("aria-current"); });
  };
  const address = (hash) => { try { history.replaceState(null, "", "#" + hash); } catch { /* some viewers forbid it */ } };

  // The list of cases
  const panel = find("#cases"), list = find(".case-list", panel), form = find("form", panel), status = find(".status", panel);
  const field = (name) => form.elements.namedItem(name);
  const pattern = find("#case-template");
  // Twins are one card: the first that the filters leave, or the one that somebody asked for.
  const leads = new Map();
  let matching = cases, groups = new Map(), chosen = cases, page = 0, current = null, cell = null;
  const fold = () => {
    groups = new Map();
    for (const one of matching) {
      if (!one.twins) continue;
      if (groups.has(one.twins)) groups.get(one.twins).push(one);
      else groups.set(one.twins, [one]);
    }
    const lead = (group) => groups.get(group).includes(leads.get(group)) ? leads.get(group) : groups.get(group)[0];
    const shown = new Map([...groups.keys()].map((group) => [group, lead(group)]));
    chosen = matching.filter((one) => !one.twins || shown.get(one.twins) === one);
  };
  const element = (tag, text, kind) => { const made = document.createElement(tag); if (kind) made.className = kind; made.textContent = text; return made; };

  const marked = (one) => {
    const rows = others(one), own = [one.own.begin[one.row], one.own.end[one.row]];
    const extents = rows.map((row) => [one.other.begin[row], one.other.end[row]]);
    // Within the spans of the other side, further spans of the case's own side show as what they are.
    const beside = rows.length ? touching(one.own, one.other.start[rows[0]], one.other.last[rows[rows.length - 1]]) : [];
    const further = beside.map((row) => [one.own.begin[row], one.own.end[row]]);
    const lowest = Math.min(own[0], ...extents.flat()), highest = Math.max(own[1], ...extents.flat());
    const edges = further.flat().filter((edge) => lowest <= edge && edge <= highest);
    const cuts = [...new Set([one.left, one.right, ...own, ...extents.flat(), ...edges])].sort((a, b) => a - b);
    const parts = document.createDocumentFragment();
    if (one.cut & 1) parts.append("[…] ");
    for (let i = 0; i + 1 < cuts.length; i++) {
      const from = cuts[i], text = slice(one.document, from, cuts[i + 1]);
      const holds = ([begin, end]) => begin <= from && from < end;
      const inOther = extents.some(holds), inOwn = holds(own) || (inOther && further.some(holds));
      if (!inOwn && !inOther) { parts.append(text); continue; }
      // A cut between two words leaves the space with the first; it belongs to nobody.
      const [, before, shown] = /^([ \t\n]*)([^]*?)[ \t\n]*$/.exec(text);
      if (!shown) { parts.append(text); continue; }
      const mark = element("mark", shown, inOwn && inOther ? "b" : (one.sheet === "FN") === inOwn ? "g" : "p");
      mark.tabIndex = 0;
      mark.dataset.at = from + before.length;
      mark.dataset.label = labelAt(from + before.length);
      parts.append(before, mark, text.slice(before.length + shown.length));
    }
    if (one.cut & 2) parts.append(" […]");
    return parts;
  };
  const kindOf = (one) => words.cases[one.sheet][one.kind];
  const link = (id) => { const made = element("a", id); made.href = "#" + id; return made; };
  const item = (one) => {
    const made = pattern.content.firstElementChild.cloneNode(true);
    made.classList.add(one.sheet.toLowerCase());
    made.tabIndex = -1;
    made.dataset.id = one.id;
    find(".badge", made).textContent = kindOf(one);
    find(".place", made).href = "#in-" + one.id;
    find(".document", made).textContent = names[one.document];
    if (one.sentence) find(".sentence", made).textContent = one.sentence;
    else find(".sentence-place", made).remove();
    find(".equivalent", made).hidden = !one.relaxed;
    find(".case-id", made).textContent = one.id;
    find(".case-id", made).href = "#" + one.id;
    find(".context", made).replaceChildren(marked(one));
    const rows = others(one);
    const own = labelsOf(one.own, one.row), other = rows.map((row) => labelsOf(one.other, row)).join(" | ") || words.nothing;
    find(".reference", made).textContent = one.sheet === "FN" ? own : other;
    find(".model", made).textContent = one.sheet === "FN" ? other : own;
    const related = rows.map((row) => one.other.caseOf.get(row)).filter(Boolean);
    if (related.length) {
      const place = find(".related", made);
      place.hidden = false;
      related.forEach((each, i) => find("dd", place).append(i ? ", " : "", link(each.id)));
    }
    const twins = groups.get(one.twins) || [];
    if (twins.length > 1) {
      const place = find("details.alike", made);
      place.hidden = false;
      find("summary", place).textContent = fill(words.alike, { count: number(twins.length) });
      const rest = twins.filter((each) => each !== one);
      const list = () => rest.forEach((each, i) => find("p", place).append(i ? ", " : "", link(each.id), " " + names[each.document]));
      place.addEventListener("toggle", list, { once: true });  // there may be thousands, and few are looked at
    }
    if (one === current) made.setAttribute("aria-current", "true");
    return made;
  };
  const draw = () => {
    const pages = Math.max(1, Math.ceil(chosen.length / PAGE));
    page = Math.min(Math.max(page, 0), pages - 1);
    list.replaceChildren(...chosen.slice(page * PAGE, page * PAGE + PAGE).map(item));
    if (!chosen.length) list.append(element("li", cell ? words.empty_cell : words.empty, "empty"));
    find(".page-number", panel).textContent = fill(words.page, { page: number(page + 1), pages: number(pages) });
    find(".back", panel).disabled = page === 0;
    find(".on", panel).disabled = page === pages - 1;
  };

  const collator = new Intl.Collator(language, { numeric: true });
  const keys = {
    class: (one) => words.class[one.kind], label: (one) => labelsOf(one.own, one.row), span: surface, document: (one) => names[one.document],
  };
  const orders = { position: cases };
  const ordered = (kind) => {
    if (!orders[kind]) {
      const known = new Map(), rank = new Map();
      for (const one of cases) known.set(one, keys[kind](one));
      [...new Set(known.values())].sort(collator.compare).forEach((key, i) => rank.set(key, i));
      orders[kind] = [...cases].sort((a, b) => rank.get(known.get(a)) - rank.get(known.get(b)));
    }
    return orders[kind];
  };
  const numbers = new Map(cases.map((one, i) => [one, i]));
  const apply = () => {
    const sheet = field("sheet").value, kind = field("kind").value, within = field("document").value;
    const [layer, code] = field("label").value.split(",").map(Number);
    const query = field("text").value.trim().toLowerCase();
    matching = ordered(field("sort").value).filter((one) =>
      (!sheet || one.sheet === sheet) && (!kind || one.kind === kind) && (within === "" || one.document === +within)
      && (code === undefined || one.own.labels[layer][one.row] === code)
      && (!cell || cells[cell.layer][numbers.get(one)] === cell.key)
      && (!query || one.id.toLowerCase().includes(query) || names[one.document].toLowerCase().includes(query)
        || lower(one.document).slice(one.left - bases[one.document], one.right - bases[one.document]).includes(query)));
    fold();
    const chip = find(".cell-filter", form);
    chip.hidden = !cell;
    if (cell) find("span", chip).textContent = cell.text;
    page = 0;
    current = null;
    status.textContent = fill(words.count, { shown: number(matching.length), total: number(cases.length) });
    draw();
    if (panel.classList.contains("shown")) address("cases");
  };
  const clear = () => { form.reset(); cell = null; apply(); };
  const select = (one, note = "") => {
    if (one.twins) { leads.set(one.twins, one); fold(); }
    let place = chosen.indexOf(one);
    if (place < 0) { clear(); place = chosen.indexOf(one); note = words.cleared; }
    current = one;
    page = Math.floor(place / PAGE);
    draw();
    const shown = list.children[place - page * PAGE];
    shown.focus({ preventScroll: true });
    shown.scrollIntoView({ block: "nearest" });
    status.textContent = [fill(words.position, { place: number(place + 1), total: number(chosen.length) }), note].filter(Boolean).join(" · ");
    address(one.id);
  };
  const step = (by) => {
    if (!chosen.length) return;
    const place = current ? chosen.indexOf(current) + by : by > 0 ? page * PAGE : Math.min(chosen.length, page * PAGE + PAGE) - 1;
    if (place < 0 || place >= chosen.length) status.textContent = by > 0 ? words.last : words.first;
    else select(chosen[place]);
  };
  // Paper has no pages to turn: print what the filters leave, up to a limit that is stated.
  window.addEventListener("beforeprint", () => {
    if (!panel.classList.contains("shown") || chosen.length <= PAGE) return;
    list.replaceChildren(...chosen.slice(0, PRINTED).map(item));
    if (chosen.length > PRINTED) list.append(element("li", fill(words.printed, { printed: number(PRINTED), total: number(chosen.length) }), "empty"));
  });
  window.addEventListener("afterprint", () => { if (panel.classList.contains("shown")) draw(); });
  const turn = (by) => { page += by; current = null; draw(); window.scrollTo({ top: panel.offsetTop }); };

  const option = (value, text) => { const made = element("option", text); made.value = value; return made; };
  for (const kind of data.classes) {
    const count = cases.reduce((sum, one) => sum + (one.kind === kind), 0);
    if (count) field("kind").append(option(kind, words.class[kind] + " (" + number(count) + ")"));
  }
  data.layers.forEach((layer, i) => {
    const group = document.createElement("optgroup");
    group.label = layer;
    data.labels[i].forEach((label, code) => group.append(option(i + "," + (code + 1), label)));
    field("label").append(...(data.layers.length > 1 ? [group] : group.children));
  });
  const held = cases.reduce((counts, one) => counts.set(one.document, (counts.get(one.document) || 0) + 1), new Map());
  names.forEach((name, i) => { if (held.has(i)) field("document").append(option(i, name + " (" + number(held.get(i)) + ")")); });
  let waiting = 0;
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("change", apply);
  field("text").addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(apply, 150); });
  find(".cell-filter button", form).addEventListener("click", () => { cell = null; apply(); field("sheet").focus(); });
  find(".reset", panel).addEventListener("click", clear);
  find(".back", panel).addEventListener("click", () => turn(-1));
  find(".on", panel).addEventListener("click", () => turn(1));
  panel.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || /^(INPUT|SELECT)$/.test(event.target.tagName)) return;
    const inList = list.contains(event.target);
    const by = event.key === "j" || (inList && event.key === "ArrowDown") ? 1 : event.key === "k" || (inList && event.key === "ArrowUp") ? -1 : 0;
    if (!by) return;
    event.preventDefault();
    const here = event.target.closest(".case");
    if (here) current = byId.get(here.dataset.id);
    step(by);
  });

  // The confusion matrix: cells with cases become buttons.
  for (const table of document.querySelectorAll(".matrix")) {
    const layer = +table.dataset.layer, known = data.labels[layer].length;
    const heads = [...table.tHead.querySelectorAll("th:not(.corner, .total)")].map((head) => head.textContent), size = heads.length;
    const code = (i) => i < known ? i + 1 : i === size - 1 ? -1 : 0;
    const counts = cells[layer].reduce((sum, key) => sum.set(key, (sum.get(key) || 0) + 1), new Map());
    [...table.tBodies[0].rows].forEach((line, i) => line.querySelectorAll("td:not(.total)").forEach((place, j) => {
      const key = code(i) + "," + code(j), held = counts.get(key);
      if (!held) return;
      const text = fill(words.cell, { reference: heads[i], model: heads[j] });
      place.dataset.count = place.textContent.replace(/\D/g, "") || "0";
      const button = element("button", place.textContent || "0");
      button.type = "button";
      button.setAttribute("aria-label", fill(words.cell_label, { count: place.textContent || "0", cell: text, cases: number(held) }));
      button.title = fill(words.cell_title, { cases: number(held) });
      button.addEventListener("click", () => {
        form.reset();
        const exact = place.dataset.count === String(held);
        cell = { layer, key, text: exact ? text : text + " – " + fill(words.cell_differs, { count: number(+place.dataset.count), cases: number(held) }) };
        apply();
        location.hash = "cases";
      });
      place.replaceChildren(button);
    }));
    if (!layer) table.parentNode.before(element("p", words.click, "faint"));
  }

  // Whole documents
  const reader = find("#documents"), picker = find("select", reader);
  // The documents that the search leaves, in the chosen order.
  const search = find("[name=find]", reader), order = find("[name=order]", reader);
  const byOrder = { position: (a, b) => a - b, errors: (a, b) => (held.get(b) || 0) - (held.get(a) || 0) || a - b, name: (a, b) => collator.compare(names[a], names[b]) || a - b };
  let offered = [], reading = 0;
  const steps = () => {
    const place = offered.indexOf(reading);
    find(".back", reader).disabled = place <= 0;
    find(".on", reader).disabled = place < 0 ? !offered.length : place === offered.length - 1;
  };
  const offer = () => {
    const query = search.value.trim().toLowerCase();
    offered = names.map((_, i) => i).filter((i) => !query || names[i].toLowerCase().includes(query)).sort(byOrder[order.value]);
    picker.replaceChildren(...offered.map((i) => option(i, names[i] + (held.has(i) ? " (" + number(held.get(i)) + ")" : ""))));
    find(".found", reader).textContent = query ? fill(words.documents, { shown: number(offered.length), total: number(names.length) }) : "";
    if (offered.includes(reading)) picker.value = reading;
    steps();
  };
  const read = (index) => {
    const article = articles[index];
    articles.forEach((each) => { if (each !== article && each.classList.contains("shown")) { each.classList.remove("shown"); each.open = false; } });
    article.classList.add("shown");
    article.open = true;
    reading = index;
    if (!offered.includes(index)) { search.value = ""; offer(); }
    picker.value = index;
    steps();
    if (article.dataset.ready) return;
    article.dataset.ready = "yes";
    let unit = bases[index];
    const walker = document.createTreeWalker(find(".text", article), NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const mark = walker.currentNode.parentElement;
      if (mark.tagName === "MARK") {
        mark.dataset.at = unit;
        mark.tabIndex = 0;
        mark.dataset.label = labelAt(unit);
        if (casesAt(unit).length) mark.setAttribute("role", "link");
      }
      unit += walker.currentNode.length;
    }
  };
  const casesAt = (unit) => [sides.gold, sides.pred].map((spans) => spans.caseOf.get(rowAt(spans, unit))).filter(Boolean);
  const open = (index) => { read(index); address("doc-" + (index + 1)); };
  const follow = (target) => { const mark = target.closest("mark[role=link]"); if (mark) location.hash = casesAt(+mark.dataset.at)[0].id; return mark; };
  if (articles.length) {
    picker.addEventListener("change", () => open(+picker.value));
    const beside = (by) => offered[offered.indexOf(reading) + by];
    find(".back", reader).addEventListener("click", () => open(beside(-1)));
    find(".on", reader).addEventListener("click", () => open(beside(1)));
    search.addEventListener("input", () => { offer(); if (offered.length && !offered.includes(reading)) open(offered[0]); });
    order.addEventListener("change", offer);
    // The next passage that is a case: in this document, else in the next one of the list that has any.
    const errorsIn = (index) => {
      let before = null;  // a case may be marked in several pieces
      return [...articles[index].querySelectorAll("mark[role=link]")].filter((mark) => {
        const [one] = casesAt(+mark.dataset.at), fresh = one !== before;
        before = one;
        return fresh;
      });
    };
    const nextError = () => {
      let index = reading, rest = errorsIn(index);
      const last = rest.findIndex((mark) => mark.classList.contains("here"));
      rest = rest.slice(last + 1);
      for (let place = offered.indexOf(index) + 1; !rest.length && place < offered.length; place++) {
        if (!held.has(offered[place])) continue;
        index = offered[place];
        open(index);
        rest = errorsIn(index);
      }
      find(".found", reader).textContent = rest.length ? "" : words.no_more_errors;
      if (!rest.length) return;
      document.querySelectorAll("mark.here").forEach((each) => each.classList.remove("here"));
      rest[0].classList.add("here");
      rest[0].scrollIntoView({ block: "center" });
      rest[0].focus({ preventScroll: true });
    };
    find(".next-error", reader).addEventListener("click", nextError);
    reader.addEventListener("keydown", (event) => {
      if (event.key !== "n" || event.ctrlKey || event.altKey || event.metaKey || /^(INPUT|SELECT)$/.test(event.target.tagName)) return;
      event.preventDefault();
      nextError();
    });
    find("form", reader).addEventListener("submit", (event) => event.preventDefault());
    reader.addEventListener("click", (event) => { if (String(getSelection()) === "") follow(event.target); });
    reader.addEventListener("keydown", (event) => { if (event.key === "Enter" && follow(event.target)) event.preventDefault(); });
  }

  // Tooltips: on hover and on focus; Escape closes them, and the pointer may rest on them.
  const tip = find("#tip");
  let leaving = 0, shownFor = null;
  function hideTip() {
    clearTimeout(leaving);
    if (shownFor) shownFor.removeAttribute("aria-describedby");
    shownFor = null;
    tip.hidden = true;
  }
  // What the labels of both sides at a place mean, where the project says so.
  const meaningsAt = (unit) => {
    const found = new Set();
    [sides.gold, sides.pred].forEach((spans) => { const row = rowAt(spans, unit); if (row >= 0) labelsOf(spans, row).split(", ").forEach((label) => found.add(label)); });
    return [...found].filter((label) => Object.hasOwn(data.meanings, label)).map((label) => [label, data.meanings[label]]);
  };
  const line = (title, text) => { const made = document.createElement("div"); made.append(element("b", title + ": "), text); return made; };
  const showTip = (mark) => {
    if (mark === shownFor) { clearTimeout(leaving); return; }
    hideTip();
    const unit = +mark.dataset.at;
    const lines = [["reference", sides.gold], ["model", sides.pred]].map(([key, spans]) => {
      const row = rowAt(spans, unit);
      if (row < 0) return line(words[key], words.nothing);
      const place = fill(spans.start[row] === spans.last[row] ? words.token : words.tokens, { start: spans.start[row], end: spans.last[row] });
      return line(words[key], [labelsOf(spans, row), place, words.match[spans.match[row]]].join(" · "));
    });
    meaningsAt(unit).forEach(([label, meaning]) => lines.push(line(label, meaning)));
    casesAt(unit).forEach((one) => lines.push(line(words.case, one.id + " · " + kindOf(one))));
    tip.replaceChildren(...lines);
    tip.style.left = tip.style.top = "0";
    tip.hidden = false;
    const box = mark.getClientRects()[0], size = tip.getBoundingClientRect(), width = document.documentElement.clientWidth;
    const top = box.bottom + size.height + 8 < innerHeight ? box.bottom + 6 : Math.max(4, box.top - size.height - 6);
    tip.style.left = scrollX + Math.max(8, Math.min(box.left, width - size.width - 8)) + "px";
    tip.style.top = scrollY + top + "px";
    mark.setAttribute("aria-describedby", "tip");
    shownFor = mark;
  };
  const overMark = (event) => event.target.closest && event.target.closest("mark[data-at]");
  document.addEventListener("mouseover", (event) => {
    const mark = overMark(event);
    if (mark) showTip(mark);
    else if (tip.contains(event.target)) clearTimeout(leaving);
    else if (shownFor) { clearTimeout(leaving); leaving = setTimeout(hideTip, 200); }
  });
  document.addEventListener("focusin", (event) => { const mark = overMark(event); if (mark) showTip(mark); else hideTip(); });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hideTip(); });

  const route = () => {
    let hash = location.hash.slice(1);
    try { hash = decodeURIComponent(hash); } catch { /* not one of ours */ }
    if (hash === "main" && sections.some((section) => section.classList.contains("shown"))) return;
    const inside = hash.startsWith("in-") && byId.get(hash.slice(3));
    if (byId.has(hash)) {
      show("cases");
      select(byId.get(hash));
    } else if (inside) {
      read(inside.document);
      show("documents");
      let mark = anchors.get(inside.id);
      while (mark && mark.tagName !== "MARK") mark = mark.nextElementSibling;
      document.querySelectorAll("mark.here").forEach((each) => each.classList.remove("here"));
      mark.classList.add("here");
      mark.scrollIntoView({ block: "center" });
      mark.focus({ preventScroll: true });
    } else if (/^doc-\d+$/.test(hash) && articles[hash.slice(4) - 1]) {
      read(hash.slice(4) - 1);
      show("documents");
      window.scrollTo({ top: 0 });
    } else {
      const id = sections.some((section) => section.id === hash) ? hash : sections[0].id;
      show(id);
      if (/^F[NP]-/.test(hash)) { show("cases"); status.textContent = fill(words.unknown, { id: hash }); }
      if (hash) { window.scrollTo({ top: 0 }); find("#" + id + " h2").focus({ preventScroll: true }); }
    }
  };
  document.querySelectorAll("input[name=inline]").forEach((box) => box.addEventListener("change", () => {
    document.documentElement.classList.toggle("inline-labels", box.checked);
    document.querySelectorAll("input[name=inline]").forEach((each) => { each.checked = box.checked; });
  }));
  document.documentElement.classList.add("js");
  offer();
  apply();
  window.addEventListener("hashchange", route);
  // A link to where the address already points changes nothing for the browser, but the view may have moved on.
  document.addEventListener("click", (event) => {
    const target = event.target.closest && event.target.closest("a[href^='#']");
    if (target && target.hash === location.hash) route();
  });
  route();
})();
