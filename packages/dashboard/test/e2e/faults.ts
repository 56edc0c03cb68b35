import type { BrowserContext, ConsoleMessage, Page, Request } from 'playwright-core'

/** The name of the function of the page that records a violation of the policy. */
const REPORT = 'reportViolation'

/**
 * Records what must not happen in the pages of a context: violations of the content security policy,
 * errors on the console, exceptions, requests to other hosts, and failed requests.
 */
export async function recordFaults(context: BrowserContext, origin: string): Promise<string[]> {
  const faults: string[] = []
  await context.exposeBinding(REPORT, (_, text: string) => void faults.push(`policy: ${text}`))
  await context.addInitScript((name) => {
    document.addEventListener('securitypolicyviolation', (event) => {
      const { effectiveDirective, blockedURI, sourceFile, lineNumber } = event
      const place = `${sourceFile}:${lineNumber}`
      Reflect.get(window, name)(`${effectiveDirective} refuses ${blockedURI} (${place})`)
    })
  }, REPORT)
  context.on('page', (page) => recordPage(page, faults))
  context.on('request', (request) => {
    const url = new URL(request.url())
    if (/^https?:$/.test(url.protocol) && url.origin !== origin) {
      faults.push(`other host: ${request.url()}`)
    }
  })
  context.on('requestfailed', (request) => {
    const error = request.failure()?.errorText ?? ''
    // A closed stream, and a request that a later one replaces, are intended.
    if (error !== 'net::ERR_ABORTED') faults.push(`failed: ${describe(request)} ${error}`)
  })
  return faults
}

function recordPage(page: Page, faults: string[]): void {
  page.on('pageerror', (error) => faults.push(`exception: ${error.message}`))
  page.on('console', (message) => {
    if (message.type() === 'error' && !isLogInCheck(message)) {
      faults.push(`console: ${message.text()} (${message.location().url})`)
    }
  })
}

/** Returns `true` for the error that Chromium logs if the page finds that no user is logged in. */
function isLogInCheck(message: ConsoleMessage): boolean {
  return /status of 401/.test(message.text()) && message.location().url.endsWith('/auth/me')
}

function describe(request: Request): string {
  return `${request.method()} ${request.url()}`
}
