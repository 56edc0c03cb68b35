import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { RunningStandalone } from './running-standalone.ts'

const api = pathToFileURL(createRequire(import.meta.url).resolve('@opentelemetry/api')).href

/** A program for `--import` that prints the names of spans, as an SDK would export them. */
const PRINTER = `
import api from '${api}'
const startSpan = (name) => {
  console.error('span: ' + name)
  return api.trace.wrapSpanContext(api.INVALID_SPAN_CONTEXT)
}
api.trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan }) })
`

it('A server that is started with an OpenTelemetry SDK creates spans', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ff-spans-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'otel.mjs')
  writeFileSync(file, PRINTER)
  const server = new RunningStandalone({ NODE_OPTIONS: `--import=${pathToFileURL(file).href}` })
  onTestFinished(() => server.destroy())
  const url = await server.listening()
  await fetch(`${url}/evaluator/evaluate`, { method: 'POST', body: '{}' })
  await expect.poll(() => server.log).toContain('span: POST /evaluator/evaluate')
})
