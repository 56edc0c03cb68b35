/** Returns the keys in pasted lines, each once. Empty lines and white space around keys are left out. */
export function keysFromLines(text: string): readonly string[] {
  const lines = text.split(/\r\n|\r|\n/).map((line) => line.trim())
  return [...new Set(lines.filter((line) => line !== ''))]
}
