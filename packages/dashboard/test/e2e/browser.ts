import { existsSync } from 'node:fs'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest'
import { recordFaults } from './faults.ts'

const PATH = process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium'

/** The time within which a page must show something on a busy machine. */
const TIMEOUT_MS = 60_000

/** The sizes of windows in which the flows run, in CSS pixels. */
export const VIEWPORTS = {
  wide: { width: 1280, height: 800 },
  narrow: { width: 390, height: 844 },
} as const

/** A width of the window. */
export type Width = keyof typeof VIEWPORTS
/** A colour scheme of the system. */
export type Theme = 'light' | 'dark'

/** The options of `openPage`. */
export interface PageOptions {
  readonly width?: Width
  readonly theme?: Theme
  /** The faults that the test provokes. All other faults fail the test. */
  readonly permitted?: readonly RegExp[]
  /** Prepares the context, such as with the cookie of a session. */
  readonly prepare?: (context: BrowserContext) => Promise<void>
}

/** Starts Chromium. The variable `CHROMIUM_PATH` replaces the system's browser. */
export function launchBrowser(): Promise<Browser> {
  if (!existsSync(PATH)) {
    throw new Error(`There is no ${PATH}. Install Chromium, or set CHROMIUM_PATH to its path.`)
  }
  return chromium.launch({
    executablePath: PATH,
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--no-first-run'],
  })
}

/** Starts a browser before the tests of a file, and closes it afterwards. Returns a getter. */
export function useBrowser(): () => Browser {
  let browser: Browser | undefined
  beforeAll(async () => {
    browser = await launchBrowser()
  })
  afterAll(() => browser?.close())
  return () => {
    if (browser === undefined) throw new Error('The browser is not started.')
    return browser
  }
}

/**
 * Opens an address in a new context, which has no cookies and no storage. At the end of the test the
 * context is closed, and the test fails if the page has violated its policy, logged an error, sent
 * a request to another host, or failed to load anything.
 */
export async function openPage(
  browser: Browser,
  address: string,
  options: PageOptions = {},
): Promise<Page> {
  const { width = 'wide', theme = 'light', permitted = [], prepare } = options
  const context = await browser.newContext({
    viewport: VIEWPORTS[width],
    colorScheme: theme,
    hasTouch: width === 'narrow',
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
  })
  context.setDefaultTimeout(TIMEOUT_MS)
  const faults = await recordFaults(context, new URL(address).origin)
  onTestFinished(async () => {
    await context.close()
    const others = faults.filter((fault) => !permitted.some((pattern) => pattern.test(fault)))
    expect(others, 'the faults of the page').toEqual([])
  })
  await prepare?.(context)
  const page = await context.newPage()
  await page.goto(address)
  return page
}
