import { beforeAll, expect, it } from 'vitest'
import { axe } from '../axe.ts'
import { openPage, useBrowser, VIEWPORTS } from '../browser.ts'
import { overflowOf, settled } from '../driver/layout.ts'
import { closePopup, elementOf, popupFiles, selectorOf } from '../driver/popup.ts'
import { POPUP_PAGES } from '../driver/popup-table.ts'
import { useServer } from '../running-server.ts'
import { Shop } from '../seed/shop.ts'

/** What Chromium logs for the newer version and the ended session that these tests provoke. */
const permitted = [/status of 409/, /status of 401/]
const THEMES = ['dark', 'light'] as const

const server = useServer()
const browser = useBrowser()
let shop: Shop

beforeAll(async () => {
  shop = await Shop.of(server())
})

it('The tests open every dialog and popup in the sources of the application', () => {
  const opened = POPUP_PAGES.flatMap(({ popups }) => popups.map(({ file }) => file))
  expect(opened.toSorted()).toEqual(popupFiles().toSorted())
})

it.each(POPUP_PAGES)(
  'The dialogs and popups of the page $path ($width) have no accessibility violation in both themes, and fit into a narrow window',
  async ({ path, width, popups }) => {
    const prepare = shop.owner.giveTo.bind(shop.owner)
    const page = await openPage(browser(), shop.page(path), { width, prepare, permitted })
    await settled(page)
    for (const popup of popups) {
      const { file, role, open } = popup
      await page.emulateMedia({ reducedMotion: 'reduce' })
      await open({ page, shop })
      await elementOf(page, popup).waitFor()
      for (const colorScheme of THEMES) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
        const violations = await axe(page, selectorOf(popup))
        expect(violations, `${file} (${colorScheme})`).toEqual([])
      }
      if (role.endsWith('dialog')) {
        await page.setViewportSize(VIEWPORTS.narrow)
        expect(await overflowOf(page), `pixels beyond the window (${file})`).toBe(0)
        await page.setViewportSize(VIEWPORTS[width])
      }
      if (popup !== popups.at(-1)) await closePopup(page, popup)
    }
  },
)
