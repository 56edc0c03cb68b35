import { setImmediate } from 'node:timers/promises'
import type { BaseHook, EvaluationContext, EvaluationDetails, FlagValue } from '@openfeature/core'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { startFlagServer, type TestServer } from './flag-server.ts'
import { run, type StepDefinition, scenariosOf } from './gherkin.ts'
import { testFlags } from './test-flags.ts'
import {
  type Evaluation,
  ofrepWorld,
  serverWorld,
  type TypeName,
  type World,
  webWorld,
} from './worlds.ts'

/** The tags of the scenarios that are left out. `fixtures/openfeature/README.md` says why. */
const LEFT_OUT = ['@metadata', '@reason-codes-cached']

/** OpenFeature's own provider has no initialization, and is therefore always ready. */
const OF_STATUS = ['@provider-status', '@provider-status-fatal']

let server: TestServer

beforeAll(async () => {
  server = await startFlagServer(...testFlags())
})

afterAll(() => server.stop())

describe.each([webWorld, serverWorld, ofrepWorld])(
  'the scenarios of OpenFeature, $name SDK',
  (world) => {
    afterEach(() => world.reset())

    const scenarios = scenariosOf('evaluation_v2.feature')

    for (const scenario of scenarios) {
      const leftOut = world === ofrepWorld ? [...LEFT_OUT, ...OF_STATUS] : LEFT_OUT
      if (scenario.tags.some((tag) => leftOut.includes(tag))) continue
      it(scenario.title, () => run(scenario, stepsIn(world)))
    }
  },
)

/** The values of the steps of one scenario. */
interface Memory {
  flag: Pick<Evaluation, 'type' | 'key' | 'defaultValue'>
  context: Record<string, EvaluationContext[string]>
  hooks: BaseHook[]
  calls: string[]
  details: EvaluationDetails<FlagValue>
}

function stepsIn(world: World): readonly StepDefinition[] {
  const memory: Memory = {
    flag: { type: 'Boolean', key: '', defaultValue: false },
    context: {},
    hooks: [],
    calls: [],
    details: { flagKey: '', flagMetadata: {}, value: false },
  }
  const evaluate = async () => {
    const { flag, context, hooks } = memory
    memory.details = await world.evaluate({ ...flag, context, hooks })
  }
  return [
    [/^a (.+) provider$/, (state = '') => provide(world, state)],
    [
      /^a (\w+)-flag with key "(.*)" and a fallback value "(.*)"$/,
      (type, key = '', text = '') => {
        memory.flag = { type: type as TypeName, key, defaultValue: parsed(type, text) }
      },
    ],
    [
      /^a context containing a key "(.*)", with type "(.*)" and with value "(.*)"$/,
      (key = '', type, text = '') => {
        memory.context[key] = parsed(type, text) as EvaluationContext[string]
      },
    ],
    [
      /^a context containing a key "(.*)" with null value$/,
      (key = '') => {
        memory.context[key] = null
      },
    ],
    [
      /^evaluation options containing specific hooks$/,
      () => memory.hooks.push(hookOf('first', memory.calls), hookOf('second', memory.calls)),
    ],
    [
      /^an evaluation context with modifiable data$/,
      () => Object.assign(memory.context, { email: 'a@b.test', nested: { list: [1] } }),
    ],
    [/^the flag was evaluated with details(?: using the evaluation options)?$/, evaluate],
    [/^the flag was evaluated with details asynchronously$/, evaluate],
    ...assertionsIn(world, memory),
  ]
}

function assertionsIn(world: World, memory: Memory): readonly StepDefinition[] {
  // Clients receive values without reasons and variants.
  const hasReasons = world.name !== 'web'
  return [
    [
      /^the resolved details value should be "(.*)"$/,
      (text = '') => expect(memory.details.value).toEqual(parsed(memory.flag.type, text)),
    ],
    [
      /^the reason should be "(.*)"$/,
      (reason) => {
        // The remote evaluation protocol has no reason `DEFAULT`.
        const isSent = hasReasons && !(world.name === 'OFREP' && reason === 'DEFAULT')
        expect(memory.details.reason).toBe(isSent || reason === 'ERROR' ? reason : 'UNKNOWN')
      },
    ],
    [/^the error-code should be "(.*)"$/, (code) => expect(memory.details.errorCode).toBe(code)],
    [/^the flag key should be "(.*)"$/, (key) => expect(memory.details.flagKey).toBe(key)],
    [
      /^the variant should be "(.*)"$/,
      (variant) => expect(memory.details.variant).toBe(hasReasons ? variant : undefined),
    ],
    [/^the provider status should be "(.*)"$/, (status) => expect(world.status).toBe(status)],
    [
      /^the specified hooks should execute during evaluation$/,
      () => expect(memory.calls).toHaveLength(6),
    ],
    [
      /^the hook order should be maintained$/,
      () => {
        const [after, end] = [
          ['second after', 'first after'],
          ['second finally', 'first finally'],
        ]
        expect(memory.calls).toEqual(['first before', 'second before', ...after, ...end])
      },
    ],
    [
      /^the original evaluation context should remain unmodified$/,
      () => expect(memory.context).toEqual({ email: 'a@b.test', nested: { list: [1] } }),
    ],
    [
      /^the evaluation details should be immutable$/,
      () => expect(Object.isFrozen(memory.details.flagMetadata)).toBe(true),
    ],
    [/^the evaluation should complete without blocking$/, () => setImmediate()],
  ]
}

/** Sets a provider with a status. */
async function provide(world: World, state: string): Promise<void> {
  await world.reset()
  const never = () => new Promise<never>(() => {})
  if (state === 'stable') await world.use(server)
  else if (state === 'not ready') {
    // The initialization ends when the scenario removes the provider.
    world.use(server, { fetch: never }).catch(() => {})
  } else if (state === 'error') {
    await expect(world.use(server, { sdkKey: 'ff_unknown' })).rejects.toThrow('refuses')
  } else if (state === 'fatal') {
    await expect(world.use(server, {}, true)).rejects.toThrow('closed')
  } else {
    vi.useFakeTimers()
    try {
      const initialized = world.use({ ...server, url: 'http://127.0.0.1:1' }, { fetch: never })
      await vi.advanceTimersByTimeAsync(6000)
      await initialized
    } finally {
      vi.useRealTimers()
    }
  }
}

function hookOf(name: string, calls: string[]): BaseHook {
  return {
    before: () => void calls.push(`${name} before`),
    after: () => void calls.push(`${name} after`),
    finally: () => void calls.push(`${name} finally`),
  }
}

function parsed(type: string | undefined, text: string): FlagValue {
  return type === 'String' ? text : JSON.parse(text.replaceAll('\\"', '"'))
}
