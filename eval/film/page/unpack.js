// Arrays of the page, packed by eval/film/content.py.

const ARRAYS = { u32: Uint32Array, f32: Float32Array, f64: Float64Array, u8: Uint8Array };

/** A typed array out of {kind, count, data}. */
async function unpack({ kind, count, data }) {
  const deflated = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
  const stream = new Blob([deflated]).stream().pipeThrough(new DecompressionStream("deflate"));
  const planes = new Uint8Array(await new Response(stream).arrayBuffer());
  const array = new ARRAYS[kind](count);
  const bytes = new Uint8Array(array.buffer);
  const size = array.BYTES_PER_ELEMENT;
  for (let plane = 0; plane < size; plane++) {
    for (let i = 0, from = plane * count; i < count; i++) bytes[i * size + plane] = planes[from + i];
  }
  return array;
}

/** An object's packed members as arrays, the others as they are. */
async function unpackAll(object) {
  const entries = Object.entries(object).map(async ([name, value]) =>
    [name, value && value.data !== undefined ? await unpack(value) : value]);
  return Object.fromEntries(await Promise.all(entries));
}
