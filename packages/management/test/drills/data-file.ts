import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Storage } from '@ff/storage'
import { postgres } from '@ff/storage/postgres'
import { sqlite } from '@ff/storage/sqlite'
import { onTestFinished } from 'vitest'
import { type Json, type Tenant, World } from '../world/world.ts'

/** Two organizations of a store, and the credentials to use it over HTTP. */
export interface Tenants {
  readonly tenant: Tenant
  readonly sdkKey: string
  /** An SDK key of another organization, which always serves `steady: false`. */
  readonly bystanderKey: string
}

/** A data file with two organizations. */
export interface DataFile extends Tenants {
  readonly path: string
}

/** Creates a data file, which is deleted after the test. */
export async function createDataFile(): Promise<DataFile> {
  const folder = await mkdtemp(join(tmpdir(), 'ff-drill-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const path = join(folder, 'flags.db')
  return { path, ...(await addTenants(path)) }
}

/** Adds the organizations to the store at a location, which no server uses. */
export function addTenants(location: string): Promise<Tenants> {
  return withStorage(location, async (storage) => {
    const world = await World.create(storage)
    const tenant = await world.addTenant('Acme')
    const sdkKey = await addSdkKey(world, tenant)
    const bystander = await world.addTenant('Bystander')
    await world.call('POST', `/projects/${bystander.project.id}/flags`, {
      token: bystander.tokens.editor,
      body: { key: 'steady', type: 'boolean' },
    })
    return { tenant, sdkKey, bystanderKey: await addSdkKey(world, bystander) }
  })
}

async function addSdkKey(world: World, { project, live }: Tenant): Promise<string> {
  const params = { projectId: project.id, environmentId: live.id }
  const body = { name: 'drill', kind: 'client', rateLimit: 1_000_000 } as const
  return (await world.management.createSdkKey({ params, body })).key
}

/**
 * Opens the store at a location, the path of a data file or the URL of a PostgreSQL database, and
 * closes it after `work`. No server may have a data file open.
 */
export async function withStorage<T>(
  location: string,
  work: (storage: Storage) => Promise<T>,
): Promise<T> {
  const isPostgres = location.startsWith('postgres:')
  const { storage } = isPostgres ? postgres({ url: location }) : sqlite({ path: location })
  try {
    await storage.migrate()
    return await work(storage)
  } finally {
    await storage.close()
  }
}

/** The status and the data of a response. */
export interface Answer {
  readonly status: number
  readonly data: Json
}

interface Request {
  readonly method: 'GET' | 'POST' | 'PUT'
  readonly token: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** Sends a management request over HTTP. Returns `undefined` without a complete response. */
export async function ask(address: string, request: Request): Promise<Answer | undefined> {
  const { method, token, body, headers } = request
  try {
    const response = await fetch(address, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const { data } = (await response.json()) as Json
    return { status: response.status, data }
  } catch {
    return undefined
  }
}

/** Evaluates all flags over HTTP. Returns the status and the values. */
export async function evaluate(url: string, sdkKey: string): Promise<Answer> {
  const response = await fetch(`${url}/evaluator/evaluate`, {
    method: 'POST',
    headers: { 'x-api-key': sdkKey, 'content-type': 'application/json' },
    body: JSON.stringify({ context: { kind: 'user', key: 'user-1' } }),
  })
  return { status: response.status, data: await response.json() }
}
