import {
  createRequestFlags,
  type RequestFlagsOptions,
  type RequestWithFlags,
} from './request-flags.ts'

export type { RequestFlagsOptions, RequestWithFlags } from './request-flags.ts'

/** The part of a Fastify instance that the plugin uses. */
export interface DecoratedApplication {
  decorateRequest(name: string, property: { getter(this: object): unknown }): unknown
}

/** A plugin of Fastify. */
export type RequestFlagsPlugin = (application: DecoratedApplication) => Promise<void>

/**
 * Creates a plugin that adds `request.flags`: the flags for the context of the request. A request
 * that reads no flag costs nothing. Neither the plugin nor a flag throws.
 *
 * @example
 * declare module 'fastify' {
 *   interface FastifyRequest { readonly flags: FlagClientOf<typeof shopFlags> }
 * }
 * await app.register(requestFlags({ client, contextOf: (request: FastifyRequest) => … }))
 */
export function requestFlags<Values, Request extends RequestWithFlags<Values>>(
  options: RequestFlagsOptions<Values, Request>,
): RequestFlagsPlugin {
  const flagsOf = createRequestFlags(options)
  const plugin: RequestFlagsPlugin = async (application) => {
    application.decorateRequest('flags', {
      getter() {
        return flagsOf(this as Request)
      },
    })
  }
  // With this property, Fastify adds the flags to all requests, and not only to those of the routes
  // that the plugin itself defines.
  return Object.assign(plugin, { [Symbol.for('skip-override')]: true })
}
