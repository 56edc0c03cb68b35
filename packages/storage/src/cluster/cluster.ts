import nodeCluster, { type Worker } from 'node:cluster'
import { resolve } from 'node:path'
import type { Capabilities } from '../ports/capabilities.ts'
import type { BareLink } from './link.ts'
import { Primary } from './primary.ts'
import { workerCapabilities } from './worker-capabilities.ts'

/** The options of the primary and of its workers. */
export interface ClusterOptions {
  /** The data file, the same for the primary and its workers. */
  readonly path: string
}

/** What the primary serves to its workers. */
export interface ServedCluster {
  /** Closes the data file. Let the workers end first: what they ask afterwards is refused. */
  close(): Promise<void>
}

/**
 * In the primary of `node:cluster`, before the first `fork()`: owns the connection that writes to
 * the data file, sends the changes of all to every worker, and leases rate limits to them. What a
 * worker that dies leaves open is rolled back.
 *
 * @example
 * const served = serveCluster({ path: './data/flags.db' })
 * for (let n = 0; n < availableParallelism(); n += 1) cluster.fork()
 */
export function serveCluster({ path }: ClusterOptions): ServedCluster {
  const primary = new Primary(resolve(path))
  const serve = (worker: Worker): void => primary.serve(linkTo(worker))
  nodeCluster.on('fork', serve)
  return {
    close() {
      nodeCluster.off('fork', serve)
      return primary.close()
    },
  }
}

/**
 * In a worker of `node:cluster` whose primary has called `serveCluster` for the same file:
 * everything a server needs, shared with all the other workers. Reads are made in this process.
 *
 * @example
 * createFlagServer({ ...cluster({ path: './data/flags.db' }) })
 */
export function cluster({ path }: ClusterOptions): Required<Capabilities> {
  if (!nodeCluster.isWorker) throw new Error('cluster() is for the workers of node:cluster.')
  return workerCapabilities(resolve(path), linkToPrimary())
}

function linkTo(worker: Worker): BareLink {
  return {
    send: (message) => worker.send(message, ignoreGone),
    onMessage: (listener) => worker.on('message', listener),
    onEnd(listener) {
      worker.once('disconnect', listener)
      // All there is when it was killed while Node was handing it a connection.
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

/** Without a callback, sending to a process that has just ended would be an error event. */
function ignoreGone(): void {}
