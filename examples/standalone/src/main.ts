import cluster from 'node:cluster'
import { type Config, ConfigError, readCommand, readConfig } from './config.ts'
import type { Standalone } from './serve.ts'
import { startStandalone } from './standalone.ts'
import { startPrimary, startWorker } from './standalone-cluster.ts'
import { findDamage } from './verify.ts'

/** The maximum duration of a shutdown in milliseconds. Then the process exits with code 1. */
const SHUTDOWN_LIMIT_MS = 9_000

try {
  const command = readCommand(process.argv.slice(2))
  const config = readConfig(process.env)
  if (command === 'verify') await verify(config.dataDir)
  else stopOnSignals(await start(config))
} catch (error) {
  fail(error)
}

/** Starts this process as the only one, as the primary of several, or as a worker. */
function start(config: Config): Promise<Standalone> {
  const print = (line: string) => console.log(line)
  if (cluster.isWorker) return startWorker(config)
  return config.workers > 1 ? startPrimary(config, print) : startStandalone(config, print)
}

/** Prints the damage in a data directory and sets the exit code: 1 if there is any. */
async function verify(dataDir: string): Promise<void> {
  const found = await findDamage(dataDir)
  for (const sentence of found) console.error(sentence)
  if (found.length === 0) console.log(`No damage was found in ${dataDir}.`)
  process.exitCode = found.length === 0 ? 0 : 1
}

function stopOnSignals(standalone: Standalone): void {
  let stopping = false
  const stop = (): void => {
    if (stopping) return
    stopping = true
    setTimeout(() => process.exit(1), SHUTDOWN_LIMIT_MS).unref()
    standalone.close().then(() => process.exit(0), fail)
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
}

/** Prints the message of an expected error, or the stack of another one, and exits with code 1. */
function fail(error: unknown): never {
  const isExpected = error instanceof ConfigError || (error instanceof Error && 'code' in error)
  const text = isExpected ? error.message : error instanceof Error ? error.stack : error
  process.stderr.write(`ff cannot run: ${text}\n`)
  process.exit(1)
}
