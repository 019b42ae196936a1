/* Tables: head, rows, rows that can be picked, and the table of suspect links. */
function table(head, rows, look) {
  const top = make("tr");
  for (const title of head) {
    const [text, kind] = Array.isArray(title) ? title : [title, ""];
    const cell = make("th", kind, text);
    cell.scope = "col";
    top.append(cell);
  }
  const body = make("tbody");
  for (const row of rows) body.append(row instanceof Node ? row : rowOf(row));
  const element = make("table", look, make("thead", "", top), body);
  const box = make("div", "box", element);
  box.tabIndex = 0;
  return box;
}

/* A row of cells: text, an element, or [content, class]. The first one names the row. */
function rowOf(cells) {
  const row = make("tr");
  cells.forEach((cell, k) => {
    const [content, kind] = Array.isArray(cell) ? cell : [cell, ""];
    const element = make(k === 0 ? "th" : "td", kind, content);
    if (k === 0) element.scope = "row";
    row.append(element);
  });
  return row;
}

/* Rows of which one can be picked, by a click or by the button in it. */
function pickable(row, act) {
  row.classList.add("pick");
  row.addEventListener("click", (event) => {
    if (window.getSelection().toString() && event.detail > 0) return;
    act(row);
  });
  return row;
}

function kindTag(may) { return make("span", may ? "kind may" : "kind not", may ? "may" : "may-not"); }

function meter(value, colour) { return make("div", "meter", bar(value, colour), chance(value)); }

/* ------------------------------------------------------------------ suspect links */

function fillDoubts(section) {
  const doubts = DATA.doubts;
  const judged = doubts.wrong !== null;
  const some = doubts.rows.length;
  byId("draw-doubts").hidden = !some;
  section.append(make("p", "", doubtsLead(doubts, judged)));
  if (!some) return;
  const state = { words: "", kind: "", source: "", likely: false, most: 25, open: null };
  const holder = make("div");
  const note = make("p", "faint");
  note.setAttribute("role", "status");
  const more = button("more", "Show more", () => { state.most += 100; render(); });

  const searchable = doubts.rows.map((link) => ({
    link,
    words: [link.a, link.b].flatMap((one) => [POINTS.ids[one], ...POINTS.text.map(([, words]) => words[one])])
      .concat(link.source).join("\n").toLowerCase(),
  }));

  function fits({ link, words }) {
    return (!state.words || words.includes(state.words))
      && (!state.kind || (state.kind === "may") === link.may)
      && (!state.source || state.source === link.source)
      && (!state.likely || link.wrong > doubts.limit);
  }

  function render() {
    const rows = searchable.filter(fits);
    note.textContent = rows.length < some ? `${plural(rows.length, "link")} of ${count(some)}` : "";
    const head = ["one", "link", "other", "what differs", "source", ["votes", "number"]];
    const body = [];
    for (const { link } of rows.slice(0, state.most)) {
      body.push(doubtRow(link));
      if (state.open === link) body.push(pairRow(link, head.length + (judged ? 1 : 0)));
    }
    holder.replaceChildren(table(judged ? ["P(wrong)", ...head] : head, body, "doubts"));
    more.hidden = rows.length <= state.most;
  }

  function doubtRow(link) {
    const pick = button("", pointName(link.a));
    pick.setAttribute("aria-expanded", String(state.open === link));
    const cells = [
      [make("div", "", pick, make("div", "amount", clusterTag(POINTS.cluster[link.a]))), "words"],
      kindTag(link.may),
      [make("div", "", pointName(link.b), make("div", "amount", clusterTag(POINTS.cluster[link.b]))), "words"],
      [whatDiffers(link), "words"],
      link.source,
      [formatNumber(link.weight), "number"],
    ];
    if (judged) cells.unshift(meter(link.wrong, link.wrong > doubts.limit ? "var(--wrong)" : "var(--faint)"));
    const row = pickable(rowOf(cells), () => {
      state.open = state.open === link ? null : link;
      PICTURE.highlight(state.open ? [link.a, link.b] : [], false, state.open);
      render();
      const now = holder.querySelector("tr.on button");
      if (now) now.focus({ preventScroll: true });
    });
    row.classList.toggle("on", state.open === link);
    return row;
  }

  const search = make("input");
  search.type = "search";
  search.placeholder = "Search ids, text and sources";
  search.setAttribute("aria-label", search.placeholder);
  search.addEventListener("input", () => { state.words = search.value.trim().toLowerCase(); render(); });
  const controls = make("div", "controls", search, choice("Kind", ["may", "may-not"], (value) => { state.kind = value; render(); }));
  const sources = [...new Set(doubts.rows.map((link) => link.source))];
  if (sources.length > 1) controls.append(choice("Source", sources, (value) => { state.source = value; render(); }));
  if (judged) {
    const box = make("input");
    box.type = "checkbox";
    box.addEventListener("change", () => { state.likely = box.checked; render(); });
    controls.append(make("label", "check", box, "only those more likely wrong than right"));
  }
  section.append(controls, note, holder, more);
  render();
}

function doubtsLead(doubts, judged) {
  const all = plural(doubts.links, "link");
  const ignored = `The clusters go against ${count(doubts.ignored)} of ${all}.`;
  const listed = doubts.rows.length < (judged ? doubts.links : doubts.ignored)
    ? ` Listed are the first ${count(doubts.rows.length)}.` : "";
  const open = " Pick a link to see both sides and where they are in the picture.";
  if (!judged) {
    return doubts.ignored
      ? `${ignored} The fit does not say how likely each of these is wrong, so those against the clusters are listed.${listed}${open}`
      : `${ignored} None stands out.`;
  }
  const wrong = `${count(doubts.wrong)} of ${all} ${doubts.wrong === 1 ? "is" : "are"} more likely wrong than right; the clusters go against ${count(doubts.ignored)}.`;
  return `${wrong} P(wrong) is the probability that a link says the opposite of what is so; the worst come first.${listed}${open}`;
}

/* The fields in which both ends of a link differ most: texts first, then numbers. */
function whatDiffers(link, most = 3) {
  const parts = [];
  for (const [name, words] of POINTS.text) {
    const [one, other] = [words[link.a], words[link.b]];
    if (one !== other) parts.push([name, cut(one || "–", 40), cut(other || "–", 40)]);
  }
  for (const [column, one, other, gap] of link.cells) {
    if (gap >= 1) parts.push([DATA.columns[column], formatCell(column, one), formatCell(column, other)]);
  }
  const box = make("div", "differences");
  for (const [name, one, other] of parts.slice(0, most)) {
    box.append(make("div", "", make("span", "mild", `${cut(name, 24)} `), make("mark", "", one), " / ", make("mark", "", other)));
  }
  if (parts.length > most) box.append(make("div", "mild", `${parts.length - most} more`));
  if (!parts.length) box.append(make("span", "mild", "nothing much"));
  return box;
}

/* A text with those words marked that another text does not have. */
function marked(text, other) {
  const known = new Set(other.toLowerCase().split(/\s+/));
  const pieces = text.split(/(\s+)/).map((word) => (word.trim() && !known.has(word.toLowerCase()) ? make("mark", "", word) : word));
  return make("span", "", ...pieces);
}

/* Both ends of a link side by side; what differs is marked. */
function pairRow(link, width) {
  const rows = [["cluster", clusterTag(POINTS.cluster[link.a]), clusterTag(POINTS.cluster[link.b]), ""]];
  if (POINTS.sure) rows.push(["probability", ...[link.a, link.b].map((one) => chance(POINTS.sure[one] / 255)), ""]);
  for (const [name, words] of POINTS.text) {
    const [one, other] = [words[link.a], words[link.b]];
    rows.push([name, [marked(one, other), "words"], [marked(other, one), "words"], ""]);
  }
  for (const [column, one, other, gap] of link.cells) {
    const look = gap >= 1 ? "number differs" : "number";
    rows.push([DATA.columns[column], [formatCell(column, one), look], [formatCell(column, other), look], [`${formatNumber(gap)} sd`, "number mild"]]);
  }
  const inner = table(["", pointName(link.a), pointName(link.b), ["apart", "number"]], rows);
  const shown = link.cells.length < DATA.doubts.columns
    ? `${link.cells.length} of ${count(DATA.doubts.columns)} columns, those that differ and tell clusters apart. ` : "";
  const note = make("p", "faint", `${shown}Marked: words that the other side does not have, and numbers a standard deviation (sd) or more apart.`);
  const look = button("quiet", "Show in the picture", (event) => {
    event.stopPropagation();
    PICTURE.highlight([link.a, link.b], true, link);
  });
  const cell = make("td", "pair", inner, note, look);
  cell.colSpan = width;
  return make("tr", "", cell);
}

function choice(name, values, act) {
  const select = make("select");
  select.setAttribute("aria-label", name);
  for (const [value, text] of [["", `${name}: all`], ...values.map((one) => [one, one])]) {
    const option = make("option", "", text);
    option.value = value;
    select.append(option);
  }
  select.addEventListener("change", () => act(select.value));
  return select;
}
