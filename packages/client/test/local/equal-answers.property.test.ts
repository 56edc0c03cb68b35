import { compileFlagSet, type RolloutDefinition } from '@ff/core'
import { evaluateAll, valuesOf } from '@ff/core/all-flags'
import { re2 } from '@ff/core/regex'
import { schemes } from '@ff/core/schemes'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../../scripts/test-selection.ts'
import { anyContext } from '../../../core/test/context-arbitraries.ts'
import { anyDefinition, anyNow } from '../../../core/test/definition-arbitraries.ts'
import { evaluate, evaluateOverOfrep, poll } from '../../../server/test/call.ts'
import { sized } from '../../../server/test/drills/scale.ts'
import { settle } from '../../../server/test/fake-clock.ts'
import { textFlag } from '../../../server/test/seed.ts'
import { TestSocket } from '../../../server/test/test-socket.ts'
import { heldAfter } from '../../src/local/held-flag-set.ts'
import { LocalEvaluator } from '../../src/local/local-evaluator.ts'
import { seededRandom } from '../fake-time.ts'
import { createLocalScene, sortedText, untilCurrent } from './local-scene.ts'

const extensions = { regex: re2, schemes }
const plans = ['pro', 'free', 'team'] as const
const countries = ['DE', 'FR', 'US', 'JP'] as const

describe('answers', () => {
  it('Local evaluation, requests, OFREP, polls and sockets return identical values for random contexts.', async () => {
    const scene = await createLocalScene()
    const rules = plans.map((plan, index) => ({
      conditions: [
        { attribute: 'plan', operator: 'eq', value: plan },
        { attribute: 'country', operator: 'in', value: JSON.stringify(countries.slice(index)) },
      ],
    }))
    const rollout: RolloutDefinition = {
      id: 'r',
      bucketBy: 'user.key',
      salt: 'saltsaltsal',
      scheme: 'ff',
      strategy: 'percentage',
      ranges: [{ variationId: 'f1-other', from: 0, to: 50_000 }],
    }
    const share = {
      ...textFlag('f1', 'x', [{ variationId: null, rolloutId: 'r' }]),
      rollouts: [rollout],
    }
    const all = [
      textFlag('f0', 'x', rules),
      share,
      ...[2, 3, 4].map((n) => textFlag(`f${n}`, 'x', rules.slice(n - 2))),
    ]
    await scene.publish(
      ...all.map((definition) => ({ kind: 'flag', id: definition.id, definition }) as const),
    )
    const local = scene.create({ extensions })
    await untilCurrent(scene, local)
    const random = seededRandom(11)
    const oneOf = <Value>(values: readonly Value[]) => values[Math.floor(random() * values.length)]
    const socket = new TestSocket()
    const connection = scene.server.acceptSocket(socket)
    const { sdkKey } = scene
    for (let run = 0; run < sized({ full: 10_000, small: 500 }); run += 1) {
      const context = {
        kind: 'user',
        key: `user-${run}`,
        plan: oneOf(plans) ?? '',
        country: oneOf(countries) ?? '',
      }
      const expected = sortedText(local.snapshot(context).flags)
      expect(sortedText((await evaluate(scene.server, sdkKey, context)).body)).toBe(expected)
      expect(sortedText(await evaluateOverOfrep(scene.server, sdkKey, context))).toBe(expected)
      const answer = await poll(scene.server, sdkKey, { context, since: 'none' })
      expect(sortedText(answer.body)).toBe(expected)
      connection.receive(
        JSON.stringify(
          run === 0 ? { type: 'init', sdkKey, context } : { type: 'context', context },
        ),
      )
      for (let wait = 0; socket.messages.length === 0 && wait < 100; wait += 1) await settle()
      const [message] = socket.take()
      expect(sortedText(message?.type === 'flags' ? message.flags : message)).toBe(expected)
    }
    await scene.close()
  }, 600_000)

  it('Local evaluation equals the evaluation of all flags for random definitions and contexts.', () => {
    fc.assert(
      fc.property(anyDefinition, anyContext, anyNow, (definition, context, now) => {
        const held = heldAfter(undefined, definition, { extensions })
        if (typeof held === 'string') throw new Error(`The definition is refused: ${held}`)
        const evaluator = new LocalEvaluator({
          ...{ types: new Map(), now: () => now },
          count: () => {},
          report: () => {},
        })
        evaluator.flagSet = held.flagSet
        const expected = valuesOf(
          evaluateAll(compileFlagSet(definition, { extensions }), context, now),
        )
        expect(sortedText(evaluator.valuesOf(held.flagSet, context))).toBe(sortedText(expected))
      }),
      { numRuns: runs(sized({ full: 10_000, small: 1000 })) },
    )
  }, 600_000)
})
