import type { Config } from './config.ts'
import type { DemoSecrets } from './demo/demo.ts'
import { DEMO_OWNER, DEMO_PROJECT } from './demo/demo-shop.ts'
import { placeOf, type StoreConfig } from './store.ts'

/** Prints lines for the operator. Resolves when they are written, and rejects if that fails. */
export type Print = (lines: readonly string[]) => void | Promise<void>

/** Returns the lines with the secrets of a new store, which are printed only once. */
export function describeSecrets(
  place: string,
  { adminToken, ownerLink, sdkKeys }: DemoSecrets,
): readonly string[] {
  const keys = sdkKeys.map(({ environment, key }) => `    ${environment.padEnd(7)} ${key}`)
  return [
    '',
    `  ${place} is new and contains the flags of a demo shop.`,
    '',
    '  Store these secrets. They are shown only once.',
    '',
    `  Administrator's token (management, "Authorization: Bearer …")`,
    `    ${adminToken ?? 'the one in FF_ADMIN_TOKEN'}`,
    '',
    '  SDK keys (evaluation, "x-api-key: …")',
    ...keys,
    ...(ownerLink === undefined ? [] : describeOwnerLink(ownerLink)),
  ]
}

function describeOwnerLink(link: string): readonly string[] {
  return ['', `  One-time link of ${DEMO_OWNER.email}, valid for seven days`, `    ${link}`]
}

/** The path of the dashboard, without a leading slash. */
export const DASHBOARD = 'dashboard'

type Settings = StoreConfig & Pick<Config, 'adminToken' | 'dashboard'>

/** Returns the lines to print when the server is running. Only the first start has secrets. */
export function introduce(
  url: string,
  { adminToken, dashboard, ...store }: Settings,
  secrets: DemoSecrets | undefined,
): readonly string[] {
  const access =
    adminToken === undefined
      ? "If the administrator's token is lost, set FF_ADMIN_TOKEN to a new one and restart."
      : 'The token in FF_ADMIN_TOKEN has full access.'
  const link = secrets?.ownerLink
  return [
    '',
    `  ff is running at ${url}`,
    `  Data: ${placeOf(store)}`,
    `  ${access}`,
    '',
    ...(secrets === undefined ? [] : describeDemo(url, secrets)),
    ...(link === undefined || dashboard ? [] : describeFirstLogIn(url, link)),
    `  API documentation: ${url}/docs`,
    ...(dashboard ? describeDashboard(`${url}/${DASHBOARD}`, link) : []),
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
    evaluationLine(url, sdkKeys[0]?.key ?? ''),
    '',
  ]
}

/** Returns the address of the dashboard. The first start adds the link to set a password. */
function describeDashboard(url: string, link: string | undefined): readonly string[] {
  if (link === undefined) return [`  Dashboard: ${url}`]
  return [
    '',
    `  Open this address to choose the password of ${DEMO_OWNER.email} and to log in:`,
    `  Dashboard: ${url}/accept#${link}`,
  ]
}

function describeFirstLogIn(url: string, link: string): readonly string[] {
  return [
    `  Set the password of ${DEMO_OWNER.email}: 12 or more characters in place of "…".`,
    '',
    passwordLine(url, link),
    '',
  ]
}

/** The password is a placeholder that the server refuses, so that the link stays valid. */
function passwordLine(url: string, token: string): string {
  const body = JSON.stringify({ token, new_password: '…' })
  return `curl -s ${url}/auth/password -H 'content-type: application/json' -d '${body}'`
}

function evaluationLine(url: string, key: string): string {
  const body = JSON.stringify({
    context: { kind: 'user', key: 'user-1', plan: 'pro', country: 'DE' },
  })
  return `curl -s ${url}/evaluator/evaluate -H 'x-api-key: ${key}' -H 'content-type: application/json' -d '${body}'`
}
