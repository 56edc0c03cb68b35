import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import type { Shop } from '../seed/shop.ts'

const SOURCES = join(import.meta.dirname, '../../../src')
/** The elements of a source file that are shown over the page. */
const ELEMENTS = /<(?:Dialog|ConfirmDialog|Popover|Tooltip)\b|hidden=\{!isOpen\}/g
/** The file of the components of which all dialogs consist. */
const COMPONENTS = 'components/dialog.tsx'

/** What opens a popup. */
export interface Opener {
  readonly page: Page
  readonly shop: Shop
}

/** Opens a popup. */
export type Open = (opener: Opener) => Promise<void>

/** A dialog, a list or another part that the application shows over a page. */
export interface Popup {
  /** The file below `src` that contains the element. */
  readonly file: string
  readonly role: 'dialog' | 'alertdialog' | 'listbox' | 'menu' | 'tooltip' | 'group'
  /** The accessible name of the element; `undefined` for any. */
  readonly name?: string | RegExp
  readonly open: Open
  /** The button that closes the element. Without it, Escape does. */
  readonly close?: string
}

/** Returns the files below `src` with popups: each as often as it contains the element of one. */
export function popupFiles(): readonly string[] {
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
  return files
    .filter((file) => /(?<!\.test)\.tsx$/.test(file) && file !== COMPONENTS)
    .flatMap((file) => {
      const source = readFileSync(join(SOURCES, file), 'utf8')
      return (source.match(ELEMENTS) ?? []).map(() => file)
    })
}

/** Returns the element of a popup. */
export function elementOf(page: Page, { role, name }: Popup): Locator {
  return page.getByRole(role, name === undefined ? {} : { name })
}

/** Returns the selector of an open popup. */
export function selectorOf({ role }: Popup): string {
  return role === 'group' ? 'fieldset:has([type=checkbox])' : `[role=${role}]`
}

/** Closes an open popup, and waits until it is gone. */
export async function closePopup(page: Page, popup: Popup): Promise<void> {
  const element = elementOf(page, popup)
  if (popup.close === undefined) await page.keyboard.press('Escape')
  else await element.getByRole('button', { name: popup.close, exact: true }).click()
  await element.waitFor({ state: 'hidden' })
}

/** Returns a function that presses buttons one after another. */
export function press(...names: readonly (string | RegExp)[]): Open {
  return async ({ page }) => {
    for (const name of names) await page.getByRole('button', { name, exact: true }).last().click()
  }
}

/** Returns a function that chooses an action of the menu of a button. */
export function choose(button: string, action: string): Open {
  return async (opener) => {
    await press(button)(opener)
    await opener.page.getByRole('menuitem', { name: action, exact: true }).click()
  }
}
