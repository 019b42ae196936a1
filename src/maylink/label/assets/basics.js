/* Small helpers. Text from the data only ever goes through text nodes. */

export function byId(id) { return document.getElementById(id); }

/* An element with a class, and children that are elements or plain text. */
export function make(tag, look, ...children) {
  const element = document.createElement(tag);
  if (look) element.className = look;
  for (const child of children) {
    if (child === null || child === undefined) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return element;
}

export function makeSvg(tag, attributes = {}) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

/* Words for a number of things. */
export function counted(number, one, many = `${one}s`) {
  return `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
}

/* Words as a sentence. */
export function sentence(words) {
  const text = String(words ?? "").trim();
  return text ? `${text[0].toUpperCase()}${text.slice(1)}${/[.!?…]$/.test(text) ? "" : "."}` : "";
}

/* What a screen reader says next. */
export function say(text) {
  const place = byId("said");
  place.textContent = "";
  requestAnimationFrame(() => { place.textContent = text; });
}

/* What the browser keeps; one that keeps nothing is no failure. */
export function keep(name, value) {
  try {
    if (value === null) localStorage.removeItem(`maylink-${name}`);
    else localStorage.setItem(`maylink-${name}`, value);
  } catch { /* private windows */ }
}

export function kept(name) {
  try { return localStorage.getItem(`maylink-${name}`); } catch { return null; }
}
