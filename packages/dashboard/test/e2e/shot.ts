import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'

/** The folder of pictures for a review, which is not in the repository. */
const REVIEW = join(import.meta.dirname, 'pictures')
/** The folder of the pictures of the documentation. */
const DOCS = join(import.meta.dirname, '../../../../docs/pictures')

/**
 * Writes a picture of the page to `pictures`. With `FF_PICTURES=docs`, the pictures that
 * `docs/dashboard.md` contains are replaced instead.
 */
export async function shot(page: Page, name: string): Promise<void> {
  const isDocumented = process.env['FF_PICTURES'] === 'docs' && DOCUMENTED.has(name)
  const folder = isDocumented ? DOCS : REVIEW
  mkdirSync(folder, { recursive: true })
  await page.screenshot({ path: join(folder, `${name}.png`), animations: 'disabled' })
}

/** The names of the pictures that `docs/dashboard.md` contains. */
const DOCUMENTED: ReadonlySet<string> = new Set(['flags', 'flag', 'review', 'playground'])
