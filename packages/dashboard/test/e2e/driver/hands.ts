import type { Page } from 'playwright-core'
import type { Width } from '../browser.ts'
import { Keyboard } from './keyboard.ts'
import { Mouse } from './mouse.ts'

/** A way of using a page. */
export type Hand = Keyboard | Mouse

/** The widths and ways of using the page with which each flow runs. */
export const HANDS = [
  { name: 'with clicks at 1280 pixels', width: 'wide', handOf: (page: Page) => new Mouse(page) },
  { name: 'with clicks at 390 pixels', width: 'narrow', handOf: (page: Page) => new Mouse(page) },
  { name: 'by keyboard alone', width: 'wide', handOf: (page: Page) => new Keyboard(page) },
  {
    name: 'by keyboard alone at 390 pixels',
    width: 'narrow',
    handOf: (page: Page) => new Keyboard(page),
  },
] as const satisfies readonly {
  readonly name: string
  readonly width: Width
  readonly handOf: (page: Page) => Hand
}[]
