// @ts-check
// Fails if a dependency has a known vulnerability of the severity high or critical. Exceptions are in
// audit-exceptions.json: the id of the advisory, the reason, and the last day of the exception.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/**
 * @typedef {{ github_advisory_id: string, severity: string, module_name: string, title: string }} Advisory
 * @typedef {{ id: string, reason: string, until: string }} Exception
 */

const REFUSED = new Set(['high', 'critical'])

/**
 * Returns a line for each vulnerability without an exception that is valid on `today`, a date such as
 * `2026-01-31`.
 *
 * @param {readonly Advisory[]} advisories
 * @param {{ exceptions: readonly Exception[], today: string }} rules
 * @returns {string[]}
 */
export function refusedAdvisories(advisories, { exceptions, today }) {
  const valid = new Set(exceptions.filter(({ until }) => until >= today).map(({ id }) => id))
  return advisories
    .filter(({ severity }) => REFUSED.has(severity))
    .filter(({ github_advisory_id: id }) => !valid.has(id))
    .map(({ github_advisory_id: id, severity, module_name: name, title }) => {
      return `${name}: ${title} (${severity}, ${id})`
    })
}

function audit() {
  const parameters = ['-y', 'pnpm@10.34.9', 'audit', '--json']
  const { stdout, stderr } = spawnSync('npx', parameters, { encoding: 'utf8' })
  const report = JSON.parse(stdout)
  if (report.advisories === undefined) throw new Error(`The audit failed: ${stdout}${stderr}`)
  const exceptions = join(import.meta.dirname, 'audit-exceptions.json')
  return refusedAdvisories(Object.values(report.advisories), {
    exceptions: JSON.parse(readFileSync(exceptions, 'utf8')),
    today: new Date().toISOString().slice(0, 10),
  })
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  for (const line of audit()) {
    console.error(line)
    process.exitCode = 1
  }
}
