import type { Config } from './config.ts'
import type { DemoSecrets } from './demo.ts'

/** Returns the lines to print when the server is running. Only the first start has secrets. */
export function introduce(
  url: string,
  config: Config,
  secrets: DemoSecrets | undefined,
): readonly string[] {
  if (secrets === undefined) {
    return ['', `  ff is running at ${url}`, `  Data: ${config.dataDir}`, '']
  }
  const keys = secrets.sdkKeys.flatMap(({ environment, environmentId, key }) => [
    `    ${environment.padEnd(7)} ${key}`,
    `            (environment ${environmentId})`,
  ])
  return [
    '',
    `  ff is running at ${url}`,
    `  Data: ${config.dataDir} (new, with the flags of a demo shop)`,
    '',
    '  Store these secrets. They are shown only once.',
    '',
    `  Administrator's token (management, "Authorization: Bearer …")`,
    `    ${secrets.adminToken ?? 'the one in FF_ADMIN_TOKEN'}`,
    '',
    '  SDK keys (evaluation, "x-api-key: …")',
    ...keys,
    '',
    `  The shop's flags (management)`,
    `    ${url}/projects/${secrets.projectId}/flags`,
    '',
    '  Try it:',
    '',
    curlLine(url, secrets.sdkKeys[0]?.key ?? ''),
    '',
    `  API documentation: ${url}/docs`,
    '',
  ]
}

function curlLine(url: string, key: string): string {
  const body = JSON.stringify({
    context: { kind: 'user', key: 'user-1', plan: 'pro', country: 'DE' },
  })
  return `curl -s ${url}/evaluator/evaluate -H 'x-api-key: ${key}' -H 'content-type: application/json' -d '${body}'`
}
