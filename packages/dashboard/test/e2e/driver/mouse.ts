import type { Locator, Page } from 'playwright-core'
import { typeText } from './typed-text.ts'

/** Uses a page with a mouse or with fingers, and counts the clicks. */
export class Mouse {
  /** The number of clicks so far. */
  clicks = 0
  readonly #page: Page

  constructor(page: Page) {
    this.#page = page
  }

  /** Clicks a button, a link or an option. */
  async open(target: Locator): Promise<void> {
    await target.first().click()
    this.clicks += 1
  }

  /** Scrolls to a row of a list. */
  async enterRow(_list: Locator, row: Locator): Promise<void> {
    await row.first().scrollIntoViewIfNeeded()
  }

  /** Clicks a switch or a checkbox. */
  async toggle(target: Locator): Promise<void> {
    await this.open(target)
  }

  /** Clicks a field, and replaces its text. */
  async fill(target: Locator, text: string): Promise<void> {
    await this.open(target)
    await typeText(this.#page, target, text)
  }

  /** Drags a row of a list by its left end, where its handle is, to the upper edge of another. */
  async dragAbove(row: Locator, other: Locator): Promise<void> {
    const positions = { sourcePosition: { x: 20, y: 30 }, targetPosition: { x: 60, y: 2 } }
    await row.dragTo(other, { ...positions, steps: 10 })
  }

  /** Opens a select and chooses an option. */
  async choose(target: Locator, option: Locator): Promise<void> {
    await this.open(target)
    await this.open(option)
  }
}
