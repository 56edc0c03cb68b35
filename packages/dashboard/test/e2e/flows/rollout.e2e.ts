import { beforeAll, expect, it } from 'vitest'
import { publishing } from '../../../src/messages/en/publishing.ts'
import { openPage, useBrowser } from '../browser.ts'
import { FlagEditor } from '../driver/flag-editor.ts'
import { HANDS } from '../driver/hands.ts'
import { useServer } from '../running-server.ts'
import { Shop } from '../seed/shop.ts'
import { evaluate, observe, users } from '../seed/traffic.ts'
import { shot } from '../shot.ts'

const FLAG = 'new-checkout'
const RULE = 'A quarter of customers'
const USERS = users(1000)

const server = useServer()
const browser = useBrowser()
let shop: Shop
let sdkKey = ''

beforeAll(async () => {
  shop = await Shop.of(server())
  sdkKey = await shop.sdkKey()
  await observe(shop.url, sdkKey, USERS)
})

/** Returns the keys of the users that receive `true`. */
async function usersWithTrue(): Promise<ReadonlySet<string>> {
  const values = await Promise.all(
    USERS.map(async (user) => ({ user, values: await evaluate(shop.url, sdkKey, user) })),
  )
  return new Set(values.filter((each) => each.values[FLAG] === true).map(({ user }) => user.key))
}

it.each(HANDS.slice(0, 3))(
  'The number of the preview of 25 → 30 % is that of a thousand evaluations, and no user loses true, $name',
  async (use) => {
    await shop.configure(FLAG, (now) => ({
      ...now,
      rollouts: now.rollouts.map((rollout) => ({ ...rollout, percentage: 25 })),
    }))
    const before = await usersWithTrue()
    const prepare = shop.owner.giveTo.bind(shop.owner)
    const address = shop.page(`flags/${FLAG}?env=live`)
    const page = await openPage(browser(), address, { width: use.width, prepare })
    const editor = new FlagEditor(page, use.handOf(page))
    await editor.editRule(RULE)
    await editor.setShare(30)
    await editor.bar.waitFor()
    const dialog = await editor.review()
    const shown = dialog.getByText(/^\d[\d,]* of 1,000$/).first()
    await shown.waitFor()
    if (use.width === 'wide') await shot(page, 'review')
    const predicted = Number((await shown.textContent())?.split(' ')[0])
    await editor.confirm()
    await page.getByRole('region', { name: publishing.convergence.region }).waitFor()

    const after = await usersWithTrue()
    const lost = [...before].filter((key) => !after.has(key))
    const gained = [...after].filter((key) => !before.has(key))
    process.stdout.write(
      `25 → 30 %: ${before.size} → ${after.size} of ${USERS.length}, the preview says ${predicted}\n`,
    )
    expect(lost).toEqual([])
    expect(predicted).toBeGreaterThan(20)
    expect(gained.length).toBe(predicted)
  },
)
