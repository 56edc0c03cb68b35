import type { Page } from 'playwright-core'

/** Returns the number of pixels by which the page is wider than the window; 0 if it fits. */
export function overflowOf(page: Page): Promise<number> {
  return page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement
    return Math.max(0, scrollWidth - clientWidth)
  })
}

/** Returns the texts that do not fit into their elements. Values of flags are cut on purpose. */
export function cutTextsOf(page: Page): Promise<readonly string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll('body *:not(code, .visually-hidden, .visually-hidden *)')]
      .filter((element) => {
        const { overflow, textOverflow, webkitLineClamp } = getComputedStyle(element)
        const isCut = textOverflow === 'ellipsis' || webkitLineClamp !== 'none'
        if (overflow !== 'hidden' || !isCut) return false
        const { scrollWidth, clientWidth, scrollHeight, clientHeight } = element
        return scrollWidth > clientWidth || scrollHeight > clientHeight + 1
      })
      .map(({ textContent }) => textContent),
  )
}

/** Waits until the page shows its content: a heading, and nothing that is being loaded. */
export async function settled(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).first().waitFor()
  await page.waitForFunction(
    (loading) =>
      ![...document.querySelectorAll('[role=status]')].some((each) =>
        each.textContent?.includes(loading),
      ),
    'Loading',
  )
}
