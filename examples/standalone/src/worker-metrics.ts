import type { FlagServer } from '@ff/server'

type Handling = Pick<FlagServer, 'basePath' | 'handle'>

/** The same server, but every series of its metrics says which of several workers it is about. */
export function withWorkerLabel(flags: Handling, worker: number): Handling {
  return {
    basePath: flags.basePath,
    handle(exchange) {
      const outcome = flags.handle(exchange)
      return exchange.path === '/metrics' ? withLabel(outcome, `worker="${worker}"`) : outcome
    },
  }
}

async function withLabel(asked: ReturnType<Handling['handle']>, label: string) {
  const reply = await asked
  if (reply.status !== 200 || typeof reply.body !== 'string') return reply
  return { ...reply, body: labelled(reply.body, label) }
}

/** Prometheus' text format: `name value` or `name{label="…"} value`, and comments. */
export function labelled(text: string, label: string): string {
  return text.replace(/^(\w+)\{/gm, `$1{${label},`).replace(/^(\w+) /gm, `$1{${label}} `)
}
