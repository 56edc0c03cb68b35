import { readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { type Figure, freshFigures, isKept, ratiosOf, rounded, startFigures } from './figures.ts'
import { installedPeers, PEERS, type Peer } from './peer.ts'
import { compare, runTask, type Times } from './processes.ts'

// `--no-peers` skips the engines of others. `--json <file>` also writes the figures to a file.
const { values: options } = parseArgs({
  options: { 'no-peers': { type: 'boolean' }, json: { type: 'string' } },
})

print('Node', process.version)
const peers = options['no-peers'] === true ? [] : (await installedPeers()).map(aboutPeer)
const names = peers.map(({ name }) => name)
for (const each of peers) print(each.name, `${each.package} ${each.version}, ${each.license}`)
runTask('check-floors')
if (peers.length > 0) runTask('check-peers')

const MIXED = ['mixed 10', 'mixed 100', 'mixed 1000'].flatMap((name) => {
  return [`${name} floor`, `${name} values`, `${name} JSON`]
})
const LARGE = ['first of ten sets', 'last of ten sets'].map((name) => `mixed 1000 values, ${name}`)

const W1_VARIANTS = ['W1, longer salt', 'W1 detail']

const times = {
  ...(await printTimes(40, ['mixed one floor', 'mixed one', ...MIXED])),
  ...(await printTimes(25, ['mixed 10000 values', ...LARGE])),
  ...(await printTimes(60, ['W1 floor', 'W1', ...W1_VARIANTS, 'W4', ...besides('W1')])),
  ...(await printTimes(60, ['W2 floor', 'W2 codes', 'W2 values', 'W2 JSON', ...besides('W2')])),
  ...(await printTimes(40, ['W3 codes', 'W3 values', 'W3 JSON', ...besides('W3')])),
  ...(await printTimes(60, ['common 100 values', ...besides('common 100')])),
  ...(await printTimes(25, ['W3 compile', 'W3 compile after one change'])),
}
const figures = [...ratiosOf(times, names), ...freshFigures(), ...startFigures()]
process.stdout.write('\n')
for (const figure of figures) print(figure.name, textOf(figure))

if (options.json !== undefined) {
  const machine = { node: process.version, cpu: cpus()[0]?.model, cpus: cpus().length }
  const judged = figures.map((figure) => ({ ...figure, kept: isKept(figure) }))
  const all = { machine, peers, nanoseconds: times, figures: judged }
  writeFileSync(options.json, `${JSON.stringify(all, null, 2)}\n`)
}

function aboutPeer({ name, package: id }: Peer) {
  const manifest = readFileSync(new URL(`node_modules/${id}/package.json`, PEERS), 'utf8')
  const { version, license } = JSON.parse(manifest)
  return { name, package: id, version: String(version), license: String(license) }
}

function besides(group: string): string[] {
  return names.map((name) => `${group} ${name}`)
}

async function printTimes(rounds: number, cases: readonly string[]): Promise<Times> {
  const group = await compare(rounds, cases)
  process.stdout.write('\n')
  for (const [name, time] of Object.entries(group)) print(name, `${microseconds(time)} µs`)
  return group
}

function microseconds(nanoseconds: number): string {
  const value = nanoseconds / 1000
  return value < 100 ? value.toPrecision(3) : Math.round(value).toLocaleString('en')
}

function textOf(figure: Figure): string {
  const { unit, atLeast, atMost } = figure
  const text = `${rounded(figure)} ${unit}`
  const kept = isKept(figure)
  if (kept === undefined) return text
  const target = atLeast === undefined ? `at most ${atMost}` : `at least ${atLeast}`
  return `${text}, ${target}: ${kept ? 'kept' : 'missed'}`
}

function print(name: string, text: string): void {
  process.stdout.write(`${name.padEnd(48)} ${text}\n`)
}
