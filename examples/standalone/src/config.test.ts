import { describe, expect, it } from 'vitest'
import { ConfigError, readConfig } from './config.ts'

describe('readConfig', () => {
  it('listens on 127.0.0.1:4400 and keeps data in ./data when nothing is set', () => {
    const config = readConfig({})
    expect(config).toMatchObject({ host: '127.0.0.1', port: 4400, adminToken: undefined })
    expect(config.dataDir).toMatch(/[/\\]data$/)
  })

  it('takes every setting from its variable', () => {
    const env = { PORT: '0', HOST: '::1', FF_DATA_DIR: '/srv/ff', FF_ADMIN_TOKEN: 'a'.repeat(32) }
    expect(readConfig(env)).toEqual({
      port: 0,
      host: '::1',
      dataDir: '/srv/ff',
      adminToken: 'a'.repeat(32),
    })
  })

  it('treats an empty variable like an absent one', () => {
    expect(readConfig({ PORT: '', HOST: ' ', FF_ADMIN_TOKEN: '' })).toEqual(readConfig({}))
  })

  it.each(['-1', '65536', '4400x', '1e3', '44 00'])('refuses the port %j by name', (PORT) => {
    expect(() => readConfig({ PORT })).toThrow(/^PORT must be/)
  })

  it.each(['short', 'with a space in the middle'])('refuses the token %j by name', (token) => {
    expect(() => readConfig({ FF_ADMIN_TOKEN: token })).toThrow(ConfigError)
    expect(() => readConfig({ FF_ADMIN_TOKEN: token })).toThrow(/^FF_ADMIN_TOKEN must have/)
  })
})
