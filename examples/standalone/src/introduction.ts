import type { Config } from './config.ts'
import { DEMO_PROJECT, type DemoSecrets } from './demo.ts'

/** Prints lines for the operator. Resolves when they are written, and rejects if that fails. */
export type Print = (lines: readonly string[]) => void | Promise<void>

/** Returns the lines with the secrets of a new store, which are printed only once. */
export function describeSecrets(dataDir: string, { adminToken, sdkKeys }: DemoSecrets) {
  const keys = sdkKeys.map(({ environment, key }) => `    ${environment.padEnd(7)} ${key}`)
  return [
    '',
    `  ${dataDir} is new and contains the flags of a demo shop.`,
    '',
    '  Store these secrets. They are shown only once.',
    '',
    `  Administrator's token (management, "Authorization: Bearer …")`,
    `    ${adminToken ?? 'the one in FF_ADMIN_TOKEN'}`,
    '',
    '  SDK keys (evaluation, "x-api-key: …")',
    ...keys,
  ]
}

/** Returns the lines to print when the server is running. Only the first start has secrets. */
export function introduce(
  url: string,
  { dataDir, adminToken }: Pick<Config, 'dataDir' | 'adminToken'>,
  secrets: DemoSecrets | undefined,
): readonly string[] {
  const access =
    adminToken === undefined
      ? "If the administrator's token is lost, set FF_ADMIN_TOKEN to a new one and restart."
      : 'The token in FF_ADMIN_TOKEN has full access.'
  return [
    '',
    `  ff is running at ${url}`,
    `  Data: ${dataDir}`,
    `  ${access}`,
    '',
    ...(secrets === undefined ? [] : describeDemo(url, secrets)),
    `  API documentation: ${url}/docs`,
    '',
  ]
}

function describeDemo(url: string, { sdkKeys }: DemoSecrets): readonly string[] {
  return [
    `  The shop's flags (management)`,
    `    ${url}/projects/${DEMO_PROJECT.key}/flags`,
    '',
    '  Try it:',
    '',
    curlLine(url, sdkKeys[0]?.key ?? ''),
    '',
  ]
}

function curlLine(url: string, key: string): string {
  const body = JSON.stringify({
    context: { kind: 'user', key: 'user-1', plan: 'pro', country: 'DE' },
  })
  return `curl -s ${url}/evaluator/evaluate -H 'x-api-key: ${key}' -H 'content-type: application/json' -d '${body}'`
}
