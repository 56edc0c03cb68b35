import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AuditVerification } from '@ff/protocol/management'
import type { Records } from '@ff/storage'
import { sqlite } from '@ff/storage/sqlite'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { LoginAudit } from '../../src/authentication/login-audit.ts'
import { chainName, entryId, hashOf, positionAfter } from '../../src/changes/audit-chain.ts'
import { tamper } from '../world/intruder.ts'
import { addressesOf, type Tenant, World } from '../world/world.ts'

/** The number of entries before the changes: of the organization, its project and four tokens. */
const BEFORE = 6
const CHANGES = 10
const ENTRIES = BEFORE + CHANGES

let folder: string
let base: string
let tenant: Tenant
let other: Tenant
let copies = 0

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ff-audit-'))
  base = join(folder, 'flags.db')
  const world = await World.create(sqlite({ path: base }).storage)
  tenant = await world.addTenant('Acme')
  other = await world.addTenant('Other')
  await change(world, CHANGES)
  await world.storage.close()
})

afterAll(() => rmSync(folder, { recursive: true }))

async function change(world: World, times: number): Promise<void> {
  const token = tenant.tokens.editor
  const { flags } = addressesOf(tenant)
  for (let n = 0; n < times; n += 1) {
    const body = { key: `flag-${crypto.randomUUID()}`, type: 'boolean' }
    expect((await world.call('POST', flags, { token, body })).status).toBe(201)
  }
}

/** Opens a server on a copy of the data file. */
async function open(path: string): Promise<World> {
  const world = await World.create(sqlite({ path }).storage)
  onTestFinished(() => world.storage.close())
  return world
}

function newCopy(): string {
  copies += 1
  const path = join(folder, `copy-${copies}.db`)
  copyFileSync(base, path)
  return path
}

async function verify(world: World, token = tenant.tokens.viewer, query = '') {
  const answer = await world.call('GET', `/audit/verify${query}`, { token })
  expect(answer.status).toBe(200)
  return answer.data as AuditVerification
}

const idAt = (sequence: number) => entryId(chainName('changes', tenant.orgId), sequence)

type Row = Readonly<Record<string, string | number>>
type Run = (sql: string, ...values: readonly unknown[]) => void
type Read = (sequence: number) => Row

/** Returns the result of a verification after statements were run on a copy of the data file. */
async function foundAfter(work: (run: Run, read: Read) => void | Promise<void>) {
  const path = newCopy()
  const steps: [string, readonly unknown[]][] = []
  const read: Read = (sequence) =>
    tamper(path, (db) => {
      const rows = db.prepare('select * from ff_audit_event where id = ?').all(idAt(sequence))
      return rows[0] as Row
    })
  await work((sql, ...values) => steps.push([sql, values]), read)
  tamper(path, (db) => {
    for (const [sql, values] of steps) db.prepare(sql).run(...values)
  })
  const world = await open(path)
  const own = await verify(world)
  const all = await verify(world, tenant.tokens.platform)
  expect([all.valid, all['first_broken' as never]]).toEqual([
    own.valid,
    own['first_broken' as never],
  ])
  expect(await verify(world, other.tokens.viewer)).toMatchObject({ valid: true, entries: BEFORE })
  return own
}

const broken = (sequence: number, reason: string, entries = sequence - 1) => ({
  valid: false,
  entries,
  first_broken: { id: idAt(sequence), sequence, reason },
})

const UPDATE = 'update ff_audit_event set'

describe('The audit log of an unmodified data file', () => {
  it('An unmodified audit log is valid, for each organization and for all, with the number of entries', async () => {
    const world = await open(newCopy())
    const sound = { valid: true, first_broken: null }
    expect(await verify(world)).toEqual({ ...sound, entries: ENTRIES })
    const all = await verify(world, tenant.tokens.platform)
    // The two tokens of the platform are entries of the installation.
    expect(all).toEqual({ ...sound, entries: ENTRIES + BEFORE + 2 })
    const one = await verify(world, tenant.tokens.platform, `?org_id=${tenant.orgId}`)
    expect(one).toEqual({ ...sound, entries: ENTRIES })
  })

  it('An audit log stays valid while entries are added', async () => {
    const world = await open(newCopy())
    const writing = change(world, 20)
    for (let round = 0; round < 10; round += 1) {
      expect((await verify(world)).valid).toBe(true)
      expect((await verify(world, tenant.tokens.platform)).valid).toBe(true)
    }
    await writing
    expect(await verify(world)).toMatchObject({ valid: true, entries: ENTRIES + 20 })
  })
})

describe('Verification of a manipulated data file', () => {
  it('Verification finds an edited entry', async () => {
    const edit = `${UPDATE} payload = replace(payload, 'boolean', 'string') where id = ?`
    expect(await foundAfter((run) => run(edit, idAt(9)))).toEqual(broken(9, 'changed'))
    expect(await foundAfter((run) => run(edit, idAt(ENTRIES)))).toEqual(broken(ENTRIES, 'changed'))
  })

  it.each([
    ['event_type', 'flag.deleted'],
    ['payload', '{}'],
    ['created_at', '2020-01-01T00:00:00.000Z'],
    ['created_at', 'yesterday'],
    ['stream_id', 'flag:1'],
    ['project_id', ''],
    ['actor_id', 'somebody else'],
    ['actor', '{"id":"x","email":"","name":"","role":""}'],
    ['actor', 'null'],
    ['sequence', 8],
    ['sequence', 'nine'],
    ['previous_hash', ''],
    ['hash', '0'.repeat(64)],
    ['position', '2020-01-01T00:00:00.000Z 000000000009'],
    ['position', '2040-01-01T00:00:00.000Z 000000000009'],
  ])('Verification finds an entry with %s changed to %s', async (column, value) => {
    const found = await foundAfter((run) =>
      run(`${UPDATE} ${column} = ? where id = ?`, value, idAt(9)),
    )
    expect(found).toMatchObject({ valid: false, first_broken: { id: idAt(9), reason: 'changed' } })
  })

  it('Verification finds an edited entry with a recomputed hash', async () => {
    const path = newCopy()
    const storage = sqlite({ path }).storage
    await storage.migrate()
    const entry = (await storage.find('auditEvent', idAt(9))) as Records['auditEvent']
    await storage.close()
    const hash = await hashOf({ ...entry, actorId: 'somebody else' })
    const edit = `${UPDATE} actor_id = 'somebody else', hash = ? where id = ?`
    expect(await foundAfter((run) => run(edit, hash, idAt(9)))).toEqual(broken(9, 'replaced', 9))
  })

  it('Verification finds the newest entry after it was edited and its hash was recomputed', async () => {
    const path = newCopy()
    const storage = sqlite({ path }).storage
    await storage.migrate()
    const entry = (await storage.find('auditEvent', idAt(ENTRIES))) as Records['auditEvent']
    await storage.close()
    const hash = await hashOf({ ...entry, actorId: 'x' })
    const edit = `${UPDATE} actor_id = 'x', hash = ? where id = ?`
    const found = await foundAfter((run) => run(edit, hash, idAt(ENTRIES)))
    expect(found).toEqual(broken(ENTRIES, 'replaced'))
  })

  it('Verification finds a deleted entry', async () => {
    const remove = 'delete from ff_audit_event where id = ?'
    expect(await foundAfter((run) => run(remove, idAt(9)))).toEqual(broken(9, 'missing'))
    expect(await foundAfter((run) => run(remove, idAt(1)))).toEqual(broken(1, 'missing'))
  })

  it('Verification finds the first of two swapped entries', async () => {
    const place = `${UPDATE} id = ?, sequence = ?, position = ?, previous_hash = ? where id = ?`
    const found = await foundAfter((run, read) => {
      const [a, b] = [read(8), read(11)]
      run(place, 'meanwhile', 0, '', '', a['id'])
      run(place, a['id'], 8, a['position'], a['previous_hash'], b['id'])
      run(place, b['id'], 11, b['position'], b['previous_hash'], 'meanwhile')
    })
    expect(found).toEqual(broken(8, 'changed'))
  })

  it('Verification finds an inserted copy of an entry with any id', async () => {
    const copy = `insert into ff_audit_event select ?, event_type, payload, created_at, stream_id,
      org_id, project_id, actor_id, actor, sequence, previous_hash, hash, position, comment
      from ff_audit_event where id = ?`
    const within = await foundAfter((run) => run(copy, `${idAt(8)}a`, idAt(8)))
    expect(within).toMatchObject({ valid: false, first_broken: { id: `${idAt(8)}a` } })
    const hidden = await foundAfter((run) => run(copy, `${idAt(8)}\u0001`, idAt(8)))
    expect(hidden.valid).toBe(false)
    for (const id of [
      '',
      '!',
      'zzz',
      `changes:${tenant.orgId}`,
      `other:${tenant.orgId}:000000000001`,
    ]) {
      expect((await foundAfter((run) => run(copy, id, idAt(8)))).valid).toBe(false)
    }
  })

  it('Verification finds a well-formed entry that was appended', async () => {
    const found = await foundAfter(async (run, read) => {
      const last = read(ENTRIES)
      const entry = {
        id: idAt(ENTRIES + 1),
        eventType: 'flag.deleted',
        payload: {},
        createdAt: String(last['created_at']),
        streamId: 'flag:1',
        orgId: tenant.orgId,
        projectId: '',
        actorId: 'x',
        actor: { id: 'x', email: '', name: '', role: '' },
        sequence: ENTRIES + 1,
        previousHash: String(last['hash']),
      }
      const position = positionAfter(String(last['position']), entry)
      const comment = null
      const values = Object.values({ ...entry, payload: '{}', actor: JSON.stringify(entry.actor) })
      const marks = '?, '.repeat(values.length)
      run(
        `insert into ff_audit_event values (${marks} ?, ?, ?)`,
        ...values,
        await hashOf({ ...entry, comment }),
        position,
        comment,
      )
    })
    expect(found).toEqual(broken(ENTRIES + 1, 'inserted', ENTRIES + 1))
  })

  it('Verification finds the place at which a chain was truncated', async () => {
    const cut = 'delete from ff_audit_event where id >= ? and org_id = ?'
    for (const first of [ENTRIES, ENTRIES - 4, 1]) {
      const found = await foundAfter((run) => run(cut, idAt(first), tenant.orgId))
      expect(found).toEqual(broken(first, 'tail_cut'))
    }
  })

  it('Verification finds a chain without a head', async () => {
    const remove = 'delete from ff_audit_head where id = ?'
    const found = await foundAfter((run) => run(remove, chainName('changes', tenant.orgId)))
    expect(found).toEqual(broken(ENTRIES, 'head_missing', ENTRIES))
  })

  it('Verification finds an entry that was moved to another organization', async () => {
    const path = newCopy()
    tamper(path, (db) => db.prepare(`${UPDATE} org_id = ? where id = ?`).run(other.orgId, idAt(9)))
    const world = await open(path)
    expect(await verify(world)).toEqual(broken(9, 'missing'))
    const theirs = { valid: false, first_broken: { id: idAt(9), sequence: 9, reason: 'changed' } }
    expect(await verify(world, other.tokens.viewer)).toMatchObject(theirs)
    expect(await verify(world, tenant.tokens.platform)).toEqual(
      expect.objectContaining({ first_broken: theirs.first_broken }),
    )
  })

  it('Verification finds an unreadable entry', async () => {
    const found = await foundAfter((run) => run(`${UPDATE} payload = '{"b' where id = ?`, idAt(9)))
    expect(found).toEqual(broken(9, 'unreadable'))
  })
})

it('Verification finds entries that are hidden between the pages of a long log', async () => {
  const world = await World.create()
  const tenant = await world.addTenant('Acme')
  const logins = new LoginAudit(world.services)
  const fields = { email: '', method: 'password', reason: 'unknown' } as const
  const unknownActor = { id: '', email: '', name: '', role: '' }
  const { orgId } = tenant
  const attempt = { type: 'user.login_failed', fields, actor: unknownActor, orgId } as const
  await Promise.all(Array.from({ length: 1200 }, () => logins.record(attempt)))
  const sound = { valid: true, entries: BEFORE + 1200, first_broken: null }
  expect(await verify(world, tenant.tokens.viewer)).toEqual(sound)
  const { data } = await world.storage.list('auditEvent', { where: { orgId } })
  for (const index of [31, 63, 499, 991]) {
    const entry = data[index]
    if (entry === undefined) throw new Error('no entry at the end of a page')
    const hidden = { ...entry, id: `${entry.id}\u0001` }
    await world.storage.insert('auditEvent', hidden)
    const found = await verify(world, tenant.tokens.viewer)
    expect(found).toMatchObject({ valid: false, first_broken: { id: hidden.id } })
    await world.storage.update('auditEvent', hidden.id, { orgId: 'elsewhere' })
  }
})

it('Verification finds an edited entry in memory as well', async () => {
  const world = await World.create()
  const tenant = await world.addTenant('Acme')
  const id = entryId(chainName('changes', tenant.orgId), 3)
  expect(await verify(world, tenant.tokens.viewer)).toMatchObject({ valid: true, entries: BEFORE })
  await world.storage.update('auditEvent', id, { actorId: 'x' })
  expect(await verify(world, tenant.tokens.viewer)).toMatchObject({
    valid: false,
    entries: 2,
    first_broken: { id, sequence: 3, reason: 'changed' },
  })
})
