import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { sized } from '../../../../packages/server/test/drills/scale.ts'
import { startListening } from '../../../../packages/storage/test/postgres-store.ts'
import { temporaryFolder } from '../../../../packages/storage/test/temporary-folder.ts'
import { RunningStandalone, runCommand } from '../running-standalone.ts'

/** The time for which the original and its copy run together. */
const TOGETHER_MS = sized({ full: 300_000, small: 9_000 })
/** The time within which an announcement that failed twice is sent again. */
const RETRY_MS = 45_000
/** The time within which an announcement that must not arrive would arrive. */
const SETTLING_MS = 3000
const ENVIRONMENT = {
  FF_SECRET_KEY: 'ab'.repeat(32),
  FF_ADMIN_TOKEN: 'an-administrators-own-token',
  FF_WEBHOOKS_ALLOW_LOOPBACK: '1',
}
/** Two flags of the demo. */
const FLAGS = ['checkout-enabled', 'new-checkout'] as const

// biome-ignore lint/suspicious/noExplicitAny: the test checks the shape of responses
type Json = any

/** A receiver of webhooks. While it is closed, it responds with 503. */
class Receiver {
  isOpen = true
  /** What each received message announces. */
  readonly announcements: string[] = []
  readonly server: Server = createServer(async (request, response) => {
    const { type, data }: Json = await json(request)
    if (this.isOpen) this.announcements.push(`${type} ${described(data.payload)}`)
    response.writeHead(this.isOpen ? 204 : 503).end()
  })
}

/** Describes the change that an audit entry contains. */
function described({ before, after }: Json): string {
  const { flag_id: flagId = '', is_active: isActive = '', description = '' } = after ?? before
  return [flagId, isActive, description].filter((each) => each !== '').join(' ')
}

async function startReceiver() {
  const receiver = new Receiver()
  const url = `http://127.0.0.1:${await startListening(receiver.server)}/`
  return { receiver, url }
}

function start(dataDir: string, env: Record<string, string> = {}): RunningStandalone {
  const standalone = new RunningStandalone({ ...ENVIRONMENT, ...env }, dataDir)
  onTestFinished(() => standalone.kill())
  return standalone
}

async function manage(url: string, method: string, path: string, body?: object): Promise<Json> {
  const answer = await fetch(url + path, {
    method,
    headers: {
      authorization: `Bearer ${ENVIRONMENT.FF_ADMIN_TOKEN}`,
      'content-type': 'application/json',
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  const read: Json = await answer.json()
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(read)}`)
  return read.data
}

/** An installation with a webhook. Its receiver is closed, so that an announcement waits. */
async function startOriginal(receiver: Receiver, hook: string) {
  const folder = join(await temporaryFolder(), 'data')
  const server = start(folder)
  const url = await server.listening()
  const [organization] = (await manage(url, 'GET', '/organizations')).data
  const body = { url: hook, event_types: ['flag.*', 'flag_state.*', 'scheduled_change.deleted'] }
  await manage(url, 'POST', `/organizations/${organization.id}/webhooks`, body)
  receiver.isOpen = false
  await describeFlag(url, 'waits')
  return { folder, server, url }
}

const describeFlag = (url: string, description: string) =>
  manage(url, 'PUT', `/projects/shop/flags/${FLAGS[0]}`, { description })

/** Schedules a change of the state of a flag, from now. Returns its announcement. */
async function schedule(url: string, flag: string, inMs: number): Promise<string> {
  const path = `/projects/shop/envs/live/flags/${flag}`
  const state = await manage(url, 'GET', path)
  await manage(url, 'POST', `${path}/scheduled-changes`, {
    apply_at: new Date(Date.now() + inMs).toISOString(),
    operation: 'updateFlagState',
    body: { is_active: !state.is_active },
  })
  return `flag_state.updated ${described({ after: { ...state, is_active: !state.is_active } })}`
}

/** Creates a new installation from a backup of a running or stopped one. */
async function copyOf(dataDir: string): Promise<string> {
  const folder = await temporaryFolder()
  const [backup, copied] = [join(folder, 'flags.backup'), join(folder, 'data')]
  const written = await runCommand(['backup', backup], { FF_DATA_DIR: dataDir })
  expect(written).toMatchObject({ status: 0, log: '' })
  const restored = await runCommand(['restore', backup], { FF_DATA_DIR: copied })
  expect(restored.output).toContain('Background jobs are off')
  return copied
}

async function stop(server: RunningStandalone): Promise<void> {
  server.stop('SIGTERM')
  expect(await server.ended).toBe(0)
}

describe('a copy of an installation', { timeout: TOGETHER_MS + 240_000 }, () => {
  it('A copy that runs beside the original announces and applies nothing, and after its activation only what the original has not', async () => {
    const { receiver, url: hook } = await startReceiver()
    const original = await startOriginal(receiver, hook)
    const [dueBoth, dueLater] = FLAGS
    const applied = await schedule(original.url, dueBoth, 10_000)
    const later = await schedule(original.url, dueLater, TOGETHER_MS + RETRY_MS + 5000)
    const copied = await copyOf(original.folder)
    const copy = start(copied)
    const url = await copy.listening()
    receiver.isOpen = true
    await describeFlag(url, 'only in the copy')
    const expected = ['flag.updated waits', applied].toSorted()
    const received = () => receiver.announcements.toSorted()
    await expect.poll(received, { timeout: RETRY_MS }).toEqual(expected)
    await pause(TOGETHER_MS)
    expect(copy.log).toContain('The store is a copy that is not active')
    expect(received()).toEqual(expected)

    await stop(original.server)
    const { output } = await runCommand(['activate', 'discard'], { FF_DATA_DIR: copied })
    expect(output).toContain('is active. Running servers begin background jobs')
    expect(output).toContain('wait: 2; scheduled changes whose time has passed: 1.')
    await expect.poll(() => receiver.announcements, { timeout: 60_000 }).toContain(later)
    await describeFlag(url, 'after the activation')
    await pause(SETTLING_MS)
    expect(receiver.announcements.slice(2)).toEqual([
      `scheduled_change.deleted ${idOf(applied)}`,
      later,
      'flag.updated after the activation',
    ])
  })

  it.each(['the command "activate"', 'FF_JOBS=1'])(
    'An installation that was stopped and moved announces and applies once what has waited, after %s',
    async (way) => {
      const { receiver, url: hook } = await startReceiver()
      const original = await startOriginal(receiver, hook)
      const due = await schedule(original.url, FLAGS[0], 4000)
      await stop(original.server)
      receiver.isOpen = true
      const moved = await copyOf(original.folder)
      const server = start(moved)
      await server.listening()
      await pause(SETTLING_MS)
      expect(receiver.announcements).toEqual([])
      if (way === 'FF_JOBS=1') {
        await stop(server)
        await start(moved, { FF_JOBS: '1' }).listening()
      } else {
        const { output } = await runCommand(['activate'], { FF_DATA_DIR: moved })
        expect(output).toContain('wait: 1; scheduled changes whose time has passed: 1')
      }
      const expected = ['flag.updated waits', due].toSorted()
      const received = () => receiver.announcements.toSorted()
      await expect.poll(received, { timeout: 60_000 }).toEqual(expected)
      await pause(SETTLING_MS)
      expect(received()).toEqual(expected)
    },
  )
})

const idOf = (announcement: string) => announcement.split(' ')[1]
