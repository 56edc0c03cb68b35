import { bool, defineFlags, number, oneOf } from '@ff/core/flag-types'
import express, { type Request } from 'express'
import { type FastifyRequest, fastify } from 'fastify'
import { expectTypeOf } from 'vitest'
import { requestFlags as expressFlags } from '../src/express.ts'
import { requestFlags as fastifyFlags } from '../src/fastify.ts'
import type { FlagClientOf } from '../src/index.ts'
import { createLocalClient } from '../src/local.ts'

// Checked only by the compiler (`check:types`): code that must compile, and code that must not.

const flags = defineFlags({
  'new-checkout': bool(false),
  retries: number(3),
  theme: oneOf('light', 'dark'),
})

declare global {
  // biome-ignore lint/style/noNamespace: Express declares its request in this namespace
  namespace Express {
    interface Request {
      readonly flags: FlagClientOf<typeof flags>
    }
  }
}

declare module 'fastify' {
  interface FastifyRequest {
    readonly flags: FlagClientOf<typeof flags>
  }
}

const client = createLocalClient({ url: 'https://flags.test', sdkKey: 'ff_1', flags })
const ofExpress = (request: Request) => ({ kind: 'user', key: request.hostname })
const ofFastify = (request: FastifyRequest) => ({ kind: 'user', key: request.hostname })

express().use(expressFlags({ client, contextOf: ofExpress }))
await fastify().register(fastifyFlags({ client, contextOf: ofFastify }))

declare const request: Request | FastifyRequest
expectTypeOf(request.flags.value('new-checkout')).toEqualTypeOf<boolean>()
expectTypeOf(request.flags.value('theme', 'dark')).toEqualTypeOf<'light' | 'dark'>()

// @ts-expect-error: the flag is not defined.
request.flags.value('new-chekout')
// @ts-expect-error: the flag never has this value.
if (request.flags.value('theme') === 'red') throw new Error()
// @ts-expect-error: the fallback has another type.
request.flags.value('retries', '3')
const others = defineFlags({ other: bool(false) })
const otherClient = createLocalClient({ url: 'https://flags.test', sdkKey: 'ff_1', flags: others })
// @ts-expect-error: the requests have the flags of another client.
expressFlags({ client: otherClient, contextOf: ofExpress })
// @ts-expect-error: the context has no kind.
expressFlags({ client, contextOf: () => ({ key: 7, plan: 'pro' }) })
