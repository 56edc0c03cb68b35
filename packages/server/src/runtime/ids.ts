/** A new random UUID in lower case. */
export function newId(): string {
  return crypto.randomUUID()
}
