import { beforeAll, describe, expect, it, vi } from 'vitest'
import { detailsOf, jsonOf } from '../src/all-flags.ts'
import { evaluateTogether } from '../src/batch/evaluate-all.ts'
import { contextHash } from '../src/fingerprint.ts'
import { compileFlagSet, parseContext } from '../src/index.ts'
import { deepFreeze } from './deep-freeze.ts'
import {
  EXTENSIONS,
  loadVectorFiles,
  nowOf,
  type VectorCase,
  type VectorFile,
} from './vector-files.ts'

function forbidden(name: string) {
  return () => {
    throw new Error(`the engine must not use ${name}`)
  }
}

/** Returns all results of a case, including the compilation, as text. */
function answer(file: VectorFile, vector: VectorCase): string {
  const context = parseContext(vector.context)
  const flagSet = compileFlagSet(file.flagSet, { extensions: EXTENSIONS })
  const evaluation = evaluateTogether(flagSet, context, nowOf(file, vector))
  return JSON.stringify([contextHash(context), jsonOf(evaluation), detailsOf(evaluation)])
}

const cases = loadVectorFiles().flatMap(([, file]) => {
  return file.cases.map((vector) => [file, vector] as const)
})

describe('The purity of the engine', () => {
  const expected = cases.map(([file, vector]) => answer(file, vector))
  const answers: string[] = []

  beforeAll(() => {
    for (const [file, vector] of cases) deepFreeze([file, vector])
    vi.stubGlobal(
      'Date',
      new Proxy(Date, {
        get: forbidden('Date'),
        apply: forbidden('Date'),
        construct: forbidden('Date'),
      }),
    )
    vi.stubGlobal('console', new Proxy(console, { get: forbidden('the console') }))
    vi.spyOn(Math, 'random').mockImplementation(forbidden('Math.random'))
    try {
      expect(() => Date.now()).toThrow('must not use Date')
      for (const [file, vector] of cases) answers.push(answer(file, vector))
    } finally {
      vi.unstubAllGlobals()
      vi.restoreAllMocks()
    }
  })

  it('Every vector has the same result on frozen input, without clock, randomness or console', () => {
    expect(cases.length).toBeGreaterThan(100)
    expect(answers).toEqual(expected)
  })
})
