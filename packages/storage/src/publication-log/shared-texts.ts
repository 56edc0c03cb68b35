/** The maximum length of a text that is shared. Longer texts are seldom equal. */
const MAX_LENGTH = 64

/**
 * Replaces equal texts in values that were parsed from JSON by one text, so that they use memory
 * once. The definitions of a flag set contain the id of each variation several times.
 */
export class SharedTexts {
  readonly #texts = new Map<string, string>()

  /**
   * Replaces the texts of the members of objects, in a value that nothing else refers to. Lists of
   * texts are left out, because they are long and contain different texts.
   */
  shareIn(parsed: unknown): void {
    if (typeof parsed !== 'object' || parsed === null) return
    if (Array.isArray(parsed)) {
      for (const element of parsed) this.shareIn(element)
      return
    }
    const members = parsed as Record<string, unknown>
    for (const name of Object.keys(members)) {
      const value = members[name]
      if (typeof value === 'object') this.shareIn(value)
      else if (typeof value === 'string' && value.length <= MAX_LENGTH && name !== '__proto__') {
        members[name] = this.#sharedOf(value)
      }
    }
  }

  #sharedOf(text: string): string {
    const known = this.#texts.get(text)
    if (known !== undefined) return known
    this.#texts.set(text, text)
    return text
  }
}
