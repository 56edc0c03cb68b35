import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'

/** Runs an expression with the functions of the module in a process with a zone. */
function inZone(zone: string, expression: string): unknown {
  const path = new URL('local-time.ts', import.meta.url).href
  const loader = new URL('../../../../storage/test/typescript-loader.js', import.meta.url).href
  const program = `
    const { localText, timesOf, replacedTime } = await import(${JSON.stringify(path)})
    console.log(JSON.stringify(${expression}))`
  const parameters = [`--import=${loader}`, '--input-type=module', '-e', program]
  const output = execFileSync(process.execPath, parameters, {
    env: { ...process.env, TZ: zone },
    encoding: 'utf8',
  })
  return JSON.parse(output)
}

it('A local time in the repeated hour means two times, and any other local time one', () => {
  const expression = `['2026-10-25T02:30', '2026-10-25T01:59', '2026-10-25T03:00', 'x'].map(timesOf)`
  expect(inZone('Europe/Berlin', expression)).toEqual([
    ['2026-10-25T00:30:00.000Z', '2026-10-25T01:30:00.000Z'],
    ['2026-10-24T23:59:00.000Z'],
    ['2026-10-25T02:00:00.000Z'],
    [],
  ])
  expect(inZone('Australia/Lord_Howe', `timesOf('2026-04-05T01:45')`)).toEqual([
    '2026-04-04T14:45:00.000Z',
    '2026-04-04T15:15:00.000Z',
  ])
  expect(inZone('UTC', `timesOf('2026-10-25T02:30')`)).toEqual(['2026-10-25T02:30:00.000Z'])
})

it('Editing the minutes in the second of both hours stays in it', () => {
  const expression = `[
    replacedTime('2026-10-25T02:45', new Date('2026-10-25T01:30:00Z')),
    replacedTime('2026-10-25T02:45', new Date('2026-10-25T00:30:00Z')),
    replacedTime('2026-10-25T02:45', undefined),
    localText(new Date('2026-10-25T01:30:00Z')),
    replacedTime('2026-03-29T02:30', undefined)]`
  expect(inZone('Europe/Berlin', expression)).toEqual([
    '2026-10-25T01:45:00.000Z',
    '2026-10-25T00:45:00.000Z',
    '2026-10-25T00:45:00.000Z',
    '2026-10-25T02:30',
    '2026-03-29T01:30:00.000Z',
  ])
})
