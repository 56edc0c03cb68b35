import cluster from 'node:cluster'
import { isFlagError } from '@ff/core'
import { type Config, ConfigError, readCommand, readConfig } from './config.ts'
import type { Standalone } from './serve.ts'
import { startStandalone } from './standalone.ts'
import { startPrimary, startWorker } from './standalone-cluster.ts'
import { unknownVariables } from './unknown-variables.ts'
import { findDamage } from './verify.ts'

const STORE_ADVICE = 'Check FF_DATA_DIR, or restore a backup.'

/** The maximum duration of a shutdown in milliseconds. Then the process exits with code 1. */
const SHUTDOWN_LIMIT_MS = 9_000

// Without a listener, Node would print a stack if standard output is closed.
process.stdout.on('error', (error) => fail(error))

try {
  const command = readCommand(process.argv.slice(2))
  // Also before an error in a variable, because a misspelled name can be its cause.
  if (cluster.isPrimary) for (const line of unknownVariables(process.env)) console.error(line)
  const config = readConfig(process.env)
  if (command === 'verify') await verify(config.dataDir)
  else stopOnSignals(await start(config))
} catch (error) {
  fail(error)
}

/** Starts this process as the only one, as the primary of several, or as a worker. */
function start(config: Config): Promise<Standalone> {
  if (cluster.isWorker) return startWorker(config)
  return config.workers > 1 ? startPrimary(config, print) : startStandalone(config, print)
}

/** Writes lines to standard output. Rejects if that fails, such as for a closed pipe. */
function print(lines: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(`${lines.join('\n')}\n`, (error) => (error ? reject(error) : resolve()))
  })
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

/** Prints why the server cannot run, and exits with code 1. */
function fail(error: unknown): never {
  process.stderr.write(`ff cannot run: ${describe(error)}\n`)
  process.exit(1)
}

/** Returns one line for an expected error, and the stack of another one. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const isExpected = error instanceof ConfigError || 'code' in error
  if (!isExpected) return error.stack ?? error.message
  const { message, cause } = error
  const text = cause instanceof Error ? `${message.replace(/\.$/, '')}: ${cause.message}.` : message
  const advice = isFlagError(error) && error.code === 'UNAVAILABLE' ? ` ${STORE_ADVICE}` : ''
  return `${text}${advice}`.replace(/\s+/g, ' ')
}
