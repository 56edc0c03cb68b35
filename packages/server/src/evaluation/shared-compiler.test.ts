import { expect, it } from 'vitest'
import { SharedCompiler } from './shared-compiler.ts'

const MEGABYTE = 1024 * 1024
const condition = { attribute: 'plan', operator: 'eq', value: 'pro' }
const definition = { version: 1, flags: [], segments: [] }

it('Equal conditions of flag sets of up to 32 MiB have one compiled form', () => {
  const compiler = new SharedCompiler()
  const compile = () => compiler.current.compile({ ...condition })
  const first = compile()
  compiler.note(32 * MEGABYTE, definition)
  expect(compile()).toBe(first)
  compiler.note(1, definition)
  expect(compile()).not.toBe(first)
})

it('A change counts with its share of the flag set', () => {
  const compiler = new SharedCompiler()
  const flag = { id: 'a', definition: null } as never
  const flags = Array.from({ length: 128 }, () => ({}) as never)
  const first = compiler.current
  for (let change = 0; change < 128; change += 1) {
    compiler.note(32 * MEGABYTE, { ...definition, flags }, { ...definition, flags: [flag] })
  }
  expect(compiler.current).toBe(first)
  compiler.note(32 * MEGABYTE, { ...definition, flags }, { ...definition, flags: [flag] })
  expect(compiler.current).not.toBe(first)
})
