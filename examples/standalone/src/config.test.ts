import { availableParallelism } from 'node:os'
import { describe, expect, it } from 'vitest'
import { ConfigError } from './config/config-error.ts'
import { describeTlsModes } from './config/database-config.ts'
import { readConfig } from './config.ts'

describe('readConfig', () => {
  it('readConfig defaults to 127.0.0.1:4400 and the data directory ./data', () => {
    const config = readConfig({})
    expect(config).toMatchObject({ host: '127.0.0.1', port: 4400, adminToken: undefined })
    expect(config.dataDir).toMatch(/[/\\]data$/)
  })

  it('readConfig reads each setting from its variable', () => {
    const place = { PORT: '0', HOST: '::1', FF_DATA_DIR: '/srv/ff', FF_WORKERS: '3' }
    const database = {
      DATABASE_URL: 'postgres://ff@pooler/flags',
      DATABASE_LISTEN_URL: 'postgres://ff@localhost/flags',
      FF_DATABASE_CONNECTIONS: '60',
      REDIS_URL: 'redis://localhost:6379/2',
    }
    const keys = { FF_SECRET_KEY: `${'c'.repeat(64)},${'d'.repeat(64)}` }
    const switches = { FF_WEBHOOKS_ALLOW_LOOPBACK: '1', FF_DEMO_TRAFFIC: '1', FF_DASHBOARD: '0' }
    const limits = {
      FF_MANAGEMENT_RATE_LIMIT: '1200',
      FF_MAX_CONTEXTS_PER_ENVIRONMENT: '5000',
      FF_MAX_CONTEXT_MB_PER_ENVIRONMENT: '16',
      FF_MAX_CONTEXTS_PER_ORGANIZATION: '50000',
      FF_MAX_CONTEXT_MB_PER_ORGANIZATION: '64',
      FF_MAX_FLAG_SET_MB: '96',
      FF_MAX_HELD_CONTEXT_BYTES: '1048576',
      FF_MAX_PENDING_SOCKETS_PER_ADDRESS: '256',
    }
    const stripe = {
      FF_STRIPE_SECRET_KEY: 'sk_test_1',
      FF_STRIPE_WEBHOOK_SECRET: 'whsec_1',
      FF_STRIPE_RETURN_URL: 'https://flags.acme.test/',
    }
    const oidc = {
      FF_PUBLIC_URL: 'https://flags.acme.test',
      FF_OIDC_ISSUER: 'https://login.acme.test',
      FF_OIDC_NAME: 'Keycloak',
      FF_OIDC_CLIENT_ID: 'flags',
      FF_OIDC_CLIENT_SECRET: 'a secret',
    }
    const env = {
      ...place,
      ...database,
      ...keys,
      ...switches,
      ...limits,
      ...stripe,
      ...oidc,
      FF_ADMIN_TOKEN: 'a'.repeat(32),
      FF_ADMIN_EMAIL: 'root@acme.test',
      FF_ADMIN_PASSWORD: 'a password for the root',
      FF_TRUST_PROXY: 'true',
      FF_BASE_PATH: '/ff/flags/',
      FF_JOBS: '1',
      FF_KEEP_ALIVE_S: '20',
      FF_METRICS_PUBLIC: 'true',
      FF_LOG_LEVEL: 'DEBUG',
      FF_LOG_FORMAT: 'json',
    }
    expect(readConfig(env)).toEqual({
      port: 0,
      host: '::1',
      dataDir: '/srv/ff',
      database: {
        url: 'postgres://ff@pooler/flags',
        listenUrl: 'postgres://ff@localhost/flags',
        connections: 60,
      },
      redisUrl: 'redis://localhost:6379/2',
      workers: 3,
      adminToken: 'a'.repeat(32),
      administrator: { email: 'root@acme.test', password: 'a password for the root' },
      trustProxy: true,
      basePath: '/ff/flags',
      keepAliveMs: 20_000,
      jobs: 'activate',
      limits: {
        managementRateLimit: 1200,
        maxContextsPerEnvironment: 5000,
        maxFlagSetBytes: 96 * 1024 * 1024,
        maxContextBytesPerEnvironment: 16 * 1024 * 1024,
        maxContextsPerOrganization: 50_000,
        maxContextBytesPerOrganization: 64 * 1024 * 1024,
        maxHeldContextBytes: 1_048_576,
        maxPendingSocketsPerAddress: 256,
      },
      metricsArePublic: true,
      secretKeys: ['c'.repeat(64), 'd'.repeat(64)],
      webhooksAllowLoopback: true,
      dashboard: false,
      demoTraffic: true,
      stripe: {
        secretKey: 'sk_test_1',
        webhookSecret: 'whsec_1',
        returnUrl: 'https://flags.acme.test/',
      },
      publicUrl: 'https://flags.acme.test',
      oidc: {
        issuer: 'https://login.acme.test',
        name: 'Keycloak',
        clientId: 'flags',
        clientSecret: 'a secret',
      },
      log: { level: 'debug', format: 'json' },
    })
  })

  it('readConfig allows each server 40 connections to the database, and each worker 3 at least', () => {
    const connections = (FF_WORKERS: string, FF_DATABASE_CONNECTIONS?: string) =>
      readConfig({ DATABASE_URL: 'postgres://a/b', FF_WORKERS, FF_DATABASE_CONNECTIONS }).database
        ?.connections
    expect([connections('1'), connections('13'), connections('20')]).toEqual([40, 40, 60])
    expect([connections('1', '3'), connections('2', '500')]).toEqual([3, 500])
    for (const bad of ['5', '-6', '6.5', 'ten', '10001']) {
      expect(() => connections('2', bad)).toThrow(
        `FF_DATABASE_CONNECTIONS must be an integer from 6 (3 for each of FF_WORKERS) to 10000, not "${bad}".`,
      )
    }
  })

  it('readConfig accepts the DATABASE_LISTEN_URL `none`, and refuses another word and one without DATABASE_URL', () => {
    const database = { DATABASE_URL: 'postgres://a/b' }
    expect(readConfig(database).database).toEqual({ url: 'postgres://a/b', connections: 40 })
    const without = readConfig({ ...database, DATABASE_LISTEN_URL: 'none' }).database
    expect(without).toMatchObject({ listenUrl: false })
    expect(() => readConfig({ DATABASE_LISTEN_URL: 'postgres://a/b' })).toThrow(
      new ConfigError('DATABASE_LISTEN_URL requires DATABASE_URL.'),
    )
    for (const bad of ['off', 'postgres://ff:hid/den@a/b']) {
      const refusal = /^DATABASE_LISTEN_URL must be a URL such as "postgres:(?!.*hid)/
      expect(() => readConfig({ ...database, DATABASE_LISTEN_URL: bad })).toThrow(refusal)
    }
  })

  it.each(['localhost', 'https://hidden@localhost', 'redis://ff:hid/den@a', 'redis://a/hidden'])(
    'readConfig refuses a malformed REDIS_URL without repeating it: %j',
    (REDIS_URL) => {
      const refusal = /^REDIS_URL must be a URL such as "redis:(?!.*hid)/
      expect(() => readConfig({ DATABASE_URL: 'postgres://a/b', REDIS_URL })).toThrow(refusal)
    },
  )

  it('readConfig refuses REDIS_URL without DATABASE_URL', () => {
    expect(() => readConfig({ REDIS_URL: 'redis://localhost' })).toThrow(
      new ConfigError(
        'REDIS_URL requires DATABASE_URL: servers can share Redis only if they share a PostgreSQL database.',
      ),
    )
  })

  it('readConfig treats an empty variable like an absent one', () => {
    expect(readConfig({ PORT: '', HOST: ' ', FF_ADMIN_TOKEN: '' })).toEqual(readConfig({}))
  })

  it.each(['-1', '65536', '4400x', '1e3', '44 00'])(
    'readConfig refuses the port %j and names the variable',
    (PORT) => {
      expect(() => readConfig({ PORT })).toThrow(/^PORT must be/)
    },
  )

  it.each([
    'ff',
    '//',
    '/ff//x',
    '/../ff',
    '/ff/.',
    '/a%2fb',
    '/a b',
    '/a?b',
    '/a#b',
    'https://a/b',
  ])('readConfig refuses the base path %j', (FF_BASE_PATH) => {
    expect(() => readConfig({ FF_BASE_PATH })).toThrow(
      `FF_BASE_PATH must be a path such as /ff, of letters, digits, ".", "_", "~" and "-" between slashes, not "${FF_BASE_PATH}".`,
    )
  })

  it('readConfig accepts paths of usual characters, and no path for the root', () => {
    const paths = ['', ' ', '/', '/ff', '/ff/', '/v1.2/~me/a_b-c', '/..a/...']
    const read = paths.map((FF_BASE_PATH) => readConfig({ FF_BASE_PATH }).basePath)
    expect(read).toEqual(['', '', '', '/ff', '/ff', '/v1.2/~me/a_b-c', '/..a/...'])
  })

  it('readConfig turns background jobs off, or activates the store, by FF_JOBS', () => {
    const values = [undefined, '', '1', 'true', '0', 'false']
    const modes = ['on', 'on', 'activate', 'activate', 'off', 'off']
    expect(values.map((FF_JOBS) => readConfig({ FF_JOBS }).jobs)).toEqual(modes)
    expect(() => readConfig({ FF_JOBS: 'on' })).toThrow('FF_JOBS must be 1, true, 0 or false')
  })

  it.each(['0', '-1', '1.5', '3601', '76s', 'no'])(
    'readConfig refuses a keep-alive time of %j',
    (FF_KEEP_ALIVE_S) => {
      expect(() => readConfig({ FF_KEEP_ALIVE_S })).toThrow(
        `FF_KEEP_ALIVE_S must be a number from 1 to 3600, not "${FF_KEEP_ALIVE_S}".`,
      )
    },
  )

  it.each([
    ['postgres://a/b?sslmode=require', 'DATABASE_URL: sslmode=require verifies the certificate'],
    ['postgres://a/b?application_name=c&sslmode=prefer', 'DATABASE_URL: sslmode=prefer verifies'],
    ['postgres://a/b?sslmode=verify-full', undefined],
    ['postgres://a/b?sslmode=disable', undefined],
    ['postgres://a/b?sslmode=require&uselibpqcompat=true', undefined],
  ])('describeTlsModes explains the mode of %s', (DATABASE_URL, line) => {
    const lines = describeTlsModes({ DATABASE_URL })
    expect(lines).toEqual(line === undefined ? [] : [expect.stringContaining(line)])
  })

  it('readConfig serves the dashboard unless FF_DASHBOARD is 0 or false', () => {
    const values = [undefined, '', '1', 'TRUE', '0', 'false']
    const served = values.map((FF_DASHBOARD) => readConfig({ FF_DASHBOARD }).dashboard)
    expect(served).toEqual([true, true, true, true, false, false])
    expect(() => readConfig({ FF_DASHBOARD: 'no' })).toThrow(
      'FF_DASHBOARD must be 1, true, 0 or false, not "no".',
    )
  })

  it('readConfig logs the level info by default, in the format that suits standard error', () => {
    expect(readConfig({}).log).toEqual({ level: 'info', format: undefined })
  })

  it.each([
    ['FF_LOG_LEVEL', 'verbose', 'trace, debug, info, warn, error, silent'],
    ['FF_LOG_FORMAT', 'xml', 'json, pretty'],
  ])('readConfig refuses an unknown %s and lists the choices', (name, value, choices) => {
    const message = `${name} must be one of ${choices}, not "${value}".`
    expect(() => readConfig({ [name]: value })).toThrow(new ConfigError(message))
  })

  it('readConfig returns one worker by default and one per core for auto', () => {
    expect(readConfig({}).workers).toBe(1)
    expect(readConfig({ FF_WORKERS: ' 64 ' }).workers).toBe(64)
    expect(readConfig({ FF_WORKERS: 'auto' }).workers).toBe(Math.min(availableParallelism(), 64))
  })

  it.each(['0', '65', '-1', '1.5', '2x', 'all'])(
    'readConfig refuses %j workers and names the variable',
    (FF_WORKERS) => {
      expect(() => readConfig({ FF_WORKERS })).toThrow(/^FF_WORKERS must be/)
    },
  )

  it('readConfig omits limits that are not set', () => {
    expect(readConfig({}).limits).toEqual({})
  })

  it.each([
    ['FF_MANAGEMENT_RATE_LIMIT', '0'],
    ['FF_MANAGEMENT_RATE_LIMIT', '10k'],
    ['FF_MAX_CONTEXTS_PER_ENVIRONMENT', '0'],
    ['FF_MAX_CONTEXTS_PER_ORGANIZATION', '-5'],
    ['FF_MAX_CONTEXT_MB_PER_ENVIRONMENT', 'much'],
    ['FF_MAX_FLAG_SET_MB', '0'],
    ['FF_MAX_FLAG_SET_MB', '-64'],
    ['FF_MAX_FLAG_SET_MB', '64MB'],
    ['FF_MAX_HELD_CONTEXT_BYTES', '524287'],
    ['FF_MAX_HELD_CONTEXT_BYTES', '128 MiB'],
    ['FF_MAX_PENDING_SOCKETS_PER_ADDRESS', '-1'],
    ['FF_MAX_PENDING_SOCKETS_PER_ADDRESS', '1e3'],
    ['FF_MAX_PENDING_SOCKETS_PER_ADDRESS', '1.5'],
  ])('readConfig refuses the limit %s with the value %j', (name, value) => {
    expect(() => readConfig({ [name]: value })).toThrow(new RegExp(`^${name} must be`))
  })

  it.each([
    ['FF_MAX_CONTEXT_MB_PER_ORGANIZATION', '8589934592', 8_589_934_591],
    ['FF_MAX_PENDING_SOCKETS_PER_ADDRESS', '9'.repeat(400), Number.MAX_SAFE_INTEGER],
  ])(
    'readConfig refuses the limit %s with the value %s, which is too large',
    (name, value, most) => {
      expect(() => readConfig({ [name]: value })).toThrow(`${name} must be at most ${most}, not`)
    },
  )

  it.each(['short', 'c'.repeat(63), `${'c'.repeat(64)},short`])(
    'readConfig refuses the secret key %j and names the variable',
    (FF_SECRET_KEY) => {
      expect(() => readConfig({ FF_SECRET_KEY })).toThrow(/^FF_SECRET_KEY must be/)
    },
  )

  it.each([
    ['FF_STRIPE_SECRET_KEY', undefined],
    ['FF_STRIPE_SECRET_KEY', 'pk_test_public'],
    ['FF_STRIPE_WEBHOOK_SECRET', undefined],
    ['FF_STRIPE_WEBHOOK_SECRET', 'sk_test_1'],
    ['FF_STRIPE_RETURN_URL', 'javascript:alert(1)'],
  ])('readConfig refuses Stripe settings with %s set to %j', (name, value) => {
    const whole = { FF_STRIPE_SECRET_KEY: 'sk_test_1', FF_STRIPE_WEBHOOK_SECRET: 'whsec_1' }
    expect(() => readConfig({ ...whole, [name]: value })).toThrow(new RegExp(`^${name} must be`))
  })

  it.each([
    ['FF_OIDC_ISSUER', undefined],
    ['FF_OIDC_ISSUER', 'login.acme.test'],
    ['FF_OIDC_ISSUER', 'http://login.acme.test'],
    ['FF_OIDC_ISSUER', 'http://localhost.evil.test'],
    ['FF_OIDC_CLIENT_ID', undefined],
    ['FF_OIDC_CLIENT_SECRET', ' '],
    ['FF_PUBLIC_URL', undefined],
    ['FF_PUBLIC_URL', 'flags.acme.test'],
    ['FF_PUBLIC_URL', 'https://flags.acme.test/flags'],
    ['FF_PUBLIC_URL', 'https://flags.acme.test:99999'],
  ])('readConfig refuses identity provider settings with %s set to %j', (name, value) => {
    const whole = {
      FF_PUBLIC_URL: 'http://127.0.0.1:4400',
      FF_OIDC_ISSUER: 'http://localhost:8080/realms/acme',
      FF_OIDC_CLIENT_ID: 'flags',
      FF_OIDC_CLIENT_SECRET: 'a secret',
    }
    expect(readConfig(whole).oidc).toBeDefined()
    expect(() => readConfig({ ...whole, [name]: value })).toThrow(new RegExp(`^${name} must be`))
  })

  it.each([
    'https://ada:s3cret@flags.acme.test',
    'ada:s3cret@flags.acme.test',
    'https://a@s3cret@x',
  ])('The error of FF_PUBLIC_URL does not contain the credentials of %s', (url) => {
    const refusal = () => readConfig({ FF_PUBLIC_URL: url })
    expect(refusal).toThrow(/^FF_PUBLIC_URL must be/)
    expect(refusal).not.toThrow(/s3cret/)
  })

  it.each(['short', 'with a space in the middle'])(
    'readConfig refuses the token %j and names the variable',
    (token) => {
      expect(() => readConfig({ FF_ADMIN_TOKEN: token })).toThrow(ConfigError)
      expect(() => readConfig({ FF_ADMIN_TOKEN: token })).toThrow(/^FF_ADMIN_TOKEN must have/)
    },
  )

  it.each([
    ['root@acme.test', '', 'FF_ADMIN_PASSWORD'],
    ['root@acme.test', 'elevenchars', 'FF_ADMIN_PASSWORD'],
    ['root@acme.test', 'x'.repeat(257), 'FF_ADMIN_PASSWORD'],
    ['', 'a password for the root', 'FF_ADMIN_EMAIL'],
    ['root', 'a password for the root', 'FF_ADMIN_EMAIL'],
  ])('readConfig refuses the administrator %j with the password %j', (email, password, name) => {
    const env = { FF_ADMIN_EMAIL: email, FF_ADMIN_PASSWORD: password }
    const refusal = new RegExp(`^${name} must`)
    expect(() => readConfig(env)).toThrow(refusal)
    if (password !== '') expect(() => readConfig(env)).not.toThrow(password)
  })

  it('readConfig accepts 1, true, 0 and false for a switch and refuses other values', () => {
    const isOn = (text: string) => readConfig({ FF_METRICS_PUBLIC: text }).metricsArePublic
    expect(['1', 'true', 'TRUE', ' 1 '].map(isOn)).toEqual([true, true, true, true])
    expect(['', '0', 'false'].map(isOn)).toEqual([false, false, false])
    expect(() => isOn('yes')).toThrow(/^FF_METRICS_PUBLIC must be/)
  })
})
