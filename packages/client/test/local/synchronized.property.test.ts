import { compileFlagSet, evaluateFlag, type FlagDefinition } from '@ff/core'
import { flagSetRoot } from '@ff/core/flag-set-root'
import { re2 } from '@ff/core/regex'
import { schemes } from '@ff/core/schemes'
import type { DefinitionChange } from '@ff/storage'
import { describe, expect, it } from 'vitest'
import { settle } from '../../../server/test/fake-clock.ts'
import { textFlag } from '../../../server/test/seed.ts'
import { seededRandom } from '../fake-time.ts'
import { createLocalScene, type LocalScene, sortedText, untilCurrent } from './local-scene.ts'

const CHANGES = 1000
const KEYS = Array.from({ length: 40 }, (_, index) => `flag-${index}`)
const extensions = { regex: re2, schemes }

describe('a synchronized flag set', () => {
  it.each(['socket', 'long-poll'] as const)(
    'After each of 1,000 random changes over a %s, the root and the answers equal those of the server.',
    async (transport) => {
      const scene = await createLocalScene()
      const random = seededRandom(7)
      await scene.publish(
        ...KEYS.map(
          (key) => ({ kind: 'flag', id: key, definition: randomFlag(key, random) }) as const,
        ),
        segment('s-1'),
        segment('s-2'),
      )
      const local = scene.create({
        transport: transport === 'socket' ? 'auto' : transport,
        extensions,
      })
      await untilCurrent(scene, local)
      const requests = scene.network.requests.length
      for (let change = 0; change < CHANGES; change += 1) {
        const version = await scene.publish(randomChange(random))
        await settle()
        if (transport === 'long-poll') await scene.clock.advance(1000)
        expect(local.status.version).toBe(version)
        await expectEqual(scene, local, random)
      }
      expect(scene.errors).toEqual([])
      const whole = scene.network.requests.filter((each) => each === 'GET /evaluator/flag-set')
      expect(whole.length).toBeLessThanOrEqual(1)
      if (transport === 'socket') expect(scene.network.requests.length).toBe(requests)
      await scene.close()
    },
  )
})

/** Expects that a client has the same root and answers as a fresh compilation of the store. */
async function expectEqual(
  { stored, clock }: LocalScene,
  local: ReturnType<LocalScene['create']>,
  random: () => number,
): Promise<void> {
  const definition = await stored()
  expect(local.status.root).toBe(flagSetRoot(definition).root)
  const fresh = compileFlagSet(definition, { extensions })
  for (let index = 0; index < 5; index += 1) {
    const user = {
      kind: 'user',
      key: `user-${pick(random, 20)}`,
      plan: ['pro', 'free'][pick(random, 2)] ?? '',
    }
    const values = Object.fromEntries(
      [...fresh.flags.keys()].map((key) => [
        key,
        evaluateFlag(fresh, key, user, clock.now()).value,
      ]),
    )
    expect(sortedText(local.snapshot(user).flags)).toBe(sortedText(values))
  }
}

function pick(random: () => number, count: number): number {
  return Math.floor(random() * count)
}

function segment(id: string): DefinitionChange {
  const definition = {
    id,
    key: id,
    rules: [],
    logicalOp: 'AND',
    force: false,
    keyAttribute: 'user.key',
  } as const
  return { kind: 'segment', id, definition }
}

function randomChange(random: () => number): DefinitionChange {
  const key = KEYS[pick(random, KEYS.length)] ?? ''
  const kind = pick(random, 4)
  if (kind === 0) return { kind: 'flag', id: key, definition: null }
  if (kind < 3) return { kind: 'flag', id: key, definition: randomFlag(key, random) }
  return {
    kind: 'segmentKeys',
    segmentId: `s-${1 + pick(random, 2)}`,
    list: pick(random, 2) === 0 ? 'included' : 'excluded',
    added: [`user-${pick(random, 20)}`],
    removed: [`user-${pick(random, 20)}`],
  }
}

function randomFlag(key: string, random: () => number): FlagDefinition {
  const rules = [
    {
      conditions: [
        { attribute: 'plan', operator: 'eq', value: ['pro', 'free'][pick(random, 2)] ?? '' },
      ],
    },
    { segmentId: `s-${1 + pick(random, 2)}` },
    {
      conditions: [
        { attribute: 'user.key', operator: 'matches', value: `^user-${pick(random, 3)}` },
      ],
    },
  ]
  return { ...textFlag(key, `value-${pick(random, 1000)}`, rules.slice(pick(random, 3))), id: key }
}
