// Zoom and pan of a picture by its view box: buttons, keys, Ctrl and wheel, drag, two fingers.

const CLOSEST = 6;

/** Make a picture of `width` by `height` zoomable; returns `{ by, reset }`. */
export function zoomable(picture, width, height) {
  let box = { x: 0, y: 0, scale: 1 };
  const fingers = new Map();

  function apply(x, y, scale) {
    scale = Math.min(CLOSEST, Math.max(1, scale));
    const w = width / scale;
    const h = height / scale;
    box = {
      x: Math.min(width - w, Math.max(0, x)),
      y: Math.min(height - h, Math.max(0, y)),
      scale,
    };
    picture.setAttribute("viewBox", `${box.x} ${box.y} ${w} ${h}`);
    picture.classList.toggle("zoomed", scale > 1);
  }

  /** Units of the picture for one pixel of the screen. */
  function unit() {
    return width / box.scale / picture.getBoundingClientRect().width;
  }

  function about(factor, clientX, clientY) {
    const at = picture.getBoundingClientRect();
    const px = clientX === undefined ? at.width / 2 : clientX - at.left;
    const py = clientY === undefined ? at.height / 2 : clientY - at.top;
    const before = unit();
    const scale = Math.min(CLOSEST, Math.max(1, box.scale * factor));
    const after = width / scale / at.width;
    apply(box.x + px * (before - after), box.y + py * (before - after), scale);
  }

  function spread() {
    const [a, b] = [...fingers.values()];
    return { far: Math.hypot(a.x - b.x, a.y - b.y), x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
  }

  picture.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      about(Math.exp(-event.deltaY / 300), event.clientX, event.clientY);
    },
    { passive: false },
  );
  picture.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    picture.setPointerCapture(event.pointerId);
  });
  picture.addEventListener("pointermove", (event) => {
    const was = fingers.get(event.pointerId);
    if (!was) return;
    const old = fingers.size === 2 ? spread() : null;
    fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    if (old) {
      const now = spread();
      if (old.far > 0) about(now.far / old.far, now.x, now.y);
    } else if (box.scale > 1) {
      apply(box.x - (event.clientX - was.x) * unit(), box.y - (event.clientY - was.y) * unit(), box.scale);
    }
  });
  for (const kind of ["pointerup", "pointercancel"]) {
    picture.addEventListener(kind, (event) => fingers.delete(event.pointerId));
  }
  picture.addEventListener("dblclick", (event) => about(2, event.clientX, event.clientY));
  apply(0, 0, 1);
  return { by: (factor) => about(factor), reset: () => apply(0, 0, 1) };
}
