import { readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { type Figure, freshFigures, isKept, ratiosOf, rounded } from './figures.ts'
import { installedPeers, PEERS, type Peer } from './peer.ts'
import { outputOf, timesOf } from './processes.ts'

/** `--no-peers` measures nothing of others, `--json <file>` keeps the figures as well. */
const { values: options } = parseArgs({
  options: { 'no-peers': { type: 'boolean' }, json: { type: 'string' } },
})

const peers = options['no-peers'] === true ? [] : (await installedPeers()).map(aboutPeer)
if (peers.length > 0) {
  outputOf('check-peers')
  for (const each of peers) print(each.name, `${each.package} ${each.version}, ${each.license}`)
}

const own = ['one', 'hundred', 'thousand', 'compiling']
const beside = peers.length === 0 ? [] : ['one-peers', 'hundred-peers', 'thousand-peers']
const times = Object.assign({}, ...[...own, ...beside].map(printTimes))
const names = peers.map(({ name }) => name)
const figures = [...ratiosOf(times, names), ...freshFigures()]
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

function printTimes(task: string) {
  const group = timesOf(task)
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
