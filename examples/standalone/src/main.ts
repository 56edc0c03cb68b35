import { ConfigError, readConfig } from './config.ts'
import { type Standalone, startStandalone } from './standalone.ts'
import { findDamage } from './verify.ts'

/** The longest a shutdown may take before the process ends anyway. */
const SHUTDOWN_LIMIT_MS = 9_000

try {
  const config = readConfig(process.env)
  if (process.argv[2] === 'verify') await verify(config.dataDir)
  else stopOnSignals(await startStandalone(config, (line) => console.log(line)))
} catch (error) {
  fail(error)
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
