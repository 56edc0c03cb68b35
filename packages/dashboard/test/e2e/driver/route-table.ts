import { messages } from '../../../src/messages/messages.ts'
import { PATHS } from '../../../src/routes.tsx'
import type { Shop } from '../seed/shop.ts'

/** A page of the application with its address. */
export interface RoutedPage {
  readonly name: string
  readonly address: string
  /** `true` for the pages of users who are not logged in. */
  readonly isPublic: boolean
}

type PathName = keyof typeof PATHS

const PUBLIC: readonly string[] = [PATHS.logIn, PATHS.accept]
/** The tabs of the page of a flag, except the one that the page shows first. */
const TABS: ReadonlyMap<string, string> = new Map(
  Object.keys(messages.flag.tabs)
    .filter((tab) => tab !== 'targeting')
    .map((tab) => [`flag-${tab}`, tab]),
)

/** Names of all pages, in the order of the route table, and of the tabs of the page of a flag. */
export const PAGE_NAMES: readonly string[] = [...Object.keys(PATHS), ...TABS.keys()]

/** Returns the address of a page of the demo shop. Throws if a parameter of its path is unknown. */
export function pageOf(shop: Shop, name: string): RoutedPage {
  const tab = TABS.get(name)
  const path = PATHS[tab === undefined ? (name as PathName) : 'flag']
  const parameters: Readonly<Record<string, string>> = {
    project: shop.project,
    flag: 'new-checkout',
    segment: 'early-adopters',
  }
  const filled = path.replace(/\$(\w+)/g, (_, parameter: string) => {
    const value = parameters[parameter]
    if (value === undefined) throw new Error(`The test has no value for $${parameter}.`)
    return value
  })
  const search = tab === undefined ? '' : `?env=live&tab=${tab}`
  const address = `${shop.url}/dashboard${filled === '/' ? '' : filled}${search}`
  return { name, address, isPublic: PUBLIC.includes(path) }
}
