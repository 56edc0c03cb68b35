/**
 * A function that generated code calls. It returns the bucket of a text that follows `covered` bytes with
 * the hash state `state`.
 */
export const BUCKET = `
function bucket(state, covered, key) {
  const length = key.length, blocks = length - (length & 3);
  let h = state, k = 0;
  for (let i = 0; i < blocks; i += 4) {
    k = key.charCodeAt(i) | key.charCodeAt(i + 1) << 8 | key.charCodeAt(i + 2) << 16 | key.charCodeAt(i + 3) << 24;
    k = Math.imul(k, 0xcc9e2d51); k = k << 15 | k >>> 17;
    h ^= Math.imul(k, 0x1b873593); h = h << 13 | h >>> 19; h = Math.imul(h, 5) + 0xe6546b64 | 0;
  }
  k = 0;
  for (let i = length - 1; i >= blocks; i--) k = k << 8 | key.charCodeAt(i);
  if (k !== 0) { k = Math.imul(k, 0xcc9e2d51); k = k << 15 | k >>> 17; h ^= Math.imul(k, 0x1b873593); }
  h ^= covered + length;
  h = Math.imul(h ^ h >>> 16, 0x85ebca6b); h = Math.imul(h ^ h >>> 13, 0xc2b2ae35); h = (h ^ h >>> 16) >>> 0;
  return Math.floor(h * 100000 / 4294967296);
}`

/** Functions that the code of mixed flags calls in addition: parsers of versions and addresses. */
export const PARSERS = `
const none = {};
function versionOf(text) {
  const first = text.indexOf('.'), second = text.indexOf('.', first + 1);
  return text.slice(0, first) * 1000000 + text.slice(first + 1, second) * 1000 + +text.slice(second + 1);
}
function addressOf(text) {
  let address = 0, part = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 46) { address = address << 8 | part; part = 0; } else part = part * 10 + code - 48;
  }
  return (address << 8 | part) >>> 0;
}`
