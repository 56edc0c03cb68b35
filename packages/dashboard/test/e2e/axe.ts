import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults, NodeResult } from 'axe-core'
import type { Page } from 'playwright-core'

const SOURCE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/**
 * Returns the accessibility violations of a page as sentences; empty if there are none. The policy
 * of the page refuses a script element, so the source is evaluated. With `part`, only the elements
 * that match this selector are checked, such as a dialog, which hides the page behind it.
 */
export async function axe(page: Page, part?: string): Promise<readonly string[]> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(SOURCE)
  const include = part === undefined ? '' : `include: [[${JSON.stringify(part)}]],`
  // An announcement of React Aria names a button, which a closed dialog has removed.
  const results = await page.evaluate<AxeResults>(
    `axe.run({ ${include} exclude: [['[data-live-announcer]']] })`,
  )
  return results.violations.flatMap(({ id, help, nodes }) =>
    nodes.map((node) => `${id}: ${help} (${describe(node)})`),
  )
}

function describe({ target, failureSummary = '' }: NodeResult): string {
  return `${target.join(' ')}: ${failureSummary.replace(/\s+/g, ' ')}`
}
