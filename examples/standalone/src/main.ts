import { ConfigError, readConfig } from './config.ts'
import { type Standalone, startStandalone } from './standalone.ts'

/** The longest a shutdown may take before the process ends anyway. */
const SHUTDOWN_LIMIT_MS = 9_000

try {
  stopOnSignals(await startStandalone(readConfig(process.env), (line) => console.log(line)))
} catch (error) {
  fail(error)
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
