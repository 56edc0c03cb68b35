import type { FlagServerOptions } from '@ff/server'

/** Returns the option for spans if the package `@opentelemetry/api` is installed beside the server. */
export async function loadOpenTelemetry(): Promise<Pick<FlagServerOptions, 'openTelemetry'>> {
  try {
    return { openTelemetry: await import('@opentelemetry/api') }
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND')
      return {}
    throw error
  }
}
