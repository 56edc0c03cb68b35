import type { Fetch } from '@ff/client'
import { createFlagClient, createLocalClient } from '@ff/client/node'
import type { BaseHook, EvaluationContext, EvaluationDetails, FlagValue } from '@openfeature/core'
import { OFREPProvider } from '@openfeature/ofrep-provider'
import * as serverSdk from '@openfeature/server-sdk'
import * as webSdk from '@openfeature/web-sdk'
import { createFlagProvider as createServerProvider } from '../src/server.ts'
import { createFlagProvider as createWebProvider } from '../src/web.ts'
import type { TestServer } from './flag-server.ts'

/** The types of flags in the scenarios. */
export type TypeName = 'Boolean' | 'String' | 'Integer' | 'Float' | 'Object'

/** A request for a value. */
export interface Evaluation {
  readonly type: TypeName
  readonly key: string
  readonly defaultValue: FlagValue
  readonly context: EvaluationContext
  readonly hooks: readonly BaseHook[]
}

/** The options of the client of a provider. */
export interface ClientOptions {
  readonly sdkKey?: string
  readonly fetch?: Fetch
}

/** An SDK of OpenFeature with a provider of this package. */
export interface World {
  readonly name: 'web' | 'server' | 'OFREP'
  /**
   * Sets a provider. Resolves when OpenFeature has initialized it; rejects as OpenFeature does. A
   * closed provider is closed before it is set.
   */
  use(server: TestServer, options?: ClientOptions, isClosed?: boolean): Promise<void>
  readonly status: string
  evaluate(evaluation: Evaluation): Promise<EvaluationDetails<FlagValue>>
  /** Removes the provider and the contexts. */
  reset(): Promise<void>
}

interface Evaluator {
  getBooleanDetails: Getter
  getStringDetails: Getter
  getNumberDetails: Getter
  getObjectDetails: Getter
}
type Getter = (
  ...parameters: readonly never[]
) => EvaluationDetails<FlagValue> | Promise<EvaluationDetails<FlagValue>>

const GETTERS = {
  Boolean: 'getBooleanDetails',
  String: 'getStringDetails',
  Integer: 'getNumberDetails',
  Float: 'getNumberDetails',
  Object: 'getObjectDetails',
} as const satisfies Record<TypeName, keyof Evaluator>

/** The web SDK. Its context belongs to the API, and not to an evaluation. */
export const webWorld: World = {
  name: 'web',
  async use({ url, clientKey }, options, isClosed) {
    const client = createFlagClient({ url, sdkKey: clientKey, ...options, onError: () => {} })
    const provider = createWebProvider(client)
    if (isClosed) await provider.onClose?.()
    await webSdk.OpenFeature.setProviderAndWait(provider)
  },
  get status() {
    return webSdk.OpenFeature.getClient().providerStatus
  },
  async evaluate({ type, key, defaultValue, context, hooks }) {
    if (Object.keys(context).length > 0) await webSdk.OpenFeature.setContext(context)
    const client = webSdk.OpenFeature.getClient() as unknown as Evaluator
    return client[GETTERS[type]](...([key, defaultValue, { hooks }] as unknown as never[]))
  },
  async reset() {
    await webSdk.OpenFeature.clearProviders()
    await webSdk.OpenFeature.clearContexts()
  },
}

/** The server SDK. */
export const serverWorld: World = {
  name: 'server',
  async use({ url, serverKey }, options, isClosed) {
    const client = createLocalClient({ url, sdkKey: serverKey, ...options, onError: () => {} })
    const provider = createServerProvider(client)
    if (isClosed) await provider.onClose?.()
    await serverSdk.OpenFeature.setProviderAndWait(provider)
  },
  get status() {
    return serverSdk.OpenFeature.getClient().providerStatus
  },
  async evaluate({ type, key, defaultValue, context, hooks }) {
    const client = serverSdk.OpenFeature.getClient() as unknown as Evaluator
    return client[GETTERS[type]](...([key, defaultValue, context, { hooks }] as unknown as never[]))
  },
  async reset() {
    await serverSdk.OpenFeature.clearProviders()
  },
}

/** The server SDK with OpenFeature's own provider for the remote evaluation protocol. */
export const ofrepWorld: World = {
  ...serverWorld,
  name: 'OFREP',
  async use({ url, serverKey }) {
    const headers: [string, string][] = [['X-API-Key', serverKey]]
    await serverSdk.OpenFeature.setProviderAndWait(new OFREPProvider({ baseUrl: url, headers }))
  },
  get status() {
    return serverWorld.status
  },
}
