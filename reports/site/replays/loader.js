// Puts a replay together: this game's data out of the page, all else out of viewer.js beside it.

const place = document.getElementById("replay");

function tell(text) {
  const line = document.createElement("p");
  line.className = "missing";
  line.textContent = text;
  document.getElementById("head").replaceChildren(line);
}

async function unpacked() {
  const packed = atob(JSON.parse(place.textContent).packed);
  const bytes = Uint8Array.from(packed, (char) => char.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

const viewer = document.createElement("script");
viewer.src = "viewer.js";
viewer.onerror = () => tell("viewer.js, which belongs beside this page, is missing: `arena replay` writes the game as one page.");
viewer.onload = async () => {
  const { shared, style, draw } = globalThis.arenaViewer;
  const sheet = document.createElement("style");
  sheet.textContent = style;
  document.head.append(sheet);
  place.textContent = JSON.stringify({ ...shared, ...(await unpacked()) });
  draw();
};
document.head.append(viewer);
