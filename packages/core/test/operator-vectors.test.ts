import { readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { operators } from '../src/operators/operator.ts'
import { CHAIN_VECTORS, LONG_CHAIN_VECTORS } from './chain-vectors.ts'
import { NETWORK_VECTORS } from './network-vectors.ts'
import { ODD_VECTORS } from './odd-vectors.ts'
import { OPERATORS_WITH_VECTORS, operatorVectors, vectorText } from './operator-vectors.ts'

const GENERATED = {
  'operators.json': operatorVectors(),
  'operators-network.json': NETWORK_VECTORS,
  'odd-texts.json': ODD_VECTORS,
  'chains.json': CHAIN_VECTORS,
  'broken-chains.json': LONG_CHAIN_VECTORS,
}

describe.each(Object.entries(GENERATED))('The vector file %s', (name, file) => {
  it('The file equals the output of its generator (FF_WRITE_VECTORS=1 writes it)', () => {
    const url = new URL(`./vectors/${name}`, import.meta.url)
    const text = vectorText(file)
    if (process.env['FF_WRITE_VECTORS'] === '1') writeFileSync(url, text)
    expect(readFileSync(url, 'utf8')).toBe(text)
    expect(JSON.parse(text)).toEqual(file)
  })
})

describe('The operator vectors', () => {
  it('The vectors contain every operator except those on segments and flags, which have separate files', () => {
    const onAttributes = [...operators].filter(([, { subject }]) => {
      return subject === 'attribute' || subject === 'key'
    })
    expect([...OPERATORS_WITH_VECTORS].sort()).toEqual(onAttributes.map(([name]) => name).sort())
  })
})
