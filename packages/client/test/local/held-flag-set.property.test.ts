import type { FlagSetDefinition } from '@ff/core'
import { mergeChanges, type SegmentProperties } from '@ff/core/changes'
import { flagSetRoot } from '@ff/core/flag-set-root'
import { asFlagSetUpdate, type FlagSetDiff, type FlagSetUpdate } from '@ff/protocol/sdk'
import { describe, expect, it } from 'vitest'
import { report, sized } from '../../../server/test/drills/scale.ts'
import { textFlag } from '../../../server/test/seed.ts'
import { type FlagSetSync, toSubscription } from '../../src/local/flag-set-sync.ts'
import { type HeldFlagSet, heldAfter } from '../../src/local/held-flag-set.ts'
import { seededRandom } from '../fake-time.ts'

type Json = Record<string, unknown>

const segment: SegmentProperties = {
  ...{ id: 's-1', key: 's-1', rules: [], logicalOp: 'AND', force: false },
  keyAttribute: 'user.key',
}

/** Returns versions 1 to 4 of a flag set, and the updates between them. */
function history() {
  const first: FlagSetDefinition = {
    version: 1,
    flags: [textFlag('a', 'x'), textFlag('b', 'y')],
    segments: [{ ...segment, included: ['u1', 'u2'], excluded: [] }],
  }
  const none = { added: [], removed: [] }
  const deltas = [
    { flags: [{ id: 'flag-a', definition: textFlag('a', 'z') }], segments: [] },
    {
      flags: [],
      segments: [
        {
          id: 's-1',
          definition: segment,
          included: { added: ['u3'], removed: ['u1'] },
          excluded: none,
        },
      ],
    },
    {
      flags: [
        { id: 'flag-b', definition: null },
        { id: 'flag-c', definition: textFlag('c', 'new') },
      ],
      segments: [],
    },
  ]
  const versions = [first]
  const updates: FlagSetUpdate[] = [{ ...first, root: flagSetRoot(first).root }]
  for (const delta of deltas) {
    const before = versions.at(-1) ?? first
    const to = before.version + 1
    const after = mergeChanges(before, { ...delta, version: to })
    const { root } = flagSetRoot(after)
    versions.push(after)
    updates.push({ ...after, root }, { ...delta, from: before.version, to, root } as FlagSetDiff)
  }
  return { versions, updates }
}

const { versions, updates } = history()
const roots = new Set(versions.map((definition) => flagSetRoot(definition).root))
const texts = updates.map((update) => JSON.stringify(update))
const donors: unknown[] = [null, true, -1, 0, 1, 2, 3, 4, 1e21, '', 'u1', 'flag-a', [], {}, ['u1']]

/** Replaces, removes, repeats or moves a random part of a JSON value. */
function mutate(value: unknown, random: () => number): unknown {
  const pick = (count: number) => Math.floor(random() * count)
  const other = () => structuredClone(donors[pick(donors.length)])
  if (typeof value !== 'object' || value === null || random() < 0.08) return other()
  const keys = Object.keys(value)
  const key = keys[pick(keys.length)]
  if (key === undefined) return other()
  const copy = value as Json
  const choice = pick(12)
  if (choice === 0) {
    if (Array.isArray(value)) value.splice(Number(key), 1)
    else delete copy[key]
  } else if (choice === 1 && Array.isArray(value)) value.push(structuredClone(value[Number(key)]))
  else if (choice === 2) copy[keys[pick(keys.length)] ?? key] = structuredClone(copy[key])
  else if (choice === 3 && !Array.isArray(value)) copy['__proto__x'.slice(0, 2 + pick(9))] = other()
  else copy[key] = mutate(copy[key], random)
  return value
}

describe('heldAfter', () => {
  it('Mutated updates never throw, and never lead to a wrong or an older flag set.', () => {
    const runs = sized({ full: 1_000_000, small: 20_000 })
    const random = seededRandom(12)
    let held: HeldFlagSet | undefined
    const counts = { used: 0, refused: 0, invalid: 0 }
    for (let run = 0; run < runs; run += 1) {
      if (run % 50 === 0) held = startingAt(Math.floor(random() * 5))
      let body: unknown = JSON.parse(texts[Math.floor(random() * texts.length)] ?? '')
      for (let times = random() < 0.2 ? 0 : 1 + random() * 3; times >= 1; times -= 1) {
        body = mutate(body, random)
      }
      const update = asFlagSetUpdate(body)
      const after: HeldFlagSet | string = update === undefined ? 'invalid' : heldAfter(held, update)
      if (typeof after === 'string') {
        counts[update === undefined ? 'invalid' : 'refused'] += 1
        continue
      }
      counts.used += 1
      expect(after.flagSet.version).toBeGreaterThanOrEqual(held?.flagSet.version ?? 0)
      if (after !== held) expectSound(after, update)
      held = after
    }
    report(`mutated flag-set updates: ${JSON.stringify(counts)}`)
    expect(Math.min(...Object.values(counts))).toBeGreaterThan(runs / 100)
  }, 600_000)

  it('Mutated messages and responses never throw out of a subscription.', () => {
    const runs = sized({ full: 200_000, small: 5000 })
    const random = seededRandom(13)
    for (let run = 0; run < runs; run += 1) {
      const sync: FlagSetSync = {
        ...{ sdkKey: 'ff_1', extensions: undefined, needsWhole: false, onRefusal: () => {} },
        held: startingAt(run % 5),
      }
      const { receive, respond, message: messageOf, request } = toSubscription(sync)
      const anyUpdate = (): unknown => JSON.parse(texts[Math.floor(random() * texts.length)] ?? '')
      const message = mutate({ type: 'flagSet', version: 3, update: anyUpdate() }, random)
      const before = sync.held
      receive(message as never)
      respond({ status: 200, headers: new Headers(), body: mutate(anyUpdate(), random) })
      expect(sync.held?.flagSet.version ?? 0).toBeGreaterThanOrEqual(before?.flagSet.version ?? 0)
      if (sync.held && sync.held !== before) expectSound(sync.held, undefined)
      expect(JSON.parse(messageOf(true))).toMatchObject({ type: 'init' })
      expect(request(false).path).toMatch(/^\/evaluator\/flag-set(\?since=\d+)?$/)
    }
  }, 600_000)
})

function startingAt(version: number): HeldFlagSet | undefined {
  const definition = versions[version - 1]
  if (definition === undefined) return undefined
  const held = heldAfter(undefined, definition)
  if (typeof held === 'string') throw new Error(`Version ${version} is refused: ${held}`)
  return held
}

/** Expects that the definitions of a flag set are those of a version that exists. */
function expectSound({ flagSet, root }: HeldFlagSet, update: FlagSetUpdate | undefined): void {
  const { root: actual } = flagSetRoot(flagSet.definition)
  if (actual !== root.root) throw new Error('The root is not that of the definitions')
  // A whole flag set with other definitions can be used only if it names their root.
  if (!roots.has(actual)) throw new Error(`Unknown definitions: ${JSON.stringify(update)}`)
}
