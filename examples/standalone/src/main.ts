import cluster from 'node:cluster'
import { type Command, readCommand } from './command-line.ts'
import { unknownVariables } from './config/unknown-variables.ts'
import { type Config, readConfig } from './config.ts'
import { assertSharedKey } from './data-folder/secret-key.ts'
import { describeFailure } from './failure.ts'
import type { Standalone } from './serve.ts'
import { startPrimary } from './standalone-cluster.ts'

/** The maximum duration of a shutdown in milliseconds. Then the process exits with code 1. */
const SHUTDOWN_LIMIT_MS = 9_000

// Without a listener, Node would print a stack if standard output is closed.
process.stdout.on('error', (error) => fail(error))

try {
  const command = readCommand(process.argv.slice(2))
  // Also before an error in a variable, because a misspelled name can be its cause.
  if (cluster.isPrimary) for (const line of unknownVariables(process.env)) console.error(line)
  await run(command, readConfig(process.env))
} catch (error) {
  fail(error)
}

async function run(command: Command, config: Config): Promise<void> {
  switch (command.name) {
    case 'serve':
      return stopOnSignals(await start(config))
    case 'verify':
      return verify(config)
    case 'backup':
      return report(async ({ backUp }) => backUp(config, command.path))
    case 'restore':
      return report(async ({ restore }) => restore(config, command.path))
    case 'copy':
      return report(async ({ copy }) => copy(config))
  }
}

/**
 * Starts this process as the only one, as the primary of several, or as a worker. Each loads the
 * modules that it needs, so that the primary can start the workers at once.
 */
async function start(config: Config): Promise<Standalone> {
  assertSharedKey(config)
  if (cluster.isWorker) return (await import('./worker.ts')).startWorker(config)
  if (config.workers > 1) return startPrimary(config, print)
  return (await import('./standalone.ts')).startStandalone(config, print)
}

/** Writes lines to standard output. Rejects if that fails, such as for a closed pipe. */
function print(lines: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(`${lines.join('\n')}\n`, (error) => (error ? reject(error) : resolve()))
  })
}

/** Prints the result of a command whose errors name the file or the database. */
async function report(
  transfer: (commands: typeof import('./transfer.ts')) => Promise<readonly string[]>,
): Promise<void> {
  try {
    await print(await transfer(await import('./transfer.ts')))
  } catch (error) {
    fail(error, '')
  }
}

/** Prints the damage in a store and sets the exit code: 1 if there is any. */
async function verify(config: Config): Promise<void> {
  const [{ findDamage }, { placeOf }] = await Promise.all([
    import('./verify.ts'),
    import('./store.ts'),
  ])
  const found = await findDamage(config)
  for (const sentence of found) console.error(sentence)
  if (found.length === 0) console.log(`No damage was found in ${placeOf(config)}.`)
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
function fail(error: unknown, advice = storeAdvice()): never {
  process.stderr.write(`ff cannot run: ${describeFailure(error, advice)}\n`)
  process.exit(1)
}

/** Returns what an operator can do about an error of the store. */
function storeAdvice(): string {
  const isDatabase = (process.env['DATABASE_URL'] ?? '').trim() !== ''
  return isDatabase
    ? 'Check DATABASE_URL and the database.'
    : 'Check FF_DATA_DIR, or restore a backup.'
}
