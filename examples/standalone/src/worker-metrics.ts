import type { FlagServer } from '@ff/server'

type Handling = Pick<FlagServer, 'basePath' | 'handle'>

/** Returns a server that adds the label `worker` to its metrics. */
export function withWorkerLabel(flags: Handling, worker: number): Handling {
  return {
    basePath: flags.basePath,
    handle(exchange) {
      const outcome = flags.handle(exchange)
      return exchange.path === '/metrics' ? withLabel(outcome, `worker="${worker}"`) : outcome
    },
  }
}

async function withLabel(handled: ReturnType<Handling['handle']>, label: string) {
  const reply = await handled
  if (reply.status !== 200 || typeof reply.body !== 'string') return reply
  return { ...reply, body: labelled(reply.body, label) }
}

/** Adds a label to each series in the Prometheus text format. */
export function labelled(text: string, label: string): string {
  return text.replace(/^(\w+)\{/gm, `$1{${label},`).replace(/^(\w+) /gm, `$1{${label}} `)
}
