import { resolve } from 'node:path'
import { Worker } from 'node:worker_threads'
import { WorkerChannel } from './worker-channel.ts'

const IN_MEMORY = ':memory:'

interface DataFileOptions {
  /** Whether another process has made the file, and is the one that writes. */
  readonly readsOnly?: boolean
}

/** The connections to a data file, or to `:memory:`, which live in a thread of their own. */
export function openDataFile(
  path: string,
  { readsOnly = false }: DataFileOptions = {},
): WorkerChannel {
  const place = path === IN_MEMORY ? IN_MEMORY : resolve(path)
  return new WorkerChannel({
    path: place,
    hasReader: place !== IN_MEMORY,
    start: () => startWorker(place, readsOnly),
  })
}

/** The URL must stand here: the worker lies beside this file, in the source and in the build. */
function startWorker(path: string, readsOnly: boolean): Worker {
  return new Worker(new URL('./sqlite-worker.js', import.meta.url), {
    workerData: { path, readsOnly },
    // The warning of Node about its own driver does not help an operator.
    execArgv: ['--disable-warning=ExperimentalWarning'],
  })
}
