import type { FlagServer } from '@ff/server'

type Handling = Pick<FlagServer, 'basePath' | 'handle'>

/** The same server, but every series of its metrics says which of several workers it is about. */
export function withWorkerLabel(flags: Handling, worker: number): Handling {
  return {
    basePath: flags.basePath,
    async handle(exchange) {
      const reply = await flags.handle(exchange)
      const isMetrics = exchange.path === '/metrics' && reply.status === 200
      if (!isMetrics || typeof reply.body !== 'string') return reply
      return { ...reply, body: labelled(reply.body, `worker="${worker}"`) }
    },
  }
}

/** Prometheus' text format: `name value` or `name{label="…"} value`, and comments. */
export function labelled(text: string, label: string): string {
  return text.replace(/^(\w+)\{/gm, `$1{${label},`).replace(/^(\w+) /gm, `$1{${label}} `)
}
