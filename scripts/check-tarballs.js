import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Installs the tarballs of the data plane in an empty project and evaluates a flag there over HTTP.
 * Fails if the installation contains packages that only the control plane needs. Requires
 * `pnpm build`.
 */
const PACKAGES = ['core', 'protocol', 'storage', 'server']
const UNWANTED = ['zod', 'undici', 'openid-client', 'stripe', '@ff/management']

const PROGRAM = `
import { createServer } from 'node:http'
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { createFlagServer } from '@ff/server'
import { toNodeHandler } from '@ff/server/node'
import { memory } from '@ff/storage'

const { storage, ...others } = memory()
const frame = { createdAt: '2030-01-01T00:00:00.000Z', updatedAt: '2030-01-01T00:00:00.000Z', deletedAt: null, revision: 1 }
const [projectId, environmentId] = [randomUUID(), randomUUID()]
const key = 'ff_' + randomBytes(32).toString('hex')
const hash = createHash('sha256').update(key).digest('hex')
await storage.migrate()
await storage.insert('environment', { ...frame, id: environmentId, projectId, key: 'live', name: 'Live', isDefault: true, contextPrivacy: 'minimal' })
await storage.insert('sdkKey', { ...frame, id: randomUUID(), projectId, environmentId, name: 'web', kind: 'client', prefix: key.slice(0, 11), hash, rateLimit: null, expiresAt: null, revokedAt: null, lastUsedAt: null })
const definition = {
  id: 'flag', key: 'new-checkout', type: 'boolean', isActive: true,
  variations: [{ id: 'on', key: 'on', value: 'true' }],
  defaultVariationId: 'on', offVariationId: null, targets: [], prerequisites: [], rules: [], rollouts: [],
}
await storage.publish(environmentId, [{ kind: 'flag', id: 'flag', definition }], { publishedAt: frame.createdAt, eventId: null })
const flags = createFlagServer({ storage, ...others })
const server = createServer(toNodeHandler(flags)).listen(0, '127.0.0.1')
await new Promise((resolve) => server.once('listening', resolve))
const answer = await fetch('http://127.0.0.1:' + server.address().port + '/evaluator/evaluate', {
  method: 'POST',
  headers: { 'x-api-key': key, 'content-type': 'application/json' },
  body: JSON.stringify({ context: { kind: 'user', key: 'user-1' } }),
})
process.stdout.write(await answer.text())
server.close()
await flags.close()
`

const root = join(import.meta.dirname, '..')
const folder = mkdtempSync(join(tmpdir(), 'ff-tarballs-'))
const run = (command, parameters, cwd) =>
  execFileSync(command, parameters, { cwd, encoding: 'utf8' })
try {
  for (const name of PACKAGES) {
    run('pnpm', ['pack', '--pack-destination', folder], join(root, 'packages', name))
  }
  const tarballs = readdirSync(folder).map((file) => `./${file}`)
  assert.equal(tarballs.length, PACKAGES.length)
  writeFileSync(join(folder, 'package.json'), '{ "type": "module", "private": true }')
  run('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', ...tarballs], folder)
  writeFileSync(join(folder, 'main.js'), PROGRAM)
  assert.equal(run('node', ['main.js'], folder), '{"new-checkout":true}')
  const unwanted = UNWANTED.filter((name) => existsSync(join(folder, 'node_modules', name)))
  assert.deepEqual(unwanted, [], 'packages of the control plane are installed')
  const count = JSON.parse(run('npm', ['query', '*'], folder)).length
  process.stdout.write(
    `Tarballs of ${PACKAGES.join(', ')}: ${count} packages installed; a flag was evaluated.\n`,
  )
} finally {
  rmSync(folder, { recursive: true })
}
