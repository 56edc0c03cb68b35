import type { TestProject } from 'vitest/node'
import { startForTests } from '../../../scripts/test-programs.ts'
import { RedisProcess } from './redis-process.ts'

/** The key of the shared server in the global object. */
const SHARED: unique symbol = Symbol.for('ff.test-redis')

/** The server that the projects of this process share, each of which loads this file. */
interface SharedServer {
  readonly starting: Promise<RedisProcess | undefined>
  projects: number
}

const shared = globalThis as { [SHARED]?: SharedServer }

/**
 * Starts a Redis server for all projects of the test run, if `redis-server` is installed. If
 * `FF_TEST_REDIS_URL` has the URL of a server, the tests use it where they need only one. Returns
 * the function that ends the use of the server.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  shared[SHARED] ??= { starting: startServer(), projects: 0 }
  const running = shared[SHARED]
  running.projects += 1
  const server = await running.starting
  const url = process.env['FF_TEST_REDIS_URL'] ?? server?.url
  project.provide('redisUrl', url ?? '')
  project.provide('hasRedisServer', server !== undefined)
  return async () => {
    running.projects -= 1
    if (running.projects > 0) return
    delete shared[SHARED]
    await server?.stop()
  }
}

function startServer(): Promise<RedisProcess | undefined> {
  return startForTests({ name: 'redis-server', start: () => RedisProcess.start() })
}
