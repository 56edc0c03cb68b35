import { describe, expect, it } from 'vitest'
import { detailsOf, jsonOf, valuesOf } from '../src/all-flags.ts'
import { evaluateTogether } from '../src/batch/evaluate-all.ts'
import { compileFlagSet, evaluateFlag, parseContext } from '../src/index.ts'
import { EXTENSIONS, loadVectorFiles, nowOf } from './vector-files.ts'

describe.each(loadVectorFiles())('%s', (_, file) => {
  const flagSet = compileFlagSet(file.flagSet, { extensions: EXTENSIONS })

  it.each(file.cases.map((vector) => [vector.name, vector] as const))('%s', (_name, vector) => {
    const now = nowOf(file, vector)
    const context = parseContext(vector.context)
    const evaluation = evaluateTogether(flagSet, context, now)
    const values = valuesOf(evaluation)
    expect(vector.expect ?? vector.details).toBeDefined()
    if (vector.expect !== undefined) {
      // Compared as text, because a key can be `__proto__`.
      expect(sortedText(values)).toBe(sortedText(vector.expect))
      expect(sortedText(JSON.parse(jsonOf(evaluation)))).toBe(sortedText(vector.expect))
    }
    const details = new Map(detailsOf(evaluation).map((detail) => [detail.flagKey, detail]))
    for (const [flagKey, expected] of Object.entries(vector.details ?? {})) {
      expect(details.get(flagKey)).toMatchObject(expected)
      expect(evaluateFlag(flagSet, flagKey, context, now)).toEqual(details.get(flagKey))
    }
  })
})

function sortedText(values: object): string {
  const entries = Object.entries(values).sort(([left], [right]) => (left < right ? -1 : 1))
  return JSON.stringify(entries, null, 1)
}
