import type { Config } from './config.ts'
import { type Standalone, serve } from './serve.ts'
import { openWorkerStore } from './store.ts'
import { begun } from './workers.ts'

/** Starts a worker process, which serves requests with the shared state. */
export async function startWorker(config: Config): Promise<Standalone> {
  await begun()
  return serve({ ...config, administrator: undefined }, openWorkerStore(config))
}
