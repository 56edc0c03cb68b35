import type { Locator, Page } from 'playwright-core'
import { typeText } from './typed-text.ts'

/** The number of presses of Tab after which an element counts as not reachable. */
const MOST_STOPS = 200

/** Uses a page by keyboard alone. */
export class Keyboard {
  readonly #page: Page

  constructor(page: Page) {
    this.#page = page
  }

  /** Presses Tab until an element has the focus. Throws if it cannot be reached. */
  async tabTo(target: Locator): Promise<void> {
    await target.first().waitFor()
    for (let stop = 0; stop < MOST_STOPS; stop += 1) {
      if (await hasFocus(target)) return
      await this.#page.keyboard.press('Tab')
    }
    throw new Error(`Tab does not reach ${target}.`)
  }

  /** Moves the focus to a button, link or option, and presses Enter. */
  async open(target: Locator): Promise<void> {
    await this.tabTo(target)
    await this.#page.keyboard.press('Enter')
  }

  /** Moves the focus to a switch or checkbox, and presses Space. */
  async toggle(target: Locator): Promise<void> {
    await this.tabTo(target)
    await this.#page.keyboard.press('Space')
  }

  /** Moves the focus to a field, and replaces its text. */
  async fill(target: Locator, text: string): Promise<void> {
    await this.tabTo(target)
    await typeText(this.#page, target, text)
  }

  /** Opens a select and chooses the option with a name. */
  async choose(target: Locator, option: Locator): Promise<void> {
    await this.open(target)
    await this.arrowTo(option)
    await this.#page.keyboard.press('Enter')
  }

  /** Presses an arrow key until an element has the focus. */
  async arrowTo(target: Locator, key = 'ArrowDown'): Promise<void> {
    await target.first().waitFor()
    for (let step = 0; step < MOST_STOPS; step += 1) {
      if (await hasFocus(target)) return
      await this.#page.keyboard.press(key)
    }
    throw new Error(`${key} does not reach ${target}.`)
  }

  /** Moves the focus into a list of rows, and to one of its rows. */
  async enterRow(list: Locator, row: Locator): Promise<void> {
    await this.tabTo(list)
    await this.arrowTo(row)
  }

  /** Presses keys one after another, such as `'g', 'f'`. */
  async press(...keys: readonly string[]): Promise<void> {
    for (const key of keys) await this.#page.keyboard.press(key)
  }
}

function hasFocus(target: Locator): Promise<boolean> {
  return target.first().evaluate((element) => {
    const active = document.activeElement
    return active !== null && (active === element || element.contains(active))
  })
}

/**
 * Presses Tab through the page from its start, and returns the elements that show no sign of the
 * focus: no outline, border or shadow that appears with it.
 */
export async function elementsWithoutVisibleFocus(page: Page): Promise<readonly string[]> {
  const missing: string[] = []
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur())
  for (let stop = 0; stop < MOST_STOPS; stop += 1) {
    await page.keyboard.press('Tab')
    const found = await page.evaluate(readFocus)
    if (found.isEnd || found.isSeen) return missing
    if (!found.isVisible) missing.push(found.name)
  }
  return missing
}

/** Runs in the page: describes the element with the focus, and marks it as seen. */
function readFocus() {
  const element = document.activeElement as HTMLElement | null
  const end = { isEnd: true, isSeen: false, isVisible: true, name: '' }
  if (element === null || element === document.body) return end
  const isSeen = element.dataset['seenByTest'] === 'true'
  element.dataset['seenByTest'] = 'true'
  const shows = (each: Element | null) => {
    if (each === null) return false
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(each)
    return (outlineStyle !== 'none' && outlineWidth !== '0px') || boxShadow !== 'none'
  }
  const near = [element, element.parentElement, element.parentElement?.parentElement ?? null]
  const siblings = [...(element.parentElement?.parentElement?.children ?? [])]
  const isVisible = [...near, ...siblings].some(shows)
  const name = element.getAttribute('aria-label') ?? element.textContent?.slice(0, 40) ?? ''
  return { isEnd: false, isSeen, isVisible, name: `${element.tagName} ${name}` }
}
