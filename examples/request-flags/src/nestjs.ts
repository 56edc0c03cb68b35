import 'reflect-metadata'
import { requestFlags } from '@ff/client/express'
import {
  Controller,
  createParamDecorator,
  type DynamicModule,
  type ExecutionContext,
  Get,
  Inject,
  type MiddlewareConsumer,
  Module,
  type NestModule,
  type OnModuleDestroy,
} from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import type { Request } from 'express'
import { contextOf, createShopClient, type ShopClient, type ShopFlags } from './client.ts'

// #region nestjs
const CLIENT = Symbol('flag client')

/** Passes the flags of the request to a parameter of a handler. */
const Flags = createParamDecorator((_data: undefined, context: ExecutionContext): ShopFlags => {
  return context.switchToHttp().getRequest<Request>().flags
})

/** Evaluates the flags of all requests. The client lives as long as the module. */
@Module({})
class FlagsModule implements NestModule, OnModuleDestroy {
  readonly #client: ShopClient

  constructor(@Inject(CLIENT) client: ShopClient) {
    this.#client = client
  }

  static forServer(server: { readonly url: string; readonly sdkKey: string }): DynamicModule {
    const useFactory = async () => {
      const client = createShopClient(server)
      await client.ready()
      return client
    }
    return { module: FlagsModule, providers: [{ provide: CLIENT, useFactory }] }
  }

  configure(consumer: MiddlewareConsumer): void {
    const client = this.#client
    const middleware = requestFlags({ client, contextOf: (request: Request) => contextOf(request) })
    consumer.apply(middleware).forRoutes('{*path}')
  }

  async onModuleDestroy(): Promise<void> {
    await this.#client.close()
  }
}

@Controller()
class CheckoutController {
  @Get('checkout')
  checkout(@Flags() flags: ShopFlags): string {
    return flags.value('new-checkout') ? 'new checkout' : 'old checkout'
  }
}
// #endregion

/** Creates the application. */
export async function createNestApp(server: { readonly url: string; readonly sdkKey: string }) {
  @Module({ imports: [FlagsModule.forServer(server)], controllers: [CheckoutController] })
  class AppModule {}
  return NestFactory.create(AppModule, { logger: ['error', 'warn'] })
}
