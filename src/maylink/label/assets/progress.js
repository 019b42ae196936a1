/* How far things are: figures, the clusters as a picture, and how reliable people are. */
import { byId, counted, make, makeSvg, sentence } from "./basics.js";

const N_COLOURS = 8; // further clusters are grey

let points = null;
let labels = null;
let sizes = [];
let places = [];

function judged(count) {
  const parts = [];
  if (count.pairs || !count.boards) parts.push(counted(count.pairs, "answer"));
  if (count.boards) parts.push(counted(count.boards, "board"));
  return parts.join(", ");
}

function setBar(id, share) { byId(id).style.width = `${100 * Math.max(0, Math.min(1, share))}%`; }

export function drawProgress(state) {
  const standing = state.standing;
  byId("own").textContent = judged(state.own);
  byId("all").textContent = judged(state.all);
  byId("all-who").textContent = state.here > 1 ? `Everybody (${state.here} here)` : "Everybody";
  byId("thinking").hidden = !state.busy;
  byId("trouble").hidden = !state.problem;
  byId("trouble").textContent = sentence(state.problem);
  if (standing) {
    byId("settled").textContent = `${standing.settled} of ${standing.clusters}`;
    setBar("settled-bar", standing.settled / Math.max(1, standing.clusters));
    byId("f").textContent = standing.f.toFixed(2);
    setBar("f-bar", standing.f);
    byId("enough").hidden = !standing.enough;
    byId("enough-why").textContent = sentence(standing.why);
    byId("standing-why").textContent = standing.enough ? "" : sentence(standing.why);
  }
  byId("people").hidden = !state.people.length;
  byId("people-rows").replaceChildren(...state.people.map(personRow));
}

function personRow(person) {
  const share = (number) => make("td", "number", number === null ? "–" : `${Math.round(100 * number)}%`);
  const name = make("th", "", make("bdi", "", person.name));
  name.scope = "row";
  return make("tr", "", name, share(person.p), share(person.q));
}

export function setPoints(given) {
  points = given;
  byId("scatter").setAttribute("viewBox", `-6 -6 ${given.width + 12} ${given.height + 12}`);
  drawScatter();
}

export function setClusters(clusters) {
  ({ labels, sizes } = clusters);
  drawScatter();
}

/* Rings around the rows that are asked about. */
export function setPlaces(given) {
  places = given ?? [];
  drawRings();
}

/* One path for each colour: a dot is a line of no length with round ends. */
function drawScatter() {
  if (!points || !labels) return;
  const paths = Array.from({ length: N_COLOURS + 1 }, () => []);
  labels.forEach((cluster, at) => {
    paths[Math.min(cluster, N_COLOURS)].push(`M${points.x[at]} ${points.y[at]}h0`);
  });
  const drawn = paths.map((path, at) => makeSvg("path", {
    d: path.join(""), class: `dots ${labels.length > 600 ? "many" : ""} c${at}`,
  }));
  byId("scatter").replaceChildren(...drawn.reverse(), makeSvg("g", { id: "rings" }));
  byId("clusters").hidden = false;
  const some = points.of > labels.length ? ` ${labels.length.toLocaleString("en")} of ${points.of.toLocaleString("en")} rows are drawn.` : "";
  const largest = sizes.slice(0, 5).map((size) => size.toLocaleString("en")).join(", ");
  byId("scatter-text").textContent = `${counted(sizes.length, "cluster")}, the largest of ${largest} rows.${some}`;
  byId("scatter-text").title = points.how;
  drawRings();
}

function drawRings() {
  const group = byId("rings");
  if (!group) return;
  group.replaceChildren(...places.flatMap(([x, y]) => [
    makeSvg("circle", { cx: x, cy: y, r: 8, class: "halo" }), makeSvg("circle", { cx: x, cy: y, r: 8, class: "ring" }),
  ]));
}
