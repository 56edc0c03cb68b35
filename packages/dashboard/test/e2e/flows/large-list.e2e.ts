import { afterAll, beforeAll, expect, it } from 'vitest'
import { messages } from '../../../src/messages/messages.ts'
import { ApiSession } from '../api-session.ts'
import { openPage, useBrowser } from '../browser.ts'
import { type LargeShop, startLargeShop } from '../seed/large-shop.ts'

const FLAGS = 5000
const MOST_ROWS = 60
const MOST_HEAP_BYTES = 120 * 1024 * 1024

const browser = useBrowser()
let large: LargeShop
let owner: ApiSession

beforeAll(async () => {
  large = await startLargeShop(FLAGS)
  owner = await ApiSession.ofOwner(large.server)
})

afterAll(() => large.server.close())

it('A list of 5,000 flags in three environments has at most 60 rows in the page while it is scrolled from end to end, and sends no request per row', async () => {
  const requests: string[] = []
  const address = `${large.server.url}/dashboard/p/${large.project}/flags`
  const page = await openPage(browser(), address, {
    prepare: async (context) => {
      await owner.giveTo(context)
      context.on('request', (request) => requests.push(request.url()))
    },
  })
  await page.getByText('flag-00000').first().waitFor()
  await page.getByText(messages.flags.count(FLAGS)).first().waitFor()
  const most = await page.evaluate(scrollToEnd)
  await page.getByText('flag-04999').first().waitFor()
  const summaries = requests.filter((url) => url.includes('/flag-summaries'))
  process.stdout.write(
    `${FLAGS} flags: at most ${most} rows in the page, ${summaries.length} requests of summaries, ${requests.length} in total\n`,
  )
  expect(most).toBeLessThanOrEqual(MOST_ROWS)
  expect(summaries.length).toBeLessThanOrEqual(FLAGS / 200 + 2)
  expect(requests.filter((url) => /\/flags\/[^/]+$/.test(url))).toEqual([])

  const client = await page.context().newCDPSession(page)
  await client.send('HeapProfiler.enable')
  await client.send('HeapProfiler.collectGarbage')
  const { usedSize } = await client.send('Runtime.getHeapUsage')
  process.stdout.write(`heap after scrolling ${(usedSize / 1024 / 1024).toFixed(1)} MiB\n`)
  expect(usedSize).toBeLessThanOrEqual(MOST_HEAP_BYTES)
})

it('A search in 5,000 flags shows the one flag that matches', async () => {
  const address = `${large.server.url}/dashboard/p/${large.project}/flags`
  const prepare = owner.giveTo.bind(owner)
  const page = await openPage(browser(), address, { prepare, width: 'narrow' })
  await page.getByRole('searchbox', { name: messages.flags.search }).fill('flag-04321')
  await page.getByText('flag-04321').first().waitFor()
  await expect.poll(() => page.getByText(/^flag-\d{5}$/).count()).toBe(1)
})

/** Runs in the page: scrolls to the end of the list, and returns the largest number of rows. */
async function scrollToEnd(): Promise<number> {
  const scrolling = [...document.querySelectorAll('*')].find(
    (each) =>
      each.scrollHeight > each.clientHeight * 3 &&
      /auto|scroll/.test(getComputedStyle(each).overflowY),
  )
  const element = scrolling ?? document.documentElement
  let most = 0
  for (let end = false; !end; ) {
    element.scrollTop += 2000
    await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 10)))
    most = Math.max(most, document.querySelectorAll('[role=row], tr, article').length)
    end = element.scrollTop + element.clientHeight >= element.scrollHeight - 2
  }
  return most
}
