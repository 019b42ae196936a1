/* The sections: each is filled from the data, or is not there. */
const LISTED = 200; // clusters in the list beside the picture, at most

function fillTop() {
  const { method } = DATA.settings;
  byId("lead").textContent = `What ${method} found. Everything is in this file; nothing is loaded from anywhere.`;
  const { level, trust, changed, advice } = DATA.verdict;
  const box = byId("verdict");
  box.dataset.level = level;
  const [first, ...others] = trust;
  box.append(make("p", "", make("b", "", first)));
  const sentences = [...others, ...changed];
  if (sentences.length) box.append(make("ul", "", ...sentences.map((one) => make("li", "", one))));
  if (advice.length) box.append(make("h3", "", "What to do"), make("ul", "", ...advice.map((one) => make("li", "", one))));
  for (const [figure, what] of DATA.facts) byId("facts").append(make("li", "", make("b", "", figure), make("span", "", what)));
}

function fillPicture() {
  const { how, edge, density } = DATA.picture;
  const parts = [how];
  if (edge) parts.push(`${plural(edge, "far-off point")} ${edge === 1 ? "is" : "are"} drawn at the edge.`);
  if (density) parts.push(`${count(DATA.n)} points are drawn as densities; ${count(POINTS.size)} of them can be pointed at.`);
  byId("how").textContent = parts.join(" ");
  const clusters = plural(DATA.clusters.length, "cluster");
  byId("canvas").setAttribute("aria-label", `Picture of ${plural(DATA.n, "point")} in ${clusters}. ${how}`);
  byId("legend-title").textContent = `${clusters} by size`;
  const largest = DATA.clusters[0].size;
  DATA.clusters.slice(0, LISTED).forEach((cluster, k) => {
    const one = button("", null, () => PICTURE.filter(k));
    one.append(swatch(k), nameTag(k), bar(cluster.size / largest, colourOf(k)),
      make("span", "amount", `${count(cluster.size)} · ${percent(cluster.size / DATA.n)}`));
    one.setAttribute("aria-pressed", "false");
    const rename = button("quiet rename", "✎", () => nameCluster(k));
    rename.setAttribute("aria-label", `Name ${clusterName(k)}`);
    byId("legend").append(make("li", "", one, rename));
  });
  const rest = DATA.clusters.length - LISTED;
  if (rest > 0) byId("legend").append(make("li", "amount", `and ${plural(rest, "smaller cluster")}`));
  const box = byId("draw-doubts");
  const rows = DATA.doubts.rows || [];
  const likely = rows.filter((link) => link.wrong === undefined || link.wrong > DATA.doubts.limit);
  box.hidden = likely.length === 0;
  box.querySelector("span").textContent = `Draw ${count(likely.length)} suspect ${likely.length === 1 ? "link" : "links"}`;
  box.querySelector("input").addEventListener("change", (event) => PICTURE.drawSuspects(event.target.checked ? likely : null));
}

function fillProfiles(section) {
  const { clusters, ratios, columns, most } = DATA.profiles;
  const unit = ratios
    ? "Bars are binary logarithms of ratios: one to the right means twice the share of all counts that the column has in the other clusters."
    : "Bars are differences from the mean of all other points, in standard deviations (sd) of the column.";
  const cut = columns > most ? ` The ${most} most telling of ${count(columns)} columns each.` : "";
  const words = (DATA.words || []).length > 0;
  section.append(make("p", "", DATA.directions
    ? words ? "Words that many texts of a cluster have and few of the others, and rows from its middle."
      : "Rows from the middle of each cluster. The numbers of an embedding say nothing by themselves; with the table that they belong to, its words tell clusters apart."
    : `${unit} Figures: mean in the cluster, and of the rest. Each cluster has its own scale, which is told below its bars.${cut}`));
  const cards = make("div", "cards");
  const add = (low, high) => {
    for (let k = low; k < Math.min(high, clusters.length); k += 1) cards.append(profileCard(k, clusters[k], ratios));
  };
  add(0, 12);
  section.append(cards);
  if (clusters.length > 12) {
    const more = button("more", `Show ${plural(clusters.length - 12, "more cluster")}`, () => {
      add(12, clusters.length);
      more.remove();
    });
    section.append(more);
  }
  if (DATA.clusters.length > clusters.length) {
    section.append(make("p", "faint", `Only the ${clusters.length} largest clusters have a profile here.`));
  }
}

function profileCard(cluster, cells, ratios) {
  const { size } = DATA.clusters[cluster];
  const top = Math.max(...cells.map((cell) => Math.abs(cell[1])), 1e-9);
  const both = cells.some((cell) => cell[1] < 0);
  const head = make("div", "row", make("h3", "", clusterTag(cluster)), make("span", "amount", plural(size, "point")));
  const grid = make("div", "profile");
  for (const [column, difference, inside, outside] of cells) {
    const inner = make("i");
    const [zero, width] = both ? [50, 50 * Math.abs(difference) / top] : [0, 100 * difference / top];
    inner.style.cssText = `width:${width}%;left:${difference < 0 ? zero - width : zero}%`;
    inner.style.background = colourOf(cluster);
    const name = make("span", "name", DATA.columns[column]);
    name.title = `${DATA.columns[column]}: ${difference > 0 ? "+" : ""}${formatNumber(difference)}`;
    grid.append(name, make("div", both ? "diverging" : "diverging onesided", inner),
      make("span", "amount", make("b", "whole", formatCell(column, inside)), " · ", make("span", "whole", formatCell(column, outside))));
  }
  if (!cells.length) grid.append(make("span", "mild", "No column differs."));
  const unit = ratios ? "log₂" : "sd";
  const far = formatNumber(Number(top.toPrecision(2)));
  const ends = both ? [`± ${far} ${unit}`] : ["0", `${far} ${unit}`];
  if (cells.length) grid.append(make("span"), make("div", "scale", ...ends.map((text) => make("span", "", text))), make("span"));
  return make("div", "card", head, wordsOf(cluster), DATA.directions ? "" : grid, examplesOf(cluster));
}

/* The words that tell a cluster from the others, where there are texts. */
function wordsOf(cluster) {
  const words = (DATA.words || [])[cluster] || [];
  return words.length ? make("p", "telling", ...words.map((word) => make("span", "", word))) : "";
}

/* A few rows that are typical of a cluster: what is written about them, or else their numbers. */
function examplesOf(cluster) {
  const rows = (DATA.examples[cluster] || []).filter((point) => point >= 0);
  if (!rows.length) return "";
  const list = make("ul", "examples");
  for (const point of rows) {
    const texts = POINTS.text.map(([, words]) => words[point]).filter((text) => text);
    const cells = POINTS.values[point];
    const numbers = [];
    for (let k = 0; k < Math.min(cells.length, 6); k += 2) numbers.push(`${DATA.columns[cells[k]]} ${formatCell(cells[k], cells[k + 1])}`);
    const told = texts.length ? texts.join(" · ") : DATA.directions ? "" : numbers.join(" · ");
    list.append(make("li", "", button("", pointName(point), () => PICTURE.highlight([point], true)), ` ${cut(told, 160)}`));
  }
  return make("div", "", make("h4", "", "Typical rows"), list);
}

function fillCategories(section) {
  section.append(make("p", "", "Rows of each cluster that have each value. Shades are shares of the cluster."));
  const parts = make("div", "two");
  for (const { name, values, table: counts } of DATA.categories.columns) {
    const rows = counts.map((row, k) => {
      const total = row.reduce((sum, value) => sum + value, 0) || 1;
      return [clusterTag(k), ...row.map((value) => heatCell(value, value / total))];
    });
    const box = shaded(table(["", ...values.map((value) => [value, "number"])], rows, "heat"));
    const rest = DATA.clusters.length - counts.length;
    parts.append(make("div", "", make("h3", "", name), box, rest > 0 ? make("p", "faint", `${plural(rest, "more cluster")}.`) : ""));
  }
  section.append(parts);
}

function heatCell(value, share) {
  const cell = make("span", value ? "" : "mild", value ? count(value) : "·");
  cell.dataset.share = String(share);
  return [cell, "number"];
}

/* Gives the cells of a table the shade of their share. */
function shaded(box) {
  box.querySelectorAll("[data-share]").forEach((cell) => {
    const strength = Math.round(55 * Number(cell.dataset.share));
    cell.parentElement.style.background = `color-mix(in srgb, var(--accent) ${strength}%, transparent)`;
  });
  return box;
}

function fillSure(section) {
  const { bins, unsure, least, sampled } = DATA.sure;
  const what = sampled
    ? "The probability of a point is how often, over the draws, it shares a cluster with the others of its own."
    : "The probability of a point is that of being in its cluster, given data and links. The variational fit tends to be too sure.";
  section.append(make("p", "", what));
  const cards = make("div", "cards");
  const all = bins[0].map((_, k) => bins.reduce((sum, row) => sum + row[k], 0));
  const total = unsure.reduce((sum, value) => sum + value, 0);
  if (bins.length > 1) cards.append(histogram(make("span", "", "All points"), all, total, DATA.n, "var(--faint)"));
  bins.slice(0, 11).forEach((row, k) => cards.append(histogram(clusterTag(k), row, unsure[k], DATA.clusters[k].size, colourOf(k))));
  section.append(cards);
  if (bins.length > 11) section.append(make("p", "faint", `${plural(bins.length - 11, "more cluster")}.`));
  section.append(make("h3", "", "The least sure points"));
  if (!least.length) {
    section.append(make("p", "note", "Every point has a probability above .99."));
    return;
  }
  const texts = POINTS.text.slice(0, 2);
  const rows = least.map((one) => {
    const cells = [
      [button("", pointName(one.point)), "words"],
      clusterTag(POINTS.cluster[one.point]),
      meter(one.sure, colourOf(POINTS.cluster[one.point])),
      one.next === undefined ? "–" : clusterTag(one.next),
      [chance(one.other), "number"],
      ...texts.map(([, words]) => [cut(words[one.point], 120), "words"]),
    ];
    return pickable(rowOf(cells), () => PICTURE.highlight([one.point], true));
  });
  const box = table(["point", "cluster", "probability", "next best", ["probability", "number"], ...texts.map(([name]) => name)], rows);
  box.classList.add("scroll");
  section.append(box);
}

function histogram(name, counts, unsure, size, colour) {
  const top = Math.sqrt(Math.max(...counts, 1));
  const bars = make("div", "bars");
  counts.forEach((value, k) => {
    const one = make("i");
    one.style.height = value ? `${Math.max(4, 100 * Math.sqrt(value) / top)}%` : "1px";
    one.style.background = value ? colour : "var(--line)";
    one.title = `${(k / counts.length).toFixed(2)} to ${((k + 1) / counts.length).toFixed(2)}: ${plural(value, "point")}`;
    bars.append(one);
  });
  bars.setAttribute("role", "img");
  bars.setAttribute("aria-label", `${count(unsure)} of ${plural(size, "point")} below probability .9`);
  const below = unsure ? `${count(unsure)} below .9` : "all above .9";
  return make("div", "card", make("div", "row", make("h3", "", name), make("span", "amount", below)), bars,
    make("div", "scale", make("span", "", "0"), make("span", "", "probability (heights are square roots)"), make("span", "", "1")));
}

function fillReliability(section) {
  section.append(make("p", "", "p is how often a source says may of two points of one cluster, q how often it says may-not of two points of different clusters. The line in the middle, ½ and ½, is a source that tells nothing. Bars are 95% intervals."));
  if (!DATA.reliability.learned) {
    section.append(make("p", "faint", `${DATA.settings.method} does not learn p and q: they are what its clusters make of the links, so links that the clusters were bent to count as right.`));
  }
  const list = make("div", "sources");
  for (const source of DATA.reliability.sources) {
    const spans = make("div", "spans");
    for (const [which, colour] of [["p", "var(--c0)"], ["q", "var(--c5)"]]) {
      const [mean, low, high, votes] = source[which];
      const inner = make("i");
      inner.style.cssText = `left:${100 * low}%;width:${100 * (high - low)}%`;
      const dot = make("b");
      dot.style.left = `${100 * mean}%`;
      for (const part of [inner, dot]) part.style.background = colour;
      spans.append(make("b", "", which), make("div", "span", inner, dot),
        make("span", "", make("b", "", chance(mean)), make("span", "mild", ` ${chance(low)}–${chance(high)} · ${plural(Math.round(votes), "vote")}`)));
    }
    const unlike = source.differs > 0.95 ? make("p", "mild", `Differs from the other sources (probability ${chance(source.differs)}).`) : "";
    list.append(make("div", "source", make("h3", "", source.name), spans, unlike));
  }
  section.append(list);
}

function fillChanges(section) {
  const { names, table: counts, moved, rand, merged, split, kept, largest } = DATA.changes;
  const old = (k) => `old ${names[k]}`;
  const gone = moved === null ? "" : `${plural(moved, "point")} (${percent(moved / DATA.n)}) moved to another cluster when the links came in. `;
  section.append(make("p", "", `${gone}${plural(names.length, "cluster")} without links, ${count(DATA.clusters.length)} with them. The adjusted Rand index between both is ${formatNumber(rand)} (1: the same).`));
  const words = [
    ...merged.map(([now, before]) => `${clusterName(now)} joins ${before.map(old).join(", ")}.`),
    ...split.map(([before, now]) => `${old(before)} was split into ${now.map(clusterName).join(", ")}.`),
  ];
  if (words.length) section.append(make("ul", "", ...words.slice(0, 30).map((text) => make("li", "", text))));
  const parts = make("div", "two");
  const heat = DATA.clusters.slice(0, largest);
  const rows = counts.map((row, k) => {
    const total = row.reduce((sum, value) => sum + value, 0) || 1;
    return [old(k), ...row.map((value) => heatCell(value, value / total))];
  });
  const box = shaded(table(["", ...heat.map((_, k) => [clusterTag(k), "number"])], rows, "heat"));
  parts.append(make("div", "", make("h3", "", "Points by cluster without links (rows) and with"), box));
  if (kept.length) {
    const follow = kept.map(([kind, total, before, now]) => [kindTag(kind === "may"), [count(total), "number"],
      [`${count(before)} · ${percent(before / total)}`, "number"], [`${count(now)} · ${percent(now / total)}`, "number"]]);
    parts.append(make("div", "", make("h3", "", "Links that the clusters follow"),
      table(["kind", ["links", "number"], ["without", "number"], ["with", "number"]], follow)));
  }
  section.append(parts);
  if (names.length > largest || DATA.clusters.length > largest) {
    section.append(make("p", "faint", `The table has the ${largest} largest clusters of either.`));
  }
}

function fillSettings(section) {
  const { facts, parameters, candidates, versions, again, method } = DATA.settings;
  const parts = make("div", "two");
  parts.append(make("div", "", make("h3", "", "The fit"), table(["what", "value"], facts.map(([name, value]) => [name, [value, "words"]]))));
  const parameterRows = parameters.map(([name, value, usual]) => [make("code", "", name), [value, usual ? "words mild" : "words"]]);
  const box = table(["parameter", "value (grey: the default)"], parameterRows);
  box.classList.add("scroll");
  parts.append(make("div", "", make("h3", "", `Parameters of ${method}`), box));
  section.append(parts);
  if (candidates) {
    section.append(make("h3", "", "What was chosen among"));
    const rows = candidates.rows.map((row) => row.map((cell) => (typeof cell === "number" ? [formatNumber(cell), "number"] : cell)));
    const head = candidates.columns.map((name, k) => [name, typeof candidates.rows[0][k] === "number" ? "number" : ""]);
    const choices = table(head, rows);
    choices.classList.add("scroll");
    section.append(choices);
    if (candidates.total > candidates.rows.length) {
      section.append(make("p", "faint", `The first ${candidates.rows.length} of ${candidates.total}.`));
    }
  }
  section.append(make("h3", "", "Again, in Python"), make("pre", "", make("code", "", again)));
  section.append(make("p", "faint more", versions.map(([name, value]) => `${name} ${value}`).join(" · ")));
}

/* ------------------------------------------------------------------ light and dark */

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  mixColours();
  byId("theme").textContent = theme === "dark" ? "Light" : "Dark";
  PICTURE.restyle();
}

function startTheme() {
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  setTheme(dark.matches ? "dark" : "light");
  dark.addEventListener("change", () => setTheme(dark.matches ? "dark" : "light"));
  byId("theme").addEventListener("click", () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
}

const SECTIONS = {
  profiles: fillProfiles, categories: fillCategories, sure: fillSure, reliability: fillReliability, doubts: fillDoubts,
  changes: fillChanges, settings: fillSettings,
};

fillTop();
fillPicture();
for (const [name, fill] of Object.entries(SECTIONS)) {
  const section = byId(name);
  if (!DATA[name].missing) fill(section);
  else {
    section.remove();
    document.querySelector(`nav a[href="#${name}"]`).parentElement.remove();
  }
}
startTheme();
startTools();
document.documentElement.dataset.ready = "true";
