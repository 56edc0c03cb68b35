import type { Locator, Page } from 'playwright-core'

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
    await this.#page.keyboard.press('ControlOrMeta+a')
    await this.#page.keyboard.type(text)
  }

  /** Opens a select and chooses an option. */
  async choose(target: Locator, option: Locator): Promise<void> {
    await this.open(target)
    await this.open(option)
  }
}
