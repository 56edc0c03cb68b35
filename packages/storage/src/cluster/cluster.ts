import nodeCluster, { type Worker } from 'node:cluster'
import { resolve } from 'node:path'
import type { Ports } from '../ports/capabilities.ts'
import type { BareLink } from './link.ts'
import { Primary } from './primary.ts'
import { workerCapabilities } from './worker-capabilities.ts'

/** The options of the primary and of its workers. */
export interface ClusterOptions {
  /** The data file, the same for the primary and its workers. */
  readonly path: string
}

/** The service that `serveCluster` starts. */
export interface ServedCluster {
  /** Closes the data file. Requests of workers fail afterwards, so the workers must end first. */
  close(): Promise<void>
}

/**
 * Serves the workers of `node:cluster`, those that run and those that are forked later. Must be
 * called in the primary before a worker calls `cluster`. The primary owns the connection that writes to the data file, sends all changes to every worker,
 * and runs the shared rate limiter. It rolls back the open transaction of a worker that ends.
 *
 * @example
 * const served = serveCluster({ path: './data/flags.db' })
 * for (let n = 0; n < availableParallelism(); n += 1) cluster.fork()
 */
export function serveCluster({ path }: ClusterOptions): ServedCluster {
  const primary = new Primary(resolve(path))
  const serve = (worker: Worker): void => primary.serve(linkTo(worker))
  for (const worker of Object.values(nodeCluster.workers ?? {})) if (worker) serve(worker)
  nodeCluster.on('fork', serve)
  return {
    close() {
      nodeCluster.off('fork', serve)
      return primary.close()
    },
  }
}

/**
 * Creates all ports that a server needs, shared with the other workers. Must be called in a worker
 * of `node:cluster`, after the primary has called `serveCluster` for the same file. The worker
 * reads with its own connection. Throws an `Error` outside a worker.
 *
 * @example
 * createFlagServer({ ...cluster({ path: './data/flags.db' }) })
 */
export function cluster({ path }: ClusterOptions): Ports {
  if (!nodeCluster.isWorker) throw new Error('cluster() must be called in workers of node:cluster.')
  return workerCapabilities(resolve(path), linkToPrimary())
}

function linkTo(worker: Worker): BareLink {
  return {
    send: (message) => worker.send(message, ignoreGone),
    onMessage: (listener) => worker.on('message', listener),
    onEnd(listener) {
      worker.once('disconnect', listener)
      // If the worker is killed while Node sends it a connection, Node emits only this event.
      worker.once('exit', listener)
    },
  }
}

function linkToPrimary(): BareLink {
  return {
    send: (message) => process.send?.(message, undefined, undefined, ignoreGone),
    onMessage: (listener) => process.on('message', listener),
    onEnd: (listener) => process.once('disconnect', listener),
  }
}

/** Ignores an error of `send`. Without a callback, `send` would emit an `error` event. */
function ignoreGone(): void {}
