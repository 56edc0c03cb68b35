import { beforeAll, expect, it } from 'vitest'
import { axe } from '../axe.ts'
import { openPage, type Theme, useBrowser, VIEWPORTS, type Width } from '../browser.ts'
import { elementsWithoutVisibleFocus } from '../driver/keyboard.ts'
import { cutTextsOf, overflowOf, settled } from '../driver/layout.ts'
import { PAGE_NAMES, pageOf } from '../driver/route-table.ts'
import { useServer } from '../running-server.ts'
import { Shop } from '../seed/shop.ts'
import { shot } from '../shot.ts'

const server = useServer()
const browser = useBrowser()
let shop: Shop

beforeAll(async () => {
  shop = await Shop.of(server())
})

const VIEWS = [
  ['light', 'wide'],
  ['dark', 'wide'],
  ['dark', 'narrow'],
  ['light', 'narrow'],
] as const satisfies readonly (readonly [Theme, Width])[]

it.each(PAGE_NAMES)(
  'The page "%s" has no accessibility violation, fits into the window without cut texts in both themes and widths, and shows the focus',
  async (name) => {
    const { address, isPublic } = pageOf(shop, name)
    const prepare = shop.owner.giveTo.bind(shop.owner)
    const page = await openPage(browser(), address, isPublic ? {} : { prepare })
    await settled(page)
    await shot(page, name)
    for (const [theme, width] of VIEWS) {
      await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' })
      await page.setViewportSize(VIEWPORTS[width])
      const view = `${theme}, ${width}`
      expect(await axe(page), `violations (${view})`).toEqual([])
      expect(await overflowOf(page), `pixels beyond the window (${view})`).toBe(0)
      expect(await cutTextsOf(page), `cut texts (${view})`).toEqual([])
      await shot(page, `${name}-${theme}-${width}`)
    }
    await page.setViewportSize(VIEWPORTS.wide)
    expect(await elementsWithoutVisibleFocus(page), 'elements without focus').toEqual([])
  },
)

it('The pages fit into the window at 200 % zoom', async () => {
  const prepare = shop.owner.giveTo.bind(shop.owner)
  const page = await openPage(browser(), shop.page('flags'), { prepare })
  // A zoom of 200 % halves the number of CSS pixels in the window.
  await page.setViewportSize({ width: 640, height: 400 })
  for (const name of PAGE_NAMES) {
    const { address, isPublic } = pageOf(shop, name)
    if (isPublic) continue
    await page.goto(address)
    await settled(page)
    expect(await overflowOf(page), name).toBe(0)
  }
})
