"use strict";
const all = (where, what) => Array.from(where.querySelectorAll(what));

// Tables: a click on a heading sorts by its column.
for (const table of all(document, "table.sortable")) {
  const heads = all(table, "thead th"), body = table.tBodies[0];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const first = body.rows[0].cells[column].dataset.value === undefined ? "ascending" : "descending";
      const other = first === "ascending" ? "descending" : "ascending";
      const way = head.getAttribute("aria-sort") === first ? other : first;
      heads.forEach(h => h.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", way);
      const key = row => {
        const cell = row.cells[column];
        return cell.dataset.value === undefined ? cell.textContent : Number(cell.dataset.value);
      };
      const sign = way === "ascending" ? 1 : -1;
      const order = (a, b) => sign * (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b)));
      Array.from(body.rows).sort((a, b) => order(key(a), key(b))).forEach(row => body.append(row));
    });
  });
}

// Attributes: search, order, and the rest of a long list.
for (const controls of all(document, ".controls")) {
  const cards = document.getElementById(controls.dataset.for);
  const [find, order, button] = [".find", ".order", ".all"].map(what => controls.querySelector(what));
  const list = all(cards, ".card"), most = Number(controls.dataset.most);
  let everything = false;
  const show = () => {
    const wanted = find.value.trim().toLowerCase();
    let met = 0, shown = 0;
    for (const card of all(cards, ".card")) {
      const fits = card.dataset.name.includes(wanted);
      met += fits;
      card.hidden = !fits || (!everything && shown >= most);
      shown += !card.hidden;
    }
    controls.querySelector(".count").textContent = `${shown.toLocaleString("en")} of ${list.length.toLocaleString("en")} attributes`;
    button.hidden = shown === met;
  };
  find.addEventListener("input", show);
  button.addEventListener("click", () => { everything = true; show(); });
  order.addEventListener("change", () => {
    const by = order.value, name = (a, b) => a.dataset.name.localeCompare(b.dataset.name, "en", {numeric: true});
    const sorted = list.slice().sort((a, b) => by === "name" ? name(a, b)
      : by === "kind" ? a.dataset.kind.localeCompare(b.dataset.kind) || name(a, b)
      : Number(b.dataset[by]) - Number(a.dataset[by]) || name(a, b));
    cards.append(...sorted);
    show();
  });
}

// Words: search in a table.
for (const find of all(document, ".find-rows")) {
  const rows = all(find.closest("div"), "tbody tr");
  find.addEventListener("input", () => {
    const wanted = find.value.trim().toLowerCase();
    for (const row of rows) row.hidden = !row.cells[0].textContent.toLowerCase().includes(wanted);
  });
}

// Thresholds: what moving one does.
for (const chooser of all(document, ".chooser")) {
  const lines = JSON.parse(chooser.dataset.lines), positives = Number(chooser.dataset.positives);
  const slider = chooser.querySelector("input"), told = chooser.querySelector("output");
  const share = value => `${(100 * value).toFixed(1)} %`, count = value => value.toLocaleString("en");
  const negatives = Number(chooser.dataset.negatives), [left, right_, top, bottom] = chooser.dataset.frame.split(",").map(Number);
  const move = (what, x, y) => {
    for (const dot of all(chooser.parentElement, `${what} circle`)) {
      const box = dot.ownerSVGElement.viewBox.baseVal;
      dot.setAttribute("cx", left + (box.width - left - right_) * x);
      dot.setAttribute("cy", top + (box.height - top - bottom) * (1 - y));
    }
  };
  slider.addEventListener("input", () => {
    const [threshold, right, wrong] = lines[slider.value];
    const precision = right + wrong ? right / (right + wrong) : 1, recall = positives ? right / positives : 0;
    const f1 = positives + right + wrong ? 2 * right / (positives + right + wrong) : 0;
    move(".on-roc", negatives ? wrong / negatives : 0, recall);
    move(".on-recall", recall, precision);
    told.textContent = `${threshold.toFixed(3)}: precision ${share(precision)}, recall ${share(recall)}, F1 ${share(f1)}; ` +
      `${count(right)} found, ${count(positives - right)} missed, ${count(wrong)} false alarms`;
  });
}

// On paper, folded models are unfolded.
addEventListener("beforeprint", () => all(document, "details.model").forEach(part => { part.open = true; }));
