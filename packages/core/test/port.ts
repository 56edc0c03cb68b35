import type {
  Condition,
  Fields,
  Flag,
  Json,
  PortedSet,
  Range,
  Rollout,
  Rule,
} from './port-definition.ts'

type Detail = Readonly<Record<string, unknown>> & { readonly variationId: string }

/** Thrown for features that this engine does not support. */
class Unknown extends Error {}

/** Returns the detail of a flag, or `undefined` if it requires an unsupported feature. */
export function portedDetail(set: PortedSet, flag: Flag, context: Fields, now: number) {
  try {
    const { variationId, ...why } = new Port(set, context, now).detail(flag)
    const variation = flag.variations.find(({ id }) => id === variationId)
    const text = variation?.value ?? 'null'
    const value: unknown = flag.type === 'string' ? text : JSON.parse(text)
    return { flagKey: flag.key, value, variationId, variationKey: variation?.key, ...why }
  } catch (error) {
    if (error instanceof Unknown) return undefined
    throw error
  }
}

/**
 * A second engine that was written from the documentation alone, like a port to another language.
 * It imports nothing from the first engine. It supports only the operators for equality, existence,
 * segments and flags.
 */
class Port {
  readonly #set: PortedSet
  readonly #context: Fields
  readonly #now: number

  constructor(set: PortedSet, context: Fields, now: number) {
    this.#set = set
    this.#context = context
    this.#now = now
  }

  detail(flag: Flag): Detail {
    const { defaultVariationId, offVariationId } = flag
    const off = offVariationId ?? defaultVariationId
    if (!flag.isActive) return { variationId: off, reason: 'DISABLED' }
    for (const { flagId, variationIds } of flag.prerequisites) {
      const prerequisite = this.#set.flags.find(({ id }) => id === flagId)
      if (prerequisite === undefined) throw new Unknown('broken')
      if (variationIds.includes(this.detail(prerequisite).variationId)) continue
      return { variationId: off, reason: 'DEFAULT', prerequisiteKey: prerequisite.key }
    }
    const isStatic = [flag.targets, flag.rules, flag.prerequisites].every((each) => !each.length)
    const fallback = { variationId: defaultVariationId, reason: isStatic ? 'STATIC' : 'DEFAULT' }
    if (Object.keys(this.#context).length === 0) return fallback
    for (const { kind, keys, variationId } of flag.targets) {
      const [, part] = partsOf(this.#context).find(([name]) => name === kind) ?? []
      const key = keyText(own(part, 'key'))
      if (key !== undefined && keys.includes(key)) return { variationId, reason: 'TARGETING_MATCH' }
    }
    return this.#follow(flag, fallback)
  }

  #follow(flag: Flag, fallback: Detail): Detail {
    const order = (a: Rule, b: Rule) =>
      a.orderIndex - b.orderIndex || compare(a.createdAt, b.createdAt) || compare(a.id, b.id)
    let note = {}
    for (const rule of flag.rules.toSorted(order)) {
      const { id: ruleId, segmentId, rolloutId, variationId } = rule
      if (!rule.conditions.every((condition) => this.#holds(condition))) continue
      if (segmentId !== null && !this.#isIn(segmentId)) continue
      const about = segmentId === null ? { ruleId } : { ruleId, segmentId }
      if (rolloutId !== null) {
        const rollout = flag.rollouts.find(({ id }) => id === rolloutId)
        const key = this.#bucketingKey(rollout?.bucketBy ?? '')
        if (key === undefined) note = { errorCode: 'TARGETING_KEY_MISSING' }
        const placed = key === undefined ? undefined : this.#place(rollout, key)
        if (placed !== undefined)
          return { ...placed, reason: 'SPLIT', ...about, rolloutId, ...note }
      } else if (variationId !== null) {
        return { variationId, reason: 'TARGETING_MATCH', ...about, ...note }
      }
    }
    return { ...fallback, ...note }
  }

  #bucketingKey(reference: string): string | undefined {
    const found = find(this.#context, reference)
    const { kind, key = null } = this.#context
    if (found === null && reference === 'user.key' && kind !== 'multi') return keyText(key)
    return keyText(found)
  }

  #place(rollout: Rollout | undefined, key: string) {
    if (rollout?.scheme !== 'ff') throw new Unknown('scheme')
    const hash = murmur3(new TextEncoder().encode(`${rollout.salt}.${key}`))
    const bucket = Math.floor((hash * 100_000) / 2 ** 32)
    const ranges = rollout.ranges ?? [this.#gradual(rollout)]
    const range = ranges.find(({ from, to }) => from <= bucket && bucket < to)
    if (range === undefined) return undefined
    const { variationId, from, to } = range
    return { variationId, bucket, range: { from, to } }
  }

  #gradual(rollout: Rollout): Range {
    const { variationId = '', targetPercentage = 0, increment = 0, startAt = '' } = rollout
    const passed = this.#now - Date.parse(startAt)
    const interval = Math.round((rollout.intervalHours ?? 0) * 3_600_000)
    const steps = passed < 0 ? 0 : 1 + Math.floor(passed / interval)
    const to = Math.min(Math.round(targetPercentage * 1000), steps * Math.round(increment * 1000))
    return { variationId, from: 0, to }
  }

  #isIn(segmentId: string): boolean {
    const segment = this.#set.segments.find(({ id }) => id === segmentId)
    if (segment === undefined) throw new Unknown('broken')
    if (Object.keys(this.#context).length === 0) return false
    const key = keyText(find(this.#context, segment.keyAttribute))
    if (key !== undefined && segment.excluded.includes(key)) return false
    if (key !== undefined && segment.included.includes(key)) return true
    if (segment.force || segment.rules.length === 0) return segment.force
    const held = segment.rules.map((condition) => this.#holds(condition))
    if (segment.logicalOp === 'AND') return !held.includes(false)
    return held.includes(true) === (segment.logicalOp === 'OR')
  }

  #holds(condition: Condition): boolean {
    const held = this.#evaluate(condition)
    return held === undefined ? false : held !== (condition.negate ?? false)
  }

  /**
   * Returns `true` if the condition matches. `undefined` if it is invalid, so that it never
   * matches.
   */
  #evaluate({ attribute, operator, value }: Condition): boolean | undefined {
    const wanted = operator.replace('neq', 'eq').replace(/^not_|_not$/, '')
    const isPositive = wanted === operator
    if (!['exists', 'eq', 'in', 'in_segment', 'flag_is'].includes(wanted))
      throw new Unknown(operator)
    const list = wanted === 'eq' ? [value] : listOf(value)
    if (wanted === 'in_segment') return list?.some((id) => this.#isIn(id)) === isPositive
    if (wanted === 'flag_is') {
      const flag = this.#set.flags.find(({ key }) => key === attribute)
      const served = flag && this.detail(flag).variationId
      const key = flag?.variations.find(({ id }) => id === served)?.key
      return key !== undefined && list?.includes(key) === isPositive
    }
    const found = find(this.#context, attribute)
    if (wanted === 'exists') return (found !== null) === isPositive
    if (list === undefined) return undefined
    if (found === null) return false
    const all: readonly Json[] = Array.isArray(found) ? [found, ...found] : [found]
    if (all.some((each) => list.some((text) => equals(each, text)))) return isPositive
    return all.some(isBeyondExact) ? undefined : !isPositive
  }
}

function own(part: Json | undefined, name: string): Json {
  const isObject = typeof part === 'object' && part !== null && !Array.isArray(part)
  return isObject && Object.hasOwn(part, name) ? ((part as Fields)[name] ?? null) : null
}

function compare(left: string, right: string): number {
  const [a, b] = [left, right].map((text) => Array.from(text, (each) => each.codePointAt(0) ?? 0))
  const at = a?.findIndex((point, index) => point !== b?.[index]) ?? -1
  if (at === -1) return (a?.length ?? 0) - (b?.length ?? 0)
  return (a?.[at] ?? 0) - (b?.[at] ?? -1)
}

/** Returns the kinds of a context with their attributes, `user` first. */
function partsOf(context: Fields): readonly (readonly [string, Json])[] {
  if (context['kind'] !== 'multi') return [[String(context['kind']), context]]
  const parts = Object.entries(context).filter(([name]) => name !== 'kind')
  const rank = (kind: string) => (kind === 'user' ? 0 : 1)
  return parts.sort(([a], [b]) => rank(a) - rank(b) || compare(a, b))
}

/** Returns the attribute that a reference names, or `null` if it is missing. */
function find(context: Fields, reference: string): Json {
  const parts = partsOf(context)
  if (reference === 'kind' && context['kind'] === 'multi') return parts.map(([kind]) => kind)
  const isPointer = reference.startsWith('/')
  const steps = isPointer
    ? reference
        .slice(1)
        .split('/')
        .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    : reference.split('.')
  const follow = (part: Json, path: readonly string[]) => path.reduce<Json>(own, part)
  const readings = [
    ...parts.map(([, part]) => own(part, reference)),
    ...parts.map(([, part]) => follow(part, steps)),
    ...steps.flatMap((_, cut) => {
      if (cut === 0 || (isPointer && cut > 1)) return []
      const rest = steps.slice(cut)
      const [, part] = parts.find(([kind]) => kind === steps.slice(0, cut).join('.')) ?? []
      if (part === undefined) return []
      if (rest.join('.') === 'kind') return [steps.slice(0, cut).join('.')]
      return [isPointer ? null : own(part, rest.join('.')), follow(part, rest)]
    }),
  ]
  return readings.find((value) => value !== null) ?? null
}

function keyText(value: Json): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : value
  return Number.isSafeInteger(value) ? String(value) : undefined
}

/** Returns the texts of a list, or `undefined` if the list contains `null`. */
function listOf(text: string): readonly string[] | undefined {
  const list = parse(text)
  if (!Array.isArray(list)) return [text]
  if (list.includes(null)) return undefined
  return list.map((each) => (typeof each === 'string' ? each : JSON.stringify(each)))
}

function equals(value: Json, text: string): boolean {
  if (typeof value === 'string') return value === text
  if (typeof value !== 'object') return !isBeyondExact(value) && JSON.stringify(value) === text
  const wanted = parse(text)
  if (typeof wanted !== 'object' || wanted === null) return false
  return sorted(value) === sorted(wanted) && !parts(value).some(isBeyondExact)
}

function isBeyondExact(value: Json): boolean {
  return Number.isInteger(value) && Math.abs(Number(value)) >= 2 ** 53
}

/** Returns a value and all values in it. */
function parts(value: Json): readonly Json[] {
  const within = typeof value === 'object' && value !== null ? Object.values(value) : []
  return [value, ...within.flatMap(parts)]
}

function parse(text: string): Json | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Returns JSON text that is the same for deeply equal values. */
export function sorted(value: unknown): string {
  return JSON.stringify(value, (_, each) => {
    const isObject = typeof each === 'object' && each !== null && !Array.isArray(each)
    return isObject ? Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)) : each
  })
}

/** Returns the MurmurHash3 x86_32 of bytes with the seed 0. */
function murmur3(bytes: Uint8Array): number {
  const rotated = (word: number, by: number) => (word << by) | (word >>> (32 - by))
  const mixed = (word: number) => Math.imul(rotated(Math.imul(word, 0xcc9e2d51), 15), 0x1b873593)
  const wordAt = (at: number) =>
    [3, 2, 1, 0].reduce((word, offset) => (word << 8) | (bytes[at + offset] ?? 0), 0)
  const whole = bytes.length - (bytes.length % 4)
  let hash = 0
  for (let at = 0; at < whole; at += 4) {
    hash = (Math.imul(rotated(hash ^ mixed(wordAt(at)), 13), 5) + 0xe6546b64) | 0
  }
  hash ^= mixed(wordAt(whole)) ^ bytes.length
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
