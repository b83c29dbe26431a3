// A long game stands packed in its page; here it is unpacked, before anything is drawn.

/** Put the game's JSON in the place of what was packed of it. */
export async function unpack() {
  const place = document.getElementById("replay");
  const packed = atob(JSON.parse(place.textContent).packed);
  const bytes = Uint8Array.from(packed, (char) => char.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  place.textContent = await new Response(stream).text();
}
