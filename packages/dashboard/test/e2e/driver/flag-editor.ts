import type { Locator, Page } from 'playwright-core'
import { publishing } from '../../../src/messages/en/publishing.ts'
import { targeting } from '../../../src/messages/en/targeting.ts'
import { DEMO } from '../seed/shop.ts'
import { fillCondition, type TextCondition } from './condition-form.ts'
import type { Hand } from './hands.ts'

const { bar, review, convergence } = publishing
const { rules } = targeting

/** What a new rule of a test contains. */
export interface NewRule {
  /** The name of the segment. */
  readonly segment: string
  readonly condition: TextCondition
  /** The name of the variation that the rule serves. */
  readonly serves: string
}

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

  /** The list of the rules. */
  get rules(): Locator {
    return this.page.getByRole('grid', { name: rules.list })
  }

  /** Returns the row of a rule. */
  rule(name: string): Locator {
    return this.rules.getByRole('row').filter({ hasText: name })
  }

  /** Opens or closes the editor of a rule. */
  async editRule(name: string): Promise<void> {
    await this.#hand.enterRow(this.rules, this.rule(name))
    const button = this.page.getByRole('button', { name: rules.edit(name), exact: true })
    await this.#hand.open(button)
  }

  /** Adds the first rule of a flag. */
  async addFirstRule({ segment, condition, serves }: NewRule): Promise<void> {
    await this.#hand.open(this.page.getByRole('button', { name: rules.add, exact: true }))
    const form = this.page.getByRole('group', { name: rules.edit(rules.newName(1)), exact: true })
    await this.#hand.open(form.getByRole('button', { name: rules.addCondition, exact: true }))
    await fillCondition(this.#hand, form, condition)
    await this.#choose(form, rules.segment, segment)
    await this.#choose(form, rules.serve, serves)
  }

  /** Moves a rule to a position, counted from 1, with the menu of the rule and its dialog. */
  async moveRule(name: string, position: number): Promise<void> {
    await this.#hand.enterRow(this.rules, this.rule(name))
    const button = this.page.getByRole('button', { name: rules.actions(name), exact: true })
    await this.#hand.choose(button, this.page.getByRole('menuitem', { name: rules.moveTo }))
    const dialog = this.page.getByRole('dialog', { name: rules.moveTitle })
    const field = dialog.getByRole('textbox', { name: rules.newPosition })
    await this.#hand.fill(field, String(position))
    await this.#hand.open(dialog.getByRole('button', { name: rules.move, exact: true }))
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

  /** Waits until the page reports the version. */
  async published(): Promise<void> {
    await this.page.getByRole('region', { name: convergence.region }).waitFor()
  }

  /** Reviews and publishes the draft, and waits until the page reports the version. */
  async publish(environment: string = DEMO.name): Promise<void> {
    await this.review(environment)
    await this.confirm(environment)
    await this.published()
  }

  /** Chooses an option of a select, whose name ends with its label. */
  async #choose(form: Locator, label: string, option: string): Promise<void> {
    await this.#hand.choose(
      form.getByRole('button', { name: new RegExp(`${label}$`) }),
      this.page.getByRole('option', { name: option, exact: true }),
    )
  }
}
