import { createLocalClient } from '@ff/client/local'
import { createTestClient } from '@ff/client/testing'
import type { EvaluationContext } from '@openfeature/core'
import * as serverSdk from '@openfeature/server-sdk'
import * as webSdk from '@openfeature/web-sdk'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createFlagProvider as createServerProvider } from '../src/server.ts'
import { createFlagProvider as createWebProvider } from '../src/web.ts'
import { run, type Scenario, type StepDefinition, scenariosOf } from './gherkin.ts'

type Level = 'API' | 'Transaction' | 'Client' | 'Invocation' | 'Before Hooks'
type Contexts = Partial<Record<Level, EvaluationContext>>

/** Evaluates a flag with contexts. Returns the context that the client of the provider receives. */
type Evaluate = (contexts: Contexts) => Promise<unknown>

const LEVELS: readonly Level[] = ['API', 'Transaction', 'Client', 'Invocation', 'Before Hooks']
const scenarios = scenariosOf('contextMerging.feature')

/** The step definitions of one scenario. */
function stepsWith(evaluate: Evaluate): readonly StepDefinition[] {
  const contexts: Contexts = {}
  let levels = LEVELS
  let merged: unknown
  const add = (level: Level, key: string, value: string) => {
    contexts[level] = { ...contexts[level], [key]: value }
  }
  return [
    [/^a stable provider with retrievable context is registered$/, () => {}],
    [
      /^A context entry with key "(.*)" and value "(.*)" is added to the "(.*)" level$/,
      (key = '', value = '', level) => add(level as Level, key, value),
    ],
    [
      /^A table with levels of increasing precedence$/,
      () => {},
      (table) => {
        levels = table.map(([level]) => level as Level)
      },
    ],
    [
      /^Context entries for each level from API level down to the "(.*)" level, with key "(.*)" and value "(.*)"$/,
      (last, key = '') => {
        const used = levels.slice(0, levels.indexOf(last as Level) + 1)
        for (const level of used) add(level, key, level)
      },
    ],
    [
      /^Some flag was evaluated$/,
      async () => {
        merged = await evaluate(contexts)
      },
    ],
    [
      /^The merged context contains an entry with key "(.*)" and value "(.*)"$/,
      (key = '', value) => expect(merged).toMatchObject({ kind: 'user', [key]: value }),
    ],
  ]
}

describe('the scenarios of OpenFeature about contexts, server SDK', () => {
  const { OpenFeature } = serverSdk
  const client = createLocalClient({ url: 'http://127.0.0.1:1', sdkKey: 'ff_1', sources: [] })
  let received: unknown

  beforeAll(async () => {
    const detail: typeof client.detail = (key, context, fallback) => {
      received = context
      return client.detail(key, context, fallback)
    }
    const propagator = new serverSdk.AsyncLocalStorageTransactionContextPropagator()
    OpenFeature.setTransactionContextPropagator(propagator)
    await OpenFeature.setProviderAndWait(createServerProvider({ ...client, detail }))
  })

  afterEach(() => void OpenFeature.setContext({}))
  afterAll(() => OpenFeature.clearProviders())

  const evaluate: Evaluate = (contexts) =>
    new Promise((resolve) => {
      OpenFeature.setContext(contexts.API ?? {})
      const before = () => contexts['Before Hooks']
      const hook = { before } as serverSdk.Hook
      OpenFeature.setTransactionContext(contexts.Transaction ?? {}, async () => {
        const evaluator = OpenFeature.getClient().setContext(contexts.Client ?? {})
        await evaluator.getStringValue('theme', 'light', contexts.Invocation, { hooks: [hook] })
        resolve(received)
      })
    })

  for (const scenario of scenarios) it(scenario.title, () => run(scenario, stepsWith(evaluate)))
})

describe('the scenarios of OpenFeature about contexts, web SDK', () => {
  const { OpenFeature } = webSdk
  const client = createTestClient({ types: {} })
  let received: unknown

  beforeAll(async () => {
    const setContext: typeof client.setContext = (context) => {
      received = context
      return client.setContext(context)
    }
    await OpenFeature.setProviderAndWait(createWebProvider({ ...client, setContext }))
  })

  afterAll(() => OpenFeature.clearProviders())

  const evaluate: Evaluate = async ({ API: context = {} }) => {
    await OpenFeature.setContext(context)
    return received
  }

  for (const scenario of scenarios) {
    if (hasOnlyApi(scenario)) it(scenario.title, () => run(scenario, stepsWith(evaluate)))
  }
})

/** Returns `true` if all entries of a scenario have the level `API`, the only one of the web SDK. */
function hasOnlyApi({ steps }: Scenario): boolean {
  const levels = steps.map(({ text }) => / the "(.*)" level/.exec(text)?.[1])
  return levels.every((level) => level === undefined || level === 'API')
}
