// Lists the spans behind a cell of a matrix.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const words = data.words;
  const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, key) => String(values[key]));
  const element = (name, text) => {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    return made;
  };

  function list(layer, row, column, target) {
    const found = data.layers[layer];
    const total = found.counts[row][column];
    const spans = found.cells[row + "-" + column] || [];
    const title = element("h2", fill(words.cell, { gold: found.rows[row], pred: found.columns[column] }));
    target.replaceChildren(title);
    if (!spans.length) {
      target.append(element("p", words.empty));
      return;
    }
    if (spans.length < total) target.append(element("p", fill(words.shown, { shown: spans.length, total: total })));
    const table = element("table");
    const head = table.createTHead().insertRow();
    for (const key of ["document", "reference", "model", "case", "context"]) {
      const cell = element("th", words[key]);
      cell.scope = "col";
      head.append(cell);
    }
    const body = table.createTBody();
    for (const [name, reference, model, id, context] of spans) {
      const line = body.insertRow();
      for (const text of [name, reference, model, id]) line.insertCell().textContent = text;
      const cell = line.insertCell();
      for (const [text, mark] of context) {
        if (!mark) cell.append(text);
        else {
          const marked = element("mark", text);
          marked.className = mark[0];
          cell.append(marked);
        }
      }
    }
    target.append(table);
  }

  for (const table of document.querySelectorAll("table.matrix")) {
    const layer = Number(table.dataset.layer);
    const target = document.getElementById("spans-" + layer);
    const at = (row, column) => table.querySelector(`button[data-row="${row}"][data-column="${column}"]`);
    const first = at(0, 0);
    if (!first) continue;
    first.tabIndex = 0; // one stop for the tab key; arrow keys move inside the matrix
    table.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (!button) return;
      for (const other of table.querySelectorAll('button[aria-pressed="true"]')) other.removeAttribute("aria-pressed");
      button.setAttribute("aria-pressed", "true");
      list(layer, Number(button.dataset.row), Number(button.dataset.column), target);
    });
    table.addEventListener("focusin", (event) => {
      for (const other of table.querySelectorAll('button[tabindex="0"]')) other.tabIndex = -1;
      if (event.target.matches("button")) event.target.tabIndex = 0;
    });
    table.addEventListener("keydown", (event) => {
      const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
      const move = moves[event.key];
      if (!move || !event.target.matches("button")) return;
      const next = at(Number(event.target.dataset.row) + move[0], Number(event.target.dataset.column) + move[1]);
      if (next) {
        event.preventDefault();
        next.focus();
      }
    });
  }
})();
