import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { readConfig } from '../src/config.ts'
import { startStandalone } from '../src/standalone.ts'

/** An identity provider that serves only its discovery document. */
let provider: Server
let issuer: string

beforeEach(async () => {
  provider = createServer((_, response) => {
    const addresses = {
      authorization_endpoint: `${issuer}/login`,
      token_endpoint: `${issuer}/token`,
    }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ issuer, ...addresses }))
  })
  provider.listen(0, '127.0.0.1')
  await once(provider, 'listening')
  issuer = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`
})

afterEach(() => void provider.close())

async function start(env: Readonly<Record<string, string>>): Promise<Response> {
  const dataDir = mkdtempSync(join(tmpdir(), 'ff-oidc-'))
  const config = readConfig({ PORT: '0', FF_DATA_DIR: dataDir, ...env })
  const standalone = await startStandalone(config, () => undefined)
  const response = await fetch(`${standalone.url}/auth/oidc/start`, { redirect: 'manual' })
  await standalone.close()
  rmSync(dataDir, { recursive: true })
  return response
}

it('The standalone server redirects log-ins to the configured identity provider', async () => {
  const FF_PUBLIC_URL = 'https://flags.acme.test'
  const client = { FF_OIDC_CLIENT_ID: 'flags', FF_OIDC_CLIENT_SECRET: 'a secret' }
  const response = await start({ FF_PUBLIC_URL, FF_OIDC_ISSUER: issuer, ...client })
  expect(response.status).toBe(302)
  const location = new URL(response.headers.get('location') ?? '')
  expect(location.origin + location.pathname).toBe(`${issuer}/login`)
  expect(location.searchParams.get('client_id')).toBe('flags')
  const redirectUri = 'https://flags.acme.test/auth/oidc/callback'
  expect(location.searchParams.get('redirect_uri')).toBe(redirectUri)
  expect((await start({ FF_PUBLIC_URL })).status).toBe(404)
})
