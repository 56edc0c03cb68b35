// A worker that evaluates flag sets in the process, for `worker-runtime.test.ts`.
import { createLocalClient } from '@ff/client/local'
import type { EvaluationContext, FlagSetDefinition } from '@ff/core'
import { defineFlags, text } from '@ff/core/flag-types'
import { re2 } from '@ff/core/regex'
import { schemes } from '@ff/core/schemes'

/** A flag set, and the contexts and times (epoch milliseconds) of its evaluations. */
interface EvaluationRequest {
  readonly flagSet: FlagSetDefinition
  readonly cases: readonly { readonly context: EvaluationContext; readonly now: number }[]
}

/** Evaluates all flags in all cases. The keys of flags are in lists, because a key can be `__proto__`. */
async function evaluate({ flagSet, cases }: EvaluationRequest) {
  let time = 0
  const errors: string[] = []
  const client = createLocalClient<Record<string, unknown>>({
    url: 'http://flags.invalid',
    sdkKey: 'none',
    flags: { types: {} },
    sources: [() => flagSet],
    extensions: { regex: re2, schemes },
    clock: {
      now: () => time,
      monotonicNow: () => performance.now(),
      schedule(delayMs, task) {
        const timer = setTimeout(task, delayMs)
        return () => clearTimeout(timer)
      },
    },
    onError: (error) => errors.push(String(error)),
  })
  await client.ready()
  const results = cases.map(({ context, now }) => {
    time = now
    const details = flagSet.flags.map(({ key }) => client.detail(key, context, null))
    return { values: Object.entries(client.snapshot(context).flags), details }
  })
  await client.close()
  return { results, errors }
}

interface FollowRequest {
  readonly url: string
  readonly sdkKey: string
  readonly transport: 'socket' | 'long-poll'
}

const flags = defineFlags({ banner: text('none') })
const user = { kind: 'user', key: 'user-1' }

/** Responds with a line for each value of `banner`, until the value is `end`. */
function follow(options: FollowRequest): ReadableStream<Uint8Array> {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const writer = writable.getWriter()
  const write = (line: unknown) =>
    writer.write(new TextEncoder().encode(`${JSON.stringify(line)}\n`))
  const onError = (error: unknown) => void write(String(error))
  const client = createLocalClient({ ...options, flags, onError })
  const writeValue = () => write([client.value('banner', user), client.status.connection])

  async function run(): Promise<void> {
    await write(await client.ready())
    while (client.status.connection !== options.transport) {
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    const ended = new Promise<void>((resolve) => {
      client.subscribe('banner', () => {
        void writeValue()
        if (client.value('banner', user) === 'end') resolve()
      })
    })
    await writeValue()
    await ended
    await client.close()
    await writer.close()
  }

  run().catch((error) => writer.abort(error))
  return readable
}

export default {
  async fetch(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url)
    if (pathname === '/follow') return new Response(follow((await request.json()) as FollowRequest))
    return Response.json(await evaluate((await request.json()) as EvaluationRequest))
  },
}
