import cluster from 'node:cluster'
import { type Command, readCommand } from './command-line.ts'
import { ConfigError } from './config/config-error.ts'
import { describeTlsModes } from './config/database-config.ts'
import { unknownVariables } from './config/unknown-variables.ts'
import { type Config, readConfig } from './config.ts'
import { assertSharedKey } from './data-folder/secret-key.ts'
import { describeFailure } from './failure.ts'
import type { Standalone } from './serve.ts'
import { startPrimary } from './standalone-cluster.ts'
import { isOwnWorker } from './workers.ts'

/** The maximum duration of a shutdown in milliseconds. Then the process exits in any case. */
const SHUTDOWN_LIMIT_MS = 9_000

/**
 * Runs the command in the parameters of the process. `stopRequested` resolves when a signal requests
 * the end of the program.
 */
export async function runProgram(stopRequested: Promise<void>): Promise<void> {
  // Without a listener, Node would print a stack if standard output is closed.
  process.stdout.on('error', (error) => fail(error))
  try {
    const command = readCommand(process.argv.slice(2))
    // Also before an error in a variable, because a misspelled name can be its cause.
    if (cluster.isPrimary) for (const line of notesOn(process.env)) console.error(line)
    const config = readConfig(process.env)
    if (command.name === 'serve') return await serveUntil(stopRequested, config)
    void stopRequested.then(() => process.exit(1))
    await run(command, config)
  } catch (error) {
    fail(error)
  }
}

/** Returns the lines about variables that are not errors. */
function notesOn(env: NodeJS.ProcessEnv): readonly string[] {
  return [...unknownVariables(env), ...describeTlsModes(env)]
}

async function run(command: Exclude<Command, { name: 'serve' }>, config: Config): Promise<void> {
  switch (command.name) {
    case 'verify':
      return verify(config)
    case 'backup':
      return report(async ({ backUp }) => backUp(config, command.path))
    case 'restore':
      return report(async ({ restore }) => restore(config, command.path))
    case 'copy':
      return report(async ({ copy }) => copy(config))
    case 'activate':
      return print(await (await import('./activate.ts')).activate(config, command))
  }
}

/**
 * Serves until a stop is requested, and exits: with code 0, or with code 1 if the requests have not
 * ended in time. A stop during the start takes effect when the start has ended, also if it fails.
 */
async function serveUntil(stopRequested: Promise<void>, config: Config): Promise<never> {
  let isStopping = false
  let isServing = false
  const stopping = stopRequested.then(() => {
    isStopping = true
    setTimeout(() => process.exit(isServing ? 1 : 0), SHUTDOWN_LIMIT_MS).unref()
  })
  try {
    const standalone = await start(config)
    isServing = true
    await stopping
    await standalone.close()
  } catch (error) {
    if (isServing || !isStopping) throw error
  }
  process.exit(0)
}

/**
 * Starts this process as the only one, as the primary of several, or as a worker. Each loads the
 * modules that it needs, so that the primary can start the workers at once.
 */
async function start(config: Config): Promise<Standalone> {
  if (cluster.isWorker && !isOwnWorker()) throw new ConfigError(FOREIGN_CLUSTER)
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

const FOREIGN_CLUSTER =
  'Another program, such as PM2 in cluster mode, has started it as a worker of its cluster. Start it as one process (pm2 start dist/main.js --exec-mode fork --instances 1), and set FF_WORKERS for more processes.'

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
