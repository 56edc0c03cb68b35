import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'

/** Replaces the text of the field with the focus, and expects that no character is lost. */
export async function typeText(page: Page, field: Locator, text: string): Promise<void> {
  await page.keyboard.press('ControlOrMeta+a')
  await page.keyboard.type(text)
  const value = () => field.first().inputValue()
  await expect.poll(value, { message: 'the typed text' }).toBe(text)
}
