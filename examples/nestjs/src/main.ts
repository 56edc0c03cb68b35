import 'reflect-metadata'
import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import type { As } from '@ff/management'
import { createManagement } from '@ff/management/node'
import { createFlagServer, type FlagServer } from '@ff/server'
import { attachWebSocket, toNodeHandler } from '@ff/server/node'
import { sqlite } from '@ff/storage/sqlite'
import { checkHost, createExampleProject } from '@ff-examples/host-check'
import { type BeforeApplicationShutdown, Controller, Get, Inject, Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'

// #region embed
const LIVE = { project: 'site', environment: 'live' }
const FLAGS = Symbol('flags')

@Controller()
class PageController {
  readonly #flags: FlagServer<As>

  constructor(@Inject(FLAGS) flags: FlagServer<As>) {
    this.#flags = flags
  }

  @Get()
  async page(): Promise<string> {
    const maintenance = await this.#flags.value(LIVE, 'maintenance', {}, false)
    return maintenance ? 'Back soon.' : 'Welcome.'
  }
}

const createFlags = () =>
  createFlagServer({
    ...sqlite({ path: ':memory:' }),
    basePath: '/flags',
    management: createManagement(),
  })

@Module({
  controllers: [PageController],
  providers: [{ provide: FLAGS, useFactory: createFlags }],
})
class AppModule implements BeforeApplicationShutdown {
  readonly #flags: FlagServer<As>

  constructor(@Inject(FLAGS) flags: FlagServer<As>) {
    this.#flags = flags
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.#flags.close()
  }
}

const app = await NestFactory.create(AppModule, {
  logger: ['error', 'warn'],
  forceCloseConnections: true,
})
const flags = app.get<FlagServer<As>>(FLAGS)
app.use('/flags', toNodeHandler(flags))
const server = app.getHttpServer()
server.keepAliveTimeout = 76_000
attachWebSocket(server, flags)
app.enableShutdownHooks()
await app.listen(0, '127.0.0.1')
// #endregion

const project = await createExampleProject(flags)

const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const page = await (await fetch(url)).text()
assert.equal(page, 'Welcome.')
console.log('Response of the app:', page)

await checkHost({ url: `${url}/flags`, project, hasSocket: true })

await app.close()
