import { resolve } from 'node:path'
import { Worker } from 'node:worker_threads'
import { WorkerChannel } from './worker-channel.ts'

const IN_MEMORY = ':memory:'

interface DataFileOptions {
  /** `true` if another process has created the file and writes to it. Default: `false`. */
  readonly readsOnly?: boolean
}

/** Opens a data file, or a database in memory for `:memory:`, in a separate worker thread. */
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

/**
 * Starts the worker thread. The URL must be in this file, because the worker is in the same folder,
 * both in the source and in the build.
 */
function startWorker(path: string, readsOnly: boolean): Worker {
  return new Worker(new URL('./sqlite-worker.js', import.meta.url), {
    workerData: { path, readsOnly },
    // Node's warning about `node:sqlite` does not help an operator. Deno refuses the flag.
    ...(process.versions['deno'] === undefined && {
      execArgv: ['--disable-warning=ExperimentalWarning'],
    }),
  })
}
