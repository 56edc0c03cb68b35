import { readFileSync } from 'node:fs'
import { evaluateAll, valuesOf } from '../src/all-flags.ts'
import { compileFlagSet, evaluateValue } from '../src/index.ts'
import { re2 } from '../src/regex.ts'
import { startClock } from './clock.ts'
import type { StartFile, StartTimes } from './start-times.ts'

/*
 * Measures the start of a process that reads a flag set from a file and evaluates one flag (`one`) or all
 * flags (`all`) for one context. Imports nothing but the engine, because imports take time.
 */

const [what = '', file = ''] = process.argv.slice(2)
const { definition, context, now }: StartFile = JSON.parse(readFileSync(file, 'utf8'))
const elapsed = startClock()
const flagSet = compileFlagSet(definition, { extensions: { regex: re2 } })
const answer =
  what === 'one'
    ? evaluateValue(flagSet, definition.flags[500]?.key ?? '', context, now)
    : valuesOf(evaluateAll(flagSet, context, now))
const afterParsing = elapsed() / 1e6
const total = performance.now()
const collect: unknown = Reflect.get(globalThis, 'gc')
if (typeof collect === 'function') collect()
const heap = process.memoryUsage().heapUsed
const times: StartTimes = { total, afterParsing, heap }
process.stdout.write(JSON.stringify({ ...times, flags: flagSet.flags.size, answer: typeof answer }))
