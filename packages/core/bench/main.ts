import { readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { type Figure, freshFigures, isKept, ratiosOf, rounded } from './figures.ts'
import { measureCompiling, measureHundred, measureOne, measureThousand } from './groups.ts'
import type { Times } from './measure.ts'
import type { Peer } from './peer.ts'
import { hundredPeers, onePeers, thousandPeers } from './peer-groups.ts'

/** `--no-peers` measures nothing of others, `--json <file>` keeps the figures as well. */
const { values: options } = parseArgs({
  options: { 'no-peers': { type: 'boolean' }, json: { type: 'string' } },
})

const folder = new URL('../peers/', import.meta.url)
const peers = options['no-peers'] === true ? [] : await peersOf(folder)
const versions = peers.map(({ name, package: id }) => ({ name, package: id, ...aboutOf(id) }))
for (const each of versions) print(each.name, `${each.package} ${each.version}, ${each.license}`)

const times: Times = new Map([
  ...(await measured(measureOne())),
  ...(await measured(measureHundred())),
  ...(await measured(measureThousand())),
  ...(await measured(measureCompiling())),
  ...(peers.length === 0 ? [] : await measured(onePeers(peers))),
  ...(peers.length === 0 ? [] : await measured(hundredPeers(peers))),
  ...(peers.length === 0 ? [] : await measured(thousandPeers(peers))),
])
const figures = [...ratiosOf(times, peers), ...freshFigures()]
process.stdout.write('\n')
for (const figure of figures) {
  const kept = isKept(figure) ? 'kept' : 'missed'
  print(figure.name, `${rounded(figure)} ${figure.unit}, ${targetOf(figure)}: ${kept}`)
}

if (options.json !== undefined) {
  const machine = { node: process.version, cpu: cpus()[0]?.model, cpus: cpus().length }
  const kept = figures.map((figure) => ({ ...figure, kept: isKept(figure) }))
  const all = { machine, peers: versions, nanoseconds: Object.fromEntries(times), figures: kept }
  writeFileSync(options.json, `${JSON.stringify(all, null, 2)}\n`)
}

async function peersOf(folder: URL): Promise<readonly Peer[]> {
  return (await import(new URL('index.js', folder).href)).peers
}

function aboutOf(id: string): { readonly version: string; readonly license: string } {
  const { version, license } = JSON.parse(
    readFileSync(new URL(`node_modules/${id}/package.json`, folder), 'utf8'),
  )
  return { version, license }
}

async function measured(work: Promise<Times>): Promise<Times> {
  const group = await work
  process.stdout.write('\n')
  for (const [name, time] of group) print(name, `${microseconds(time)} µs`)
  return group
}

function microseconds(nanoseconds: number): string {
  const value = nanoseconds / 1000
  return value < 100 ? value.toPrecision(3) : Math.round(value).toLocaleString('en')
}

function targetOf({ atLeast, atMost }: Figure): string {
  return atLeast === undefined ? `at most ${atMost}` : `at least ${atLeast}`
}

function print(name: string, text: string): void {
  process.stdout.write(`${name.padEnd(52)} ${text}\n`)
}
