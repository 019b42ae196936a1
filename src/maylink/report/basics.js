"use strict";
/* Data of the page and small helpers. Text from the data only ever goes through textContent. */
const DATA = JSON.parse(document.getElementById("data").textContent);
const SHAPES = ["circle", "square", "triangle", "diamond"];
const N_BASE = 8; // colours of the style sheet; others are mixed from them
const N_COLOURS = 24;
const NAMESPACE = "http://www.w3.org/2000/svg";

function byId(id) { return document.getElementById(id); }

/* An element with a class, and children that are elements or plain text. */
function make(tag, look, ...children) {
  const element = document.createElement(tag);
  if (look) element.className = look;
  for (const child of children) {
    if (child === null || child === undefined) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return element;
}

function button(look, text, act) {
  const element = make("button", look, text);
  element.type = "button";
  if (act) element.addEventListener("click", act);
  return element;
}

/* Numbers that were packed as base64, little-endian. */
function unpack(text, bytes) {
  const raw = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  if (bytes === 1) return raw;
  const view = new DataView(raw.buffer);
  const read = bytes === 2 ? (at) => view.getUint16(at, true) : (at) => view.getUint32(at, true);
  return Uint32Array.from({ length: raw.length / bytes }, (_, k) => read(bytes * k));
}

function count(number) { return number.toLocaleString("en"); }

function formatNumber(number) {
  if (number === null || number === undefined) return "–";
  if (Number.isInteger(number) && Math.abs(number) < 1e6) return String(number).replace("-", "−");
  const size = Math.abs(number);
  const text = size !== 0 && (size < 1e-3 || size >= 1e6)
    ? number.toExponential(2) : String(Number(number.toPrecision(3)));
  return text.replace("-", "−");
}

/* A number of a column as text: of dates, which are days since 1970, the day. */
function formatCell(column, number) {
  if (number === null || !DATA.dates.includes(column)) return formatNumber(number);
  return new Date(Math.round(number) * 864e5).toISOString().slice(0, 10);
}

function percent(share) {
  if (share === null || share === undefined) return "–";
  const value = 100 * share;
  if (value > 99.5 && value < 100) return ">99%";
  if (value > 0 && value < 0.5) return "<1%";
  return `${Math.round(value)}%`;
}

function chance(value) {
  if (value === null || value === undefined) return "–";
  if (value > 0.995) return ">.99";
  if (value < 0.005) return "<.01";
  return value.toFixed(2).replace(/^0/, "");
}

function plural(number, word) { return `${count(number)} ${word}${number === 1 ? "" : "s"}`; }

function cut(text, most) { return text.length > most ? `${text.slice(0, most - 1)}…` : text; }

/* ------------------------------------------------------------------ clusters */

function colourOf(cluster) { return `var(--c${cluster % N_COLOURS})`; }
function shapeOf(cluster) { return SHAPES[Math.floor(cluster / N_BASE) % SHAPES.length]; }

function rgb(colour) {
  const number = parseInt(colour.slice(1), 16);
  return [number >> 16, (number >> 8) & 255, number & 255];
}

function mixed(colour, other, share) {
  const parts = rgb(colour).map((value, k) => Math.round(value + share * (rgb(other)[k] - value)));
  return `#${parts.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
}

/* Colours after the eighth: darker and lighter ones of the same hues, as far apart as these can be. */
const SHARES = { light: [["#000000", 0.3], ["#ffffff", 0.4]], dark: [["#ffffff", 0.3], ["#000000", 0.3]] };

function mixColours() {
  const root = document.documentElement;
  const style = getComputedStyle(root);
  const shares = SHARES[root.dataset.theme];
  for (let k = N_BASE; k < N_COLOURS; k += 1) {
    const base = style.getPropertyValue(`--c${k % N_BASE}`).trim();
    root.style.setProperty(`--c${k}`, mixed(base, ...shares[Math.floor(k / N_BASE) - 1]));
  }
}

function shapePath(shape) {
  if (shape === "circle") return "M5 0a5 5 0 1 0 .001 0z";
  if (shape === "square") return "M.7.7h8.6v8.6h-8.6z";
  if (shape === "triangle") return "M5 0l5 9.2h-10z";
  return "M5-.4l5.4 5.4l-5.4 5.4l-5.4-5.4z";
}

function swatch(cluster) {
  const picture = document.createElementNS(NAMESPACE, "svg");
  picture.setAttribute("viewBox", "-0.5 -0.5 11 11");
  picture.setAttribute("class", "swatch");
  picture.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(NAMESPACE, "path");
  path.setAttribute("d", shapePath(shapeOf(cluster)));
  path.style.fill = colourOf(cluster);
  picture.append(path);
  return picture;
}

function clusterName(cluster) {
  const { name } = DATA.clusters[cluster];
  return /^-?\d+$/.test(name) ? `Cluster ${name}` : name;
}

/* The name of a cluster, which changes when the cluster is named on this page. */
function nameTag(cluster) {
  const tag = make("span", "", clusterName(cluster));
  tag.dataset.name = cluster;
  return tag;
}

function clusterTag(cluster) {
  return make("span", "cluster", swatch(cluster), nameTag(cluster));
}

function bar(share, colour) {
  const inner = make("i");
  inner.style.width = `${Math.max(0, Math.min(100, 100 * share))}%`;
  inner.style.background = colour;
  return make("div", "track", inner);
}

/* ------------------------------------------------------------------ points */

const POINTS = (() => {
  const packed = DATA.points;
  return {
    size: packed.size,
    x: unpack(packed.x, 2),
    y: unpack(packed.y, 2),
    cluster: unpack(packed.cluster, 4),
    degree: unpack(packed.degree, 2),
    sure: packed.sure ? unpack(packed.sure, 1) : null,
    ids: packed.ids,
    values: packed.values,
    text: packed.text,
    links: Array.from({ length: packed.size }, () => []),
  };
})();

const LINKS = (() => {
  const a = unpack(DATA.links.a, 2);
  const b = unpack(DATA.links.b, 2);
  const may = unpack(DATA.links.may, 1);
  return Array.from(a, (_, k) => ({ a: a[k], b: b[k], may: may[k] === 1 }));
})();
for (const link of LINKS) {
  POINTS.links[link.a].push(link);
  POINTS.links[link.b].push(link);
}

function pointName(point) { return DATA.named ? POINTS.ids[point] : `Row ${POINTS.ids[point]}`; }

/* What is known about a point, as a list of words and values. */
function aboutPoint(point, most) {
  const box = make("div", "about", make("b", "", pointName(point)), clusterTag(POINTS.cluster[point]));
  const list = make("dl");
  const add = (name, value) => list.append(make("dt", "", name), make("dd", "", value));
  if (POINTS.sure) add("probability", chance(POINTS.sure[point] / 255));
  const degree = POINTS.degree[point];
  if (degree) {
    const drawn = POINTS.links[point].length;
    add("links", drawn < degree ? `${count(degree)} (${count(drawn)} drawn)` : count(degree));
  }
  for (const [name, words] of POINTS.text) {
    if (words[point]) add(name, cut(words[point], most > 8 ? 600 : 140));
  }
  const cells = POINTS.values[point];
  for (let k = 0; k < Math.min(cells.length, 2 * most); k += 2) {
    add(DATA.columns[cells[k]], formatCell(cells[k], cells[k + 1]));
  }
  box.append(list);
  if (cells.length > 2 * most) {
    box.append(make("div", "mild", `and ${plural(cells.length / 2 - most, "more column")}`));
  }
  return box;
}
