/* The picture: dots, or densities of many points, with what is pointed at and what is kept. */
const PICTURE = (() => {
  const canvas = byId("canvas");
  const context = canvas.getContext("2d");
  const tip = byId("tip");
  const STEPS = 65535;
  const REACH = 14; // pixels within which a point is pointed at
  const chosen = new Set(); // clusters to show; none means all
  const view = { zoom: 1, x: 0.5, y: 0.5 };
  const listeners = [];
  let hovered = -1;
  let kept = []; // points that were clicked, or the two of a link
  let picked = null; // the link whose two points are kept
  let suspects = null; // links to draw, if asked for
  let colours = [];
  let paint = null; // the colour of each point, where it is not that of its cluster
  let ink = {};
  let size = { width: 1, height: 1 };
  let waiting = false;

  const density = DATA.picture.density && {
    ...DATA.picture.density,
    cell: unpack(DATA.picture.density.cell, 2),
    count: unpack(DATA.picture.density.count, 4),
  };

  function isShown(cluster) { return chosen.size === 0 || chosen.has(cluster); }

  function toX(value) { return ((value / STEPS - view.x) * view.zoom + 0.5) * size.width; }
  function toY(value) { return ((1 - value / STEPS - view.y) * view.zoom + 0.5) * size.height; }
  function place(point) { return [toX(POINTS.x[point]), toY(POINTS.y[point])]; }

  function readColours() {
    const style = getComputedStyle(document.documentElement);
    const value = (name) => style.getPropertyValue(name).trim();
    colours = Array.from({ length: N_COLOURS }, (_, k) => value(`--c${k}`));
    ink = { text: value("--text"), card: value("--card"), wrong: value("--wrong"), right: value("--right"), faint: value("--faint") };
  }

  /* ---------------------------------------------------------------- drawing */

  function draw() {
    waiting = false;
    const ratio = window.devicePixelRatio || 1;
    const box = canvas.getBoundingClientRect();
    size = { width: box.width, height: box.height };
    const [across, down] = [Math.round(box.width * ratio), Math.round(box.height * ratio)];
    if (canvas.width !== across || canvas.height !== down) {
      canvas.width = across;
      canvas.height = down;
    }
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, size.width, size.height);
    if (density && !paint) drawDensity(); else drawDots();
    if (suspects) for (const link of suspects) drawLink(link, 0.35, 1);
    const focus = hovered >= 0 ? [...kept, hovered] : kept;
    for (const point of focus) {
      const mild = picked && point !== hovered;
      for (const link of POINTS.links[point]) drawLink(link, mild ? 0.25 : 0.75, mild ? 1 : 1.4);
    }
    if (picked) drawLink(picked, 1, 3);
    for (const point of focus) {
      for (const link of POINTS.links[point]) {
        drawDot(link.a, 4, 1);
        drawDot(link.b, 4, 1);
      }
    }
    for (const point of focus) drawRing(point);
    if (DATA.clusters.length > 1) drawNames();
    drawAxes();
  }

  function requestDraw() {
    if (!waiting) {
      waiting = true;
      requestAnimationFrame(draw);
    }
  }

  function drawDots() {
    const radius = Math.max(1.9, Math.min(4.6, 120 / Math.sqrt(POINTS.size))) * Math.min(1, 0.5 + size.width / 1400) * Math.sqrt(view.zoom) ** 0.7;
    for (let point = 0; point < POINTS.size; point += 1) {
      if (!isShown(POINTS.cluster[point])) drawDot(point, radius, 0.1, ink.faint);
    }
    for (let point = 0; point < POINTS.size; point += 1) {
      if (isShown(POINTS.cluster[point])) drawDot(point, radius, 0.8);
    }
  }

  function drawDot(point, radius, alpha, colour) {
    const [x, y] = place(point);
    if (x < -9 || y < -9 || x > size.width + 9 || y > size.height + 9) return;
    const cluster = POINTS.cluster[point];
    context.globalAlpha = alpha;
    context.fillStyle = colour || (paint ? paint[point] : colours[cluster % N_COLOURS]);
    context.beginPath();
    const shape = shapeOf(cluster);
    const r = radius;
    if (shape === "circle") context.arc(x, y, r, 0, 7);
    else if (shape === "square") context.rect(x - 0.85 * r, y - 0.85 * r, 1.7 * r, 1.7 * r);
    else if (shape === "triangle") {
      context.moveTo(x, y - 1.2 * r);
      context.lineTo(x + 1.1 * r, y + 0.8 * r);
      context.lineTo(x - 1.1 * r, y + 0.8 * r);
    } else {
      context.moveTo(x, y - 1.25 * r);
      context.lineTo(x + 1.25 * r, y);
      context.lineTo(x, y + 1.25 * r);
      context.lineTo(x - 1.25 * r, y);
    }
    context.fill();
    context.globalAlpha = 1;
  }

  function drawRing(point) {
    const [x, y] = place(point);
    drawDot(point, 5.5, 1);
    context.lineWidth = 4;
    context.strokeStyle = ink.card;
    context.beginPath();
    context.arc(x, y, 9, 0, 7);
    context.stroke();
    context.lineWidth = 2;
    context.strokeStyle = ink.text;
    context.beginPath();
    context.arc(x, y, 9, 0, 7);
    context.stroke();
  }

  function drawLink(link, alpha, width) {
    const [x, y] = place(link.a);
    const [u, v] = place(link.b);
    context.globalAlpha = alpha;
    context.lineWidth = width;
    context.strokeStyle = link.may ? ink.right : ink.wrong;
    context.setLineDash(link.may ? [] : [5, 4]);
    context.beginPath();
    context.moveTo(x, y);
    context.lineTo(u, v);
    context.stroke();
    context.setLineDash([]);
    context.globalAlpha = 1;
  }

  let image = null; // of the densities, for the clusters and the theme that are shown

  function drawDensity() {
    if (!image) image = densityImage();
    context.imageSmoothingEnabled = view.zoom < 3;
    const [left, top] = [toX(0), toY(STEPS)];
    context.drawImage(image, left, top, size.width * view.zoom, size.height * view.zoom);
  }

  function densityImage() {
    const cells = density.across * density.down;
    const sums = [0, 1, 2, 3].map(() => new Float64Array(cells)); // red, green, blue, points
    const mild = rgb(ink.faint);
    for (let cluster = 0; cluster < DATA.clusters.length; cluster += 1) {
      const shown = isShown(cluster);
      const colour = shown ? rgb(colours[cluster % N_COLOURS]) : mild;
      for (let k = density.start[cluster]; k < density.start[cluster + 1]; k += 1) {
        const points = density.count[k] * (shown ? 1 : 0.04);
        for (let part = 0; part < 3; part += 1) sums[part][density.cell[k]] += points * colour[part];
        sums[3][density.cell[k]] += points;
      }
    }
    let top = 1;
    for (const points of sums[3]) if (points > top) top = points;
    const drawing = document.createElement("canvas");
    drawing.width = density.across;
    drawing.height = density.down;
    const pixels = new ImageData(density.across, density.down);
    for (let cell = 0; cell < cells; cell += 1) {
      const points = sums[3][cell];
      if (!points) continue;
      for (let part = 0; part < 3; part += 1) pixels.data[4 * cell + part] = sums[part][cell] / points;
      pixels.data[4 * cell + 3] = 255 * (0.12 + 0.88 * Math.log1p(points) / Math.log1p(top));
    }
    drawing.getContext("2d").putImageData(pixels, 0, 0);
    return drawing;
  }

  function shortName(cluster) { return cut(DATA.clusters[cluster].name, 24); }

  function drawNames() {
    context.font = "600 13px system-ui, sans-serif";
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.lineJoin = "round";
    context.lineWidth = 4;
    DATA.picture.middle.forEach(([x, y], cluster) => {
      if (!isShown(cluster)) return;
      context.globalAlpha = 0.85;
      context.strokeStyle = ink.card;
      context.strokeText(shortName(cluster), toX(x), toY(y));
      context.globalAlpha = 1;
      context.fillStyle = ink.text;
      context.fillText(shortName(cluster), toX(x), toY(y));
    });
    context.textBaseline = "alphabetic";
  }

  function drawAxes() {
    const [across, up] = DATA.picture.axes;
    context.fillStyle = ink.faint;
    context.font = "12px system-ui, sans-serif";
    context.textAlign = "right";
    if (across) context.fillText(`${across} →`, size.width - 10, size.height - 10);
    if (!up) return;
    context.save();
    context.translate(16, 10);
    context.rotate(-Math.PI / 2);
    context.fillText(`${up} →`, 0, 0);
    context.restore();
  }

  /* ---------------------------------------------------------------- what is pointed at */

  function nearest(x, y, reach) {
    let best = -1;
    let least = reach * reach;
    for (let point = 0; point < POINTS.size; point += 1) {
      if (!isShown(POINTS.cluster[point])) continue;
      const dx = toX(POINTS.x[point]) - x;
      const dy = toY(POINTS.y[point]) - y;
      const distance = dx * dx + dy * dy;
      if (distance < least) {
        least = distance;
        best = point;
      }
    }
    return best;
  }

  function cellAt(x, y) {
    const column = Math.floor(((x / size.width - 0.5) / view.zoom + view.x) * density.across);
    const row = Math.floor(((y / size.height - 0.5) / view.zoom + view.y) * density.down);
    if (column < 0 || row < 0 || column >= density.across || row >= density.down) return [];
    const cell = row * density.across + column;
    const counts = [];
    for (let cluster = 0; cluster < DATA.clusters.length; cluster += 1) {
      if (!isShown(cluster)) continue;
      let [low, high] = [density.start[cluster], density.start[cluster + 1]];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (density.cell[middle] < cell) low = middle + 1; else high = middle;
      }
      if (low < density.start[cluster + 1] && density.cell[low] === cell) counts.push([cluster, density.count[low]]);
    }
    return counts.sort((a, b) => b[1] - a[1]);
  }

  function showTip(x, y, content) {
    tip.replaceChildren(content);
    tip.hidden = false;
    const [width, height] = [tip.offsetWidth, tip.offsetHeight];
    let left = x + 16;
    if (left + width > size.width - 4) left = Math.max(4, x - width - 16);
    const top = Math.max(4, Math.min(y + 16, size.height - height - 4));
    tip.style.transform = `translate(${left}px, ${top}px)`;
  }

  function hover(event) {
    const box = canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const point = nearest(x, y, density ? REACH / 2 : REACH);
    if (point !== hovered) {
      hovered = point;
      requestDraw();
    }
    canvas.style.cursor = point >= 0 ? "pointer" : "default";
    if (point >= 0) {
      showTip(x, y, aboutPoint(point, 8));
      return;
    }
    const here = density ? cellAt(x, y) : [];
    if (!here.length) {
      tip.hidden = true;
      return;
    }
    const list = make("div", "about", make("b", "", plural(here.reduce((sum, [, k]) => sum + k, 0), "point")));
    for (const [cluster, number] of here.slice(0, 6)) {
      list.append(make("div", "", clusterTag(cluster), ` ${count(number)}`));
    }
    showTip(x, y, list);
  }

  function leave() {
    hovered = -1;
    tip.hidden = true;
    requestDraw();
  }

  function keep(points, link) {
    kept = points;
    picked = link || null;
    const box = byId("kept");
    byId("hint").hidden = points.length > 0;
    box.replaceChildren(...points.map((one) => aboutPoint(one, 24)));
    if (points.length) box.append(button("quiet", "Let go", () => keep([])));
    requestDraw();
    for (const listener of listeners) listener(points);
  }

  /* Keep the points of a table's row, and bring the picture into sight. */
  function highlight(points, scroll, link) {
    for (const one of points) if (!isShown(POINTS.cluster[one])) filter(null);
    Object.assign(view, { zoom: 1, x: 0.5, y: 0.5 });
    keep(points, link);
    if (scroll) byId("picture").scrollIntoView({ block: "nearest" });
  }

  function filter(cluster) {
    if (cluster === null) chosen.clear();
    else if (chosen.has(cluster)) chosen.delete(cluster);
    else chosen.add(cluster);
    if (chosen.size === DATA.clusters.length) chosen.clear();
    image = null;
    byId("all").hidden = chosen.size === 0;
    byId("legend").classList.toggle("some", chosen.size > 0);
    byId("legend").querySelectorAll("li > button:first-child").forEach((one, k) => one.setAttribute("aria-pressed", String(chosen.has(k))));
    leave();
  }

  function zoom(factor) {
    view.zoom = Math.max(1, Math.min(40, view.zoom * factor));
    move(0, 0);
  }

  function move(dx, dy) {
    const half = 0.5 / view.zoom;
    view.x = Math.max(half, Math.min(1 - half, view.x + dx));
    view.y = Math.max(half, Math.min(1 - half, view.y + dy));
    tip.hidden = true;
    requestDraw();
  }

  /* ---------------------------------------------------------------- mouse, touch and keys */

  let drag = null;
  canvas.addEventListener("pointerdown", (event) => {
    drag = { x: event.clientX, y: event.clientY, moved: false };
    if (view.zoom > 1) canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (drag && event.buttons && view.zoom > 1) {
      const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y];
      if (drag.moved || Math.hypot(dx, dy) > 4) {
        move(-dx / size.width / view.zoom, -dy / size.height / view.zoom);
        drag = { x: event.clientX, y: event.clientY, moved: true };
        return;
      }
    }
    hover(event);
  });
  canvas.addEventListener("pointerleave", leave);
  canvas.addEventListener("click", (event) => {
    if (drag && drag.moved) return;
    hover(event);
    keep(hovered >= 0 ? [hovered] : []);
  });
  canvas.addEventListener("dblclick", () => zoom(2));

  function step(by) {
    const shown = [];
    for (let one = 0; one < POINTS.size; one += 1) if (isShown(POINTS.cluster[one])) shown.push(one);
    if (!shown.length) return;
    const now = kept.length ? shown.indexOf(kept[0]) : -1;
    const next = now < 0 ? 0 : (now + by + shown.length) % shown.length;
    keep([shown[next]]);
  }

  canvas.addEventListener("keydown", (event) => {
    const acts = {
      ArrowRight: () => step(1), ArrowDown: () => step(1), ArrowLeft: () => step(-1), ArrowUp: () => step(-1),
      "+": () => zoom(1.6), "=": () => zoom(1.6), "-": () => zoom(1 / 1.6), 0: () => zoom(0),
      Escape: () => { leave(); keep([]); },
    };
    if (!acts[event.key] || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    acts[event.key]();
  });
  byId("nearer").addEventListener("click", () => zoom(1.6));
  byId("farther").addEventListener("click", () => zoom(1 / 1.6));
  byId("whole").addEventListener("click", () => zoom(0));
  byId("all").addEventListener("click", () => filter(null));
  new ResizeObserver(requestDraw).observe(canvas);

  function restyle() {
    readColours();
    image = null;
    requestDraw();
  }

  readColours();
  /* The picture as it is, on the colour of the page, as a file. */
  function save(name) {
    const copy = document.createElement("canvas");
    [copy.width, copy.height] = [canvas.width, canvas.height];
    const drawing = copy.getContext("2d");
    drawing.fillStyle = ink.card;
    drawing.fillRect(0, 0, copy.width, copy.height);
    drawing.drawImage(canvas, 0, 0);
    copy.toBlob((blob) => {
      const link = make("a");
      link.href = URL.createObjectURL(blob);
      link.download = name;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
  }

  return {
    highlight, filter, restyle, keep, save,
    redraw: requestDraw,
    colourBy: (colour) => { paint = colour; requestDraw(); },
    onKeep: (listener) => listeners.push(listener),
    drawSuspects: (links) => { suspects = links; requestDraw(); },
    state: () => ({ hovered, picked, kept: [...kept], chosen: [...chosen], zoom: view.zoom }),
    place: (one) => place(one),
  };
})();
