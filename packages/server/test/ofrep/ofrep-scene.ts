import { createFlagServer, type FlagServer } from '../../src/flag-server.ts'
import { type Call, call } from '../call.ts'
import { allInMemory } from '../capabilities.ts'
import { FakeClock } from '../fake-clock.ts'
import { type SeededEnvironment, seed } from '../seed.ts'

/** A server with an environment and an SDK key of kind `client`. */
export interface OfrepScene {
  readonly parts: ReturnType<typeof newParts>
  readonly flags: FlagServer
  readonly live: SeededEnvironment
  /** Sends a request for all flags, or for one flag. */
  evaluate(context: unknown, request?: OfrepCall): ReturnType<typeof call>
}

interface OfrepCall extends Call {
  /** The key of one flag. */
  readonly flag?: string
  readonly query?: string
}

const newParts = () => ({ ...allInMemory(), clock: new FakeClock() })

/** Creates the scene. Close its server at the end. */
export async function ofrepScene(options: { readonly ofrep?: boolean } = {}): Promise<OfrepScene> {
  const parts = newParts()
  const { live } = await seed(parts.storage)
  const flags = createFlagServer({
    ...parts,
    ...options,
    basePath: '/flags',
    metricsArePublic: true,
  })
  return {
    parts,
    flags,
    live,
    evaluate(context, { flag, query = '', ...request } = {}) {
      const path = `/flags/ofrep/v1/evaluate/flags${flag === undefined ? '' : `/${flag}`}${query}`
      return call(flags, path, { key: live.sdkKey, body: { context }, ...request })
    },
  }
}
