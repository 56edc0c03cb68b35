import type { Locator } from 'playwright-core'
import { conditions as texts } from '../../../src/messages/en/conditions.ts'
import type { Hand } from './hands.ts'

/** The fields of a condition that compares an attribute with a text. */
export interface TextCondition {
  readonly attribute: string
  readonly value: string
}

/** Fills the fields of the first condition of a part of the page. Its operator stays `eq`. */
export async function fillCondition(
  hand: Hand,
  part: Locator,
  { attribute, value }: TextCondition,
): Promise<void> {
  const condition = part.getByRole('group', { name: texts.conditionOf(0), exact: true })
  await hand.fill(condition.getByRole('combobox', { name: texts.attribute }), attribute)
  // The list of suggestions hides the rest of the page until the focus leaves the field.
  await part.page().keyboard.press('Tab')
  const field = condition.getByRole('textbox', { name: texts.value, exact: true })
  await hand.fill(field, value)
}
