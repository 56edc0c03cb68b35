import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createFlagClient } from '@ff/client/node'
import { shopFlags } from './flags.ts'

const ADMIN_TOKEN = 'the-token-of-the-administrator'
const EVALUATE_EVERY_MS = 20
const user = { kind: 'user', key: 'customer-1' }

/** The URLs of the stores that both servers share. */
export interface Stores {
  readonly databaseUrl: string
  readonly redisUrl: string
}

/** A server in a process of its own, with a client and a steady stream of evaluations. */
export interface RunningServer {
  readonly url: string
  /** The numbers of evaluations since the start. */
  readonly evaluations: { readonly succeeded: number; readonly failed: number }
  /** The value that the client has. */
  readonly isNewCheckout: boolean
  /** Changes the flag through this server, and returns the status of the response. */
  setNewCheckout(isOn: boolean): Promise<number>
  close(): Promise<void>
}

/** Starts two servers with the same stores, and a client on each of them. */
export async function startServers(stores: Stores): Promise<readonly RunningServer[]> {
  // The first server creates the project.
  const first = await startServer(stores)
  const sdkKey = await createSdkKey(first.url)
  const second = await startServer(stores)
  return Promise.all([first, second].map((started) => withClient(started, sdkKey)))
}

type Started = Awaited<ReturnType<typeof startServer>>

async function startServer({ databaseUrl, redisUrl }: Stores) {
  const folder = mkdtempSync(join(tmpdir(), 'ff-two-processes-'))
  const child = fork(join(import.meta.dirname, 'server.js'), {
    env: {
      ...process.env,
      DATABASE_URL: databaseUrl,
      REDIS_URL: redisUrl,
      SNAPSHOT_DIR: folder,
      ADMIN_TOKEN,
    },
  })
  const ended = once(child, 'exit')
  const failed = ended.then(([code]) => {
    throw new Error(`A server has ended with the status ${code}.`)
  })
  const [url] = await Promise.race([once(child, 'message'), failed])
  failed.catch(() => undefined)
  const close = async () => {
    child.disconnect()
    await ended
    rmSync(folder, { recursive: true })
  }
  return { url: String(url), close }
}

async function withClient({ url, close }: Started, sdkKey: string): Promise<RunningServer> {
  const client = createFlagClient({ url, sdkKey, flags: shopFlags, context: user })
  await client.ready()
  const evaluations = { succeeded: 0, failed: 0 }
  const body = JSON.stringify({ context: user })
  const headers = { 'content-type': 'application/json', 'x-api-key': sdkKey }
  const timer = setInterval(async () => {
    const request = { method: 'POST', headers, body }
    const answer = await fetch(`${url}/evaluator/evaluate`, request).catch(() => undefined)
    await answer?.arrayBuffer()
    if (answer?.status === 200) evaluations.succeeded += 1
    else evaluations.failed += 1
  }, EVALUATE_EVERY_MS)
  return {
    url,
    evaluations,
    get isNewCheckout() {
      return client.value('new-checkout')
    },
    setNewCheckout: (isOn) => setNewCheckout(url, isOn),
    async close() {
      clearInterval(timer)
      await client.close()
      await close()
    },
  }
}

async function createSdkKey(url: string): Promise<string> {
  const body = { name: 'Two processes', kind: 'client' }
  const created = await manage(url, 'POST', '/projects/shop/envs/live/sdk-keys', body)
  const { data } = (await created.json()) as { data: { key: string } }
  return data.key
}

async function setNewCheckout(url: string, isOn: boolean): Promise<number> {
  const path = '/projects/shop/envs/live/flags/new-checkout'
  const body = { is_active: true, default_variation_id: String(isOn) }
  const answer = await manage(url, 'PUT', path, body).catch(() => undefined)
  await answer?.arrayBuffer()
  return answer?.status ?? 0
}

function manage(url: string, method: string, path: string, body: object): Promise<Response> {
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' }
  return fetch(url + path, { method, headers, body: JSON.stringify(body) })
}
