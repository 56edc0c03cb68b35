/** The maximum length of a text that is shared. Longer texts are seldom equal. */
const MAX_LENGTH = 64
/** The maximum number of texts and conditions that are remembered. */
const MOST_REMEMBERED = 20_000

/** A condition of a rule or a segment, without `negate`. */
interface Condition {
  readonly attribute: string
  readonly operator: string
  readonly value: string
}

/**
 * Replaces equal texts and conditions in values that were parsed from JSON by one of them, so that
 * they use memory once. The definitions of a flag set contain the id of each variation several
 * times, and the environments of a project often have the same conditions. Remembers only the values
 * that were seen last, so that those of unused flag sets do not stay in memory.
 */
export class SharedValues {
  readonly #texts = new Map<string, string>()
  /** The conditions by operator, attribute and value. */
  readonly #conditions = new Map<string, Map<string, Map<string, unknown>>>()
  #remembered = 0

  /**
   * Returns the value with shared parts. `parsed` is changed: nothing else may refer to it. The
   * result must not be changed. Lists of texts are left out, because they are long and contain
   * different texts.
   */
  share(parsed: unknown): unknown {
    if (this.#remembered > MOST_REMEMBERED) this.#forget()
    return this.#shareIn(parsed)
  }

  #shareIn(parsed: unknown): unknown {
    if (typeof parsed !== 'object' || parsed === null) return parsed
    if (Array.isArray(parsed)) {
      for (let at = 0; at < parsed.length; at += 1) {
        if (typeof parsed[at] === 'object') parsed[at] = this.#shareIn(parsed[at])
      }
      return parsed
    }
    const members = parsed as Record<string, unknown>
    const names = Object.keys(members)
    for (const name of names) {
      const value = members[name]
      if (name === '__proto__') continue
      if (typeof value === 'object') members[name] = this.#shareIn(value)
      else if (typeof value === 'string' && value.length <= MAX_LENGTH) {
        members[name] = this.#sharedText(value)
      }
    }
    return isCondition(members, names) ? this.#sharedCondition(members) : members
  }

  #sharedText(text: string): string {
    const known = this.#texts.get(text)
    if (known !== undefined) return known
    this.#texts.set(text, text)
    this.#remembered += 1
    return text
  }

  #sharedCondition(condition: Condition): unknown {
    const { attribute, operator, value } = condition
    const byAttribute = this.#conditions.get(operator) ?? new Map<string, Map<string, unknown>>()
    const byValue = byAttribute.get(attribute) ?? new Map<string, unknown>()
    const known = byValue.get(value)
    if (known !== undefined) return known
    this.#conditions.set(operator, byAttribute.set(attribute, byValue.set(value, condition)))
    this.#remembered += 1
    return condition
  }

  #forget(): void {
    this.#texts.clear()
    this.#conditions.clear()
    this.#remembered = 0
  }
}

/** Returns `true` for a condition with a short value, whose members have the usual order. */
function isCondition(
  members: Record<string, unknown>,
  names: readonly string[],
): members is Record<string, unknown> & Condition {
  if (names.length !== 3 || names[0] !== 'attribute' || names[1] !== 'operator') return false
  const { attribute, operator, value } = members
  const areTexts = typeof attribute === 'string' && typeof operator === 'string'
  return areTexts && typeof value === 'string' && value.length <= MAX_LENGTH
}
