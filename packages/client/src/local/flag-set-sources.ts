import { isObject } from '@ff/protocol/snapshot'
import type { Alarms } from '../connection/alarms.ts'
import { isVersion } from '../json/json.ts'
import type { WholeDefinition } from './held-flag-set.ts'

/**
 * A source of flag sets: `server`, or a function that returns a flag set or a promise of it. The
 * flag set must not be modified afterwards. If it has a `root`, the root is checked.
 */
export type FlagSetSource = 'server' | (() => unknown)

/** The parts that are needed to read sources. */
export interface SourceReaderOptions {
  readonly sources: readonly FlagSetSource[]
  readonly alarms: Alarms
  readonly random: () => number
  /** Returns `true` if no source has to be called. */
  readonly isCurrent: () => boolean
  readonly isClosed: () => boolean
  /** Receives each flag set. */
  readonly offer: (definition: WholeDefinition) => void
  readonly report: (error: unknown) => void
}

/** The name of the alarm that calls the sources again. */
export const SOURCES = 'sources'
const INTERVAL_MS = 30_000

/**
 * Calls all sources one after another, and again every 30 to 60 seconds while the flag set is not
 * current. Resolves after the first calls. Never rejects.
 */
export async function readSources(options: SourceReaderOptions): Promise<void> {
  const { sources, alarms, random, isCurrent, isClosed, offer, report } = options
  const functions = sources.filter((source) => typeof source === 'function')
  for (const source of functions) {
    if (isClosed()) return
    if (isCurrent()) continue
    try {
      const definition: unknown = await source()
      if (isClosed()) return
      if (isDefinition(definition)) offer(definition)
      else report(new TypeError('A source must return `version`, `flags` and `segments`'))
    } catch (error) {
      report(error)
    }
  }
  if (functions.length === 0 || isClosed()) return
  alarms.set(SOURCES, INTERVAL_MS * (1 + random()), () => void readSources(options))
}

function isDefinition(definition: unknown): definition is WholeDefinition {
  if (!isObject(definition)) return false
  const { version, flags, segments } = definition
  return isVersion(version) && Array.isArray(flags) && Array.isArray(segments)
}
