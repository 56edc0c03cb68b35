import cluster from 'node:cluster'
import { type Config, ConfigError, readCommand, readConfig } from './config.ts'
import type { Standalone } from './serve.ts'
import { startStandalone } from './standalone.ts'
import { startPrimary, startWorker } from './standalone-cluster.ts'
import { findDamage } from './verify.ts'

/** The longest a shutdown may take before the process ends anyway. */
const SHUTDOWN_LIMIT_MS = 9_000

try {
  const command = readCommand(process.argv.slice(2))
  const config = readConfig(process.env)
  if (command === 'verify') await verify(config.dataDir)
  else stopOnSignals(await start(config))
} catch (error) {
  fail(error)
}

/** This process is the only one, or the first of several, or one of those that it started. */
function start(config: Config): Promise<Standalone> {
  const print = (line: string) => console.log(line)
  if (cluster.isWorker) return startWorker(config)
  return config.workers > 1 ? startPrimary(config, print) : startStandalone(config, print)
}

/** Says what is damaged in a data directory; exits with 1 when something is. */
async function verify(dataDir: string): Promise<void> {
  const found = await findDamage(dataDir)
  for (const sentence of found) console.error(sentence)
  if (found.length === 0) console.log(`Everything in ${dataDir} is whole.`)
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

/** A wrong setting or a taken port is a sentence; anything else is worth its stack. */
function fail(error: unknown): never {
  const isKnown = error instanceof ConfigError || (error instanceof Error && 'code' in error)
  const text = isKnown ? error.message : error instanceof Error ? error.stack : error
  process.stderr.write(`ff cannot run: ${text}\n`)
  process.exit(1)
}
