import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createManagement } from '@ff/management/node'
import { createFlagServer, silentLogger } from '@ff/server'
import { parser } from '@prometheus-io/lezer-promql'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { parse } from 'yaml'

const folder = join(import.meta.dirname, '../../deploy')
const dashboard: Dashboard = JSON.parse(read('grafana-dashboard.json'))
const alerts: Alerts = parse(read('prometheus-alerts.yml'))
const rules = alerts.groups.flatMap((group) => group.rules)

/** Labels that Prometheus adds to each series. If a series has one of them, it becomes `exported_…`. */
const SCRAPE_LABELS: ReadonlySet<string> = new Set(['job', 'instance'])

interface Dashboard {
  readonly panels: readonly {
    readonly title: string
    readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[]
  }[]
}

interface Alerts {
  readonly groups: readonly { readonly rules: readonly Rule[] }[]
}

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly annotations: { readonly summary: string }
}

/** A query, and the texts that name labels of its result. */
interface Query {
  readonly name: string
  readonly expr: string
  readonly shown: string
}

const queries: readonly Query[] = [
  ...dashboard.panels.flatMap(({ title, targets }) =>
    targets.map(({ expr, legendFormat }) => ({ name: title, expr, shown: legendFormat })),
  ),
  ...rules.map(({ alert, expr, annotations }) => ({
    name: alert,
    expr,
    shown: annotations.summary,
  })),
]

/** The labels of each metric that a running server exposes, with those that Prometheus adds. */
let exposed: ReadonlyMap<string, ReadonlySet<string>>

function read(file: string): string {
  return readFileSync(join(folder, file), 'utf8')
}

/** Returns what is wrong with a query; an empty list if nothing is. */
function faultsOf({ expr, shown }: Query): readonly string[] {
  // Variables of Grafana that are durations are no PromQL.
  const text = expr.replaceAll('$__rate_interval', '5m')
  const [metrics, labels] = [new Set<string>(), new Set<string>()]
  const faults: string[] = []
  parser.parse(text).iterate({
    enter({ type, from, to, node }) {
      const part = text.slice(from, to)
      if (type.isError) faults.push(`is not PromQL at "${text.slice(from)}"`)
      if (type.name === 'Identifier' && node.parent?.name === 'VectorSelector') metrics.add(part)
      if (type.name === 'LabelName') labels.add(part)
    },
  })
  for (const [, label = ''] of shown.matchAll(/\{\{\s*(?:\$labels\.)?(\w+)\s*\}\}/g))
    labels.add(label)
  const known = new Set([...metrics].flatMap((metric) => [...(exposed.get(metric) ?? [])]))
  for (const metric of metrics) if (!exposed.has(metric)) faults.push(`has no metric ${metric}`)
  for (const label of labels) if (!known.has(label)) faults.push(`has no label ${label}`)
  return metrics.size === 0 ? [...faults, 'names no metric'] : faults
}

function labelsOf(pairs: string): readonly string[] {
  const names = [...pairs.matchAll(/(\w+)="/g)].map(([, name = '']) => name)
  return names.map((name) => (SCRAPE_LABELS.has(name) ? `exported_${name}` : name))
}

beforeAll(async () => {
  const management = createManagement({ secretKey: ['A'.repeat(43)] })
  const options = { management, metricsArePublic: true, logger: silentLogger }
  const flags = createFlagServer(options)
  const get = async (path: string) =>
    (await flags.fetch(new Request(`http://ff.test${path}`))).text()
  // The delay of the event loop is exposed after the first measurement.
  const isMeasured = async () => (await get('/metrics')).includes('ff_event_loop_delay_seconds{')
  await vi.waitUntil(isMeasured, { timeout: 60_000 })
  const found = new Map<string, Set<string>>([['up', new Set(SCRAPE_LABELS)]])
  for (const line of (await get('/metrics')).split('\n')) {
    const [, metric, pairs = ''] = /^(\w+)(?:\{(.*)\})? /.exec(line) ?? []
    if (metric === undefined) continue
    const labels = found.get(metric) ?? new Set(SCRAPE_LABELS)
    for (const label of labelsOf(pairs)) labels.add(label)
    found.set(metric, labels)
  }
  exposed = found
  await flags.close()
})

describe('The queries of the dashboard and of the alerts', () => {
  it.each(queries)('$name: $expr', (query) => {
    expect(faultsOf(query)).toEqual([])
  })

  it('The check finds unknown metrics, unknown labels and invalid queries', () => {
    const faults = (expr: string, shown = '') => faultsOf({ name: '', expr, shown })
    expect(faults('sum(rate(ff_request_total[5m]))')).toEqual(['has no metric ff_request_total'])
    expect(faults('sum by (code) (ff_requests_total{path="x"})', '{{ $labels.kind }}')).toEqual(
      ['code', 'path', 'kind'].map((label) => `has no label ${label}`),
    )
    expect(faults('sum(ff_flag_sets')).not.toEqual([])
  })

  it('Every metric that should trigger an alarm has a panel', () => {
    const page = readFileSync(join(folder, '../../../docs/operations.md'), 'utf8')
    const [, table = ''] = /\| Metric \| Condition \|\n([\s\S]*?)\n\n/.exec(page) ?? []
    const names = [...table.matchAll(/^\| `(\w+)/gm)].map(([, name = '']) => name)
    expect(names.length).toBeGreaterThan(8)
    const text = dashboard.panels
      .flatMap(({ targets }) => targets.map(({ expr }) => expr))
      .join('\n')
    expect(names.filter((name) => !text.includes(name))).toEqual([])
  })
})
