import type { Locator, Page } from 'playwright-core'
import { publishing } from '../../../src/messages/en/publishing.ts'
import { targeting } from '../../../src/messages/en/targeting.ts'
import { DEMO } from '../seed/shop.ts'
import type { Hand } from './hands.ts'

const { bar, review, convergence } = publishing

/** The page of a flag, with its draft and the bar that publishes it. */
export class FlagEditor {
  readonly page: Page
  readonly #hand: Hand

  constructor(page: Page, hand: Hand) {
    this.page = page
    this.#hand = hand
  }

  /** The bar with the unpublished changes. */
  get bar(): Locator {
    return this.page.getByRole('region', { name: bar.region })
  }

  /** Opens or closes the editor of a rule. */
  async editRule(name: string): Promise<void> {
    const list = this.page.getByRole('grid', { name: targeting.rules.list })
    await this.#hand.enterRow(list, list.getByRole('row').filter({ hasText: name }))
    const button = this.page.getByRole('button', { name: targeting.rules.edit(name), exact: true })
    await this.#hand.open(button)
  }

  /** Sets the share of the rollout of the open rule, in percent. */
  async setShare(percent: number): Promise<void> {
    const field = this.page.getByRole('textbox', { name: targeting.rollout.share, exact: true })
    await this.#hand.fill(field, String(percent))
    await this.page.keyboard.press('Tab')
  }

  /** Returns `true` if the draft can be reviewed. */
  async canReview(): Promise<boolean> {
    const button = this.bar.getByRole('button', { name: bar.review })
    return (await button.isEnabled()) && (await button.getAttribute('aria-disabled')) !== 'true'
  }

  /** Opens the review of the draft. Returns the dialog. */
  async review(environment: string = DEMO.name): Promise<Locator> {
    await this.#hand.open(this.bar.getByRole('button', { name: bar.review }))
    const dialog = this.page.getByRole('dialog', { name: review.title(environment) })
    await dialog.waitFor()
    return dialog
  }

  /** Presses the button of the review that publishes. */
  async confirm(environment: string = DEMO.name): Promise<void> {
    await this.#hand.open(
      this.page.getByRole('button', { name: review.publish(environment), exact: true }),
    )
  }

  /** Reviews and publishes the draft, and waits until the page reports the version. */
  async publish(environment: string = DEMO.name): Promise<void> {
    await this.review(environment)
    await this.confirm(environment)
    await this.page.getByRole('region', { name: convergence.region }).waitFor()
  }
}
