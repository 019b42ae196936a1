/* Two items side by side, field by field. */
import { byId, make } from "./basics.js";

const NAMES = ["A", "B"];

export function pictureOf(row, name) {
  const box = make("div", "picture");
  const image = make("img");
  image.alt = `Picture of ${name}`;
  image.decoding = "async";
  image.addEventListener("error", () => box.replaceChildren(make("p", "faint", "The picture cannot be shown.")));
  image.src = `picture/${row}`;
  box.append(image);
  return box;
}

function value(pieces) {
  const place = make("dd", pieces.length ? "value" : "value empty");
  place.dir = "auto";
  if (!pieces.length) place.append(make("span", "", "–"));
  for (const [text, marked] of pieces) place.append(marked ? make("mark", "", text) : text);
  return place;
}

function card(pair, side, at) {
  const about = pair[side];
  const heading = make("h2", "", make("span", "letter", NAMES[at]), make("bdi", "", about.name));
  const item = make("article", "item", heading);
  item.setAttribute("aria-label", `${at ? "Second" : "First"}: ${about.name}`);
  if (pair.a.picture || pair.b.picture) {
    item.append(about.picture ? pictureOf(about.row, about.name) : make("div", "picture", make("p", "faint", "No picture")));
  }
  for (const field of pair.fields) {
    const label = make("dt", "", make("span", "letter", NAMES[at]), make("bdi", "", field.name));
    if (field.differs) label.append(make("span", "unseen", " (differs)"));
    const marked = [...field.a, ...field.b].some((piece) => piece[1]);
    const look = `field${field.differs && !marked ? " differs" : ""}${field.long ? " long" : ""}`;
    item.append(make("dl", look, label, value(field[side])));
  }
  [...item.children].forEach((child, row) => { child.style.order = row; }); // for narrow pages
  return item;
}

/* Draws a pair in place of the one before. */
export function drawPair(pair) {
  const place = byId("pair");
  place.replaceChildren(card(pair, "a", 0), card(pair, "b", 1));
  const rows = 1 + pair.fields.length + (pair.a.picture || pair.b.picture ? 1 : 0);
  place.style.setProperty("--rows", rows);
  place.classList.toggle("texts", pair.fields.some((field) => field.long));
  place.classList.remove("fresh");
  void place.offsetWidth; // lets the animation begin anew
  place.classList.add("fresh");
}

/* What a screen reader is told of a pair. */
export function pairInWords(pair) { return `${pair.a.name}, and ${pair.b.name}`; }
