/* What can be done with the picture: find a row, colour points, name clusters, save a file. */
const SCALE = ["#440154", "#3b528b", "#21918c", "#5ec962", "#fde725"]; // from low to high
const UNKNOWN = "#9aa1a9";

function startTools() {
  startFind();
  startColours();
  byId("save").addEventListener("click", () => PICTURE.save("clusters.png"));
}

/* ------------------------------------------------------------------ find */

function startFind() {
  const words = Array.from({ length: POINTS.size }, (_, point) =>
    [POINTS.ids[point], ...POINTS.text.map(([, texts]) => texts[point])].join("\n").toLowerCase());
  const most = 8;
  byId("find").addEventListener("input", (event) => {
    const wanted = event.target.value.trim().toLowerCase();
    const found = wanted ? words.flatMap((text, point) => (text.includes(wanted) ? [point] : [])) : [];
    const rows = found.slice(0, most).map((point) => {
      const told = POINTS.text.map(([, texts]) => texts[point]).filter((text) => text).join(" · ");
      return make("li", "", button("", pointName(point), () => PICTURE.highlight([point], true)), " ", clusterTag(POINTS.cluster[point]), ` ${cut(told, 100)}`);
    });
    if (found.length > most) rows.push(make("li", "mild", `${count(found.length - most)} more`));
    if (wanted && !found.length) rows.push(make("li", "mild", POINTS.size < DATA.n ? "None of the rows that this page knows." : "No row."));
    byId("found").replaceChildren(...rows);
  });
}

/* ------------------------------------------------------------------ colours */

/* The values of a column, null where this page does not know them. */
function valuesOf(column) {
  return POINTS.values.map((cells) => {
    for (let k = 0; k < cells.length; k += 2) if (cells[k] === column) return cells[k + 1];
    return null;
  });
}

function onScale(share) {
  const at = Math.max(0, Math.min(1, share)) * (SCALE.length - 1);
  const low = Math.min(Math.floor(at), SCALE.length - 2);
  return mixed(SCALE[low], SCALE[low + 1], at - low);
}

function startColours() {
  const ways = [["cluster", null]];
  if (POINTS.sure) ways.push(["probability", () => Array.from(POINTS.sure, (value) => value / 255)]);
  if (!DATA.categories.missing) {
    for (const { name } of DATA.categories.columns) {
      const texts = POINTS.text.find(([other]) => other === name)[1];
      ways.push([name, null, texts]);
    }
  }
  DATA.columns.slice(0, 100).forEach((name, column) => ways.push([name, () => valuesOf(column), null, column]));
  const select = byId("colour-by");
  ways.forEach(([name], k) => {
    const option = make("option", "", name);
    option.value = k;
    select.append(option);
  });
  const act = () => {
    const [name, values, texts, column] = ways[Number(select.value)];
    const box = byId("scale");
    box.hidden = !values && !texts;
    if (texts) colourByWords(name, texts, box);
    else if (values) colourByNumbers(name, values(), box, column);
    else PICTURE.colourBy(null);
  };
  select.addEventListener("change", act);
}

function colourByNumbers(name, values, box, column) {
  const known = values.filter((value) => value !== null).sort((a, b) => a - b);
  const [low, high] = [0.02, 0.98].map((share) => known[Math.round(share * (known.length - 1))]);
  PICTURE.colourBy(values.map((value) => (value === null ? UNKNOWN : onScale(high > low ? (value - low) / (high - low) : 0.5))));
  const bar = make("i");
  bar.style.background = `linear-gradient(90deg, ${SCALE.join(", ")})`;
  const gone = values.length - known.length;
  box.replaceChildren(make("span", "", `${name}: ${formatCell(column, low)}`), bar, make("span", "", formatCell(column, high)),
    gone ? make("span", "mild", `${plural(gone, "row")} in grey: not known`) : "");
}

function colourByWords(name, texts, box) {
  const { values } = DATA.categories.columns.find((column) => column.name === name);
  const style = getComputedStyle(document.documentElement);
  const colours = values.map((_, k) => style.getPropertyValue(`--c${k}`).trim());
  PICTURE.colourBy(texts.map((text) => colours[values.indexOf(cut(text, 40) || "(empty)")] || UNKNOWN));
  box.replaceChildren(make("span", "", `${name}:`), ...values.map((value, k) => {
    const dot = make("b");
    dot.style.background = colours[k];
    return make("span", "value", dot, value);
  }));
}

/* ------------------------------------------------------------------ names */

/* Names a cluster on this page, and tells how to have the name in files, too. */
function nameCluster(cluster) {
  const now = DATA.clusters[cluster];
  const name = window.prompt(`A name for ${clusterName(cluster)}`, now.name);
  if (!name || !name.trim()) return;
  now.was = now.was || now.name;
  now.name = cut(name.trim(), 60);
  document.querySelectorAll(`[data-name="${cluster}"]`).forEach((tag) => { tag.textContent = clusterName(cluster); });
  const named = DATA.clusters.filter((one) => one.was !== undefined);
  const note = byId("naming");
  note.hidden = false;
  note.textContent = `To keep names in files: maylink cluster … ${named.map((one) => `--name '${one.was}=${one.name}'`).join(" ")}`;
  PICTURE.redraw();
}
