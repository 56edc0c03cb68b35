import { readdirSync, readFileSync } from 'node:fs'
import {
  type EvaluationContext,
  type EvaluationDetail,
  type Extensions,
  type FlagSetDefinition,
  type FlagValues,
  parseTimestamp,
} from '../src/index.ts'
import { re2 } from '../src/regex.ts'
import { schemes } from '../src/schemes.ts'

/** A file in `vectors/`, as `docs/vectors.md` describes it. */
export interface VectorFile {
  readonly description: string
  readonly flagSet: FlagSetDefinition
  readonly now?: string
  readonly cases: readonly VectorCase[]
}

/** A context with the expected results. */
export interface VectorCase {
  readonly name: string
  readonly context: EvaluationContext
  readonly now?: string
  readonly expect?: FlagValues
  readonly details?: Readonly<Record<string, Partial<EvaluationDetail>>>
}

/** The extensions that the flag sets of the vectors are compiled with. */
export const EXTENSIONS: Extensions = { regex: re2, schemes }

const FOLDER = new URL('./vectors/', import.meta.url)
const USUAL_NOW = '2026-01-01T00:00:00.000Z'

/** Loads all vector files, with their names. */
export function loadVectorFiles(): readonly (readonly [name: string, file: VectorFile])[] {
  const names = readdirSync(FOLDER).filter((name) => name.endsWith('.json'))
  return names.map((name) => {
    return [name, JSON.parse(readFileSync(new URL(name, FOLDER), 'utf8')) as VectorFile]
  })
}

/** Returns the time of a case in epoch milliseconds. */
export function nowOf(file: VectorFile, vector: VectorCase): number {
  const text = vector.now ?? file.now ?? USUAL_NOW
  const now = parseTimestamp(text)
  if (now === undefined) throw new TypeError(`"${text}" is not a timestamp`)
  return now
}
