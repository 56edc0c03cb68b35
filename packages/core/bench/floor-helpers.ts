/** Functions that generated code calls: the bucket of a text, and parsers of versions and addresses. */
export const HELPERS = `
const none = {};
function bucketOf(text) {
  const length = text.length, blocks = length - (length & 3);
  let h = 0, k = 0;
  for (let i = 0; i < blocks; i += 4) {
    k = text.charCodeAt(i) | text.charCodeAt(i + 1) << 8 | text.charCodeAt(i + 2) << 16 | text.charCodeAt(i + 3) << 24;
    k = Math.imul(k, 0xcc9e2d51); k = k << 15 | k >>> 17;
    h ^= Math.imul(k, 0x1b873593); h = h << 13 | h >>> 19; h = Math.imul(h, 5) + 0xe6546b64 | 0;
  }
  k = 0;
  for (let i = length - 1; i >= blocks; i--) k = k << 8 | text.charCodeAt(i);
  if (k !== 0) { k = Math.imul(k, 0xcc9e2d51); k = k << 15 | k >>> 17; h ^= Math.imul(k, 0x1b873593); }
  h ^= length;
  h = Math.imul(h ^ h >>> 16, 0x85ebca6b); h = Math.imul(h ^ h >>> 13, 0xc2b2ae35); h = (h ^ h >>> 16) >>> 0;
  return Math.floor(h * 100000 / 4294967296);
}
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
