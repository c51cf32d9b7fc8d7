"use strict";
// News comes as parts of markup that the server has escaped; an explanation comes as data, and is written as text.
const $ = (id) => document.getElementById(id);
const model = $("model");
let token = "", asked = null;

const headers = () => (token ? { Authorization: "Bearer " + token } : {});

function show(news) {
  for (const [key, markup] of Object.entries(news)) {
    if (key === "about") $("about").textContent = markup;
    else if (key === "state") status(markup, markup === "learning" || markup === "answering");
    else {
      $(key).innerHTML = markup;
      $(key + "-section").hidden = !markup;
    }
  }
}

function status(text, good) {
  $("status").textContent = text;
  $("status").className = "chip " + (good ? "on" : "off");
}

async function listen() {
  const mine = (asked = new AbortController());
  while (asked === mine) {
    try {
      const answer = await fetch("models/" + model.value + "/events", { headers: headers(), signal: mine.signal });
      if (answer.status === 401 || answer.status === 403) {
        $("asking").hidden = false;
        return status("a token is needed", false);
      }
      if (!answer.ok) throw new Error(answer.status);
      $("asking").hidden = true;
      await read(answer.body.getReader());
    } catch (problem) {
      if (mine.signal.aborted) return;
    }
    status("no news; trying again", false);
    await new Promise((done) => setTimeout(done, 1000));
  }
}

async function read(reader) {
  const decoder = new TextDecoder();
  for (let text = ""; ; ) {
    const { value, done } = await reader.read();
    if (done) return;
    text += decoder.decode(value, { stream: true });
    for (let end; (end = text.indexOf("\n\n")) >= 0; text = text.slice(end + 2)) show(JSON.parse(text.slice(6, end)));
  }
}

function restart() {
  if (asked) asked.abort();
  $("title").textContent = model.value;
  for (const part of document.querySelectorAll("main section[id$=-section]")) {
    if (part.id !== "explain-section") part.hidden = part.id !== "tiles-section";
  }
  listen();
}

const SVG = "http://www.w3.org/2000/svg";
function drawn(name, attributes, text) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

const short = (value) => (typeof value === "number" ? String(Number(value.toPrecision(4))) : String(value));

function explained(found) {
  const out = document.createElement("figure");
  const head = document.createElement("p");
  head.textContent = found.label + " rather than " + found.against + ": P = " + (100 * found.probability).toFixed(1) +
    " %, log-odds " + found.log_odds.toFixed(3);
  const terms = Object.entries(found.terms).sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
  const rows = [["base", found.base], ...terms.map(([n, v]) => [n + " = " + short(found.values[n]), v]), ["together", found.together]];
  const most = Math.max(1e-9, ...rows.map((row) => Math.abs(row[1])));
  const narrow = $("main").clientWidth < 560; // drawn for the width there is, so that text stays readable
  const [wide, names, letters, middle, half] = narrow ? [360, 150, 20, 225, 65] : [640, 280, 38, 425, 130];
  const svg = drawn("svg", { viewBox: "0 0 " + wide + " " + (8 + 24 * rows.length), role: "img" });
  svg.append(drawn("title", {}, "What each column adds to the log-odds"));
  svg.append(drawn("line", { x1: middle, x2: middle, y1: 0, y2: 8 + 24 * rows.length, class: "axis" }));
  rows.forEach(([name, value], i) => {
    const long = (half * Math.abs(value)) / most, y = 6 + 24 * i;
    const text = name.length > letters ? name.slice(0, letters - 1) + "…" : name;
    const label = drawn("text", { x: names, y: y + 13, class: "end" }, text);
    label.prepend(drawn("title", {}, name)); // the whole of it, where it is cut
    svg.append(label);
    const group = drawn("g", { class: "fill " + (value < 0 ? "c-against" : "c-for") });
    group.append(drawn("rect", { x: value < 0 ? middle - long : middle, y, width: long, height: 17, rx: 2 }));
    svg.append(group, drawn("text", { x: wide - 8, y: y + 13, class: "end" }, (value > 0 ? "+" : "") + value.toFixed(3)));
  });
  out.append(head, svg);
  return out;
}

async function explain() {
  let content;
  try {
    const body = JSON.stringify({ record: JSON.parse($("record").value) });
    const sent = { ...headers(), "Content-Type": "application/json" };
    const answer = await fetch("models/" + model.value + "/explain", { method: "POST", headers: sent, body });
    const found = await answer.json();
    if (!answer.ok) throw new Error(found.error.message);
    content = explained(found);
  } catch (problem) {
    content = document.createElement("p");
    content.className = "wrong";
    content.textContent = problem.message;
  }
  $("explanation").replaceChildren(content);
}

$("explain").addEventListener("submit", (event) => { event.preventDefault(); explain(); });
$("asking").addEventListener("submit", (event) => { event.preventDefault(); token = $("token").value.trim(); restart(); });
model.addEventListener("change", restart);
$("mistakes").addEventListener("click", (event) => {
  if (!event.target.dataset.record) return;
  $("record").value = event.target.dataset.record;
  $("explain-section").scrollIntoView();
  explain();
});
listen();
