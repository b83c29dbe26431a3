// Zoom and pan of a picture by its view box: buttons, keys, Ctrl and wheel, drag, two fingers.

const CLOSEST = 6;

/** Make a picture of `width` by `height` zoomable; returns `{ by, pan, reset }`. */
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

  /** A point of the screen in units of the picture, which may not fill its element. */
  function at(clientX, clientY) {
    return new DOMPoint(clientX, clientY).matrixTransform(picture.getScreenCTM().inverse());
  }

  /** Zoom about a point of the screen, or about the middle of what is seen. */
  function about(factor, clientX, clientY) {
    const middle = { x: box.x + width / box.scale / 2, y: box.y + height / box.scale / 2 };
    const fixed = clientX === undefined ? middle : at(clientX, clientY);
    const scale = Math.min(CLOSEST, Math.max(1, box.scale * factor));
    const shrunk = box.scale / scale;
    apply(fixed.x - (fixed.x - box.x) * shrunk, fixed.y - (fixed.y - box.y) * shrunk, scale);
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
      const from = at(was.x, was.y);
      const to = at(event.clientX, event.clientY);
      apply(box.x + from.x - to.x, box.y + from.y - to.y, box.scale);
    }
  });
  for (const kind of ["pointerup", "pointercancel"]) {
    picture.addEventListener(kind, (event) => fingers.delete(event.pointerId));
  }
  picture.addEventListener("dblclick", (event) => about(2, event.clientX, event.clientY));
  apply(0, 0, 1);
  return {
    by: (factor) => about(factor),
    /** Move by shares of what is seen. */
    pan: (right, down) => apply(box.x + (right * width) / box.scale, box.y + (down * height) / box.scale, box.scale),
    reset: () => apply(0, 0, 1),
  };
}
