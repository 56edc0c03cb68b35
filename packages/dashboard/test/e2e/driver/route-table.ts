import { PATHS } from '../../../src/routes.tsx'
import type { Shop } from '../seed/shop.ts'

/** A page of the application with its address. */
export interface RoutedPage {
  readonly name: keyof typeof PATHS
  readonly address: string
  /** `true` for the pages of users who are not logged in. */
  readonly isPublic: boolean
}

const PUBLIC: readonly string[] = [PATHS.logIn, PATHS.accept]

/** Names of all pages, in the order of the route table. */
export const PAGE_NAMES = Object.keys(PATHS) as readonly (keyof typeof PATHS)[]

/** Returns the address of a page of the demo shop. Throws if a parameter of its path is unknown. */
export function pageOf(shop: Shop, name: keyof typeof PATHS): RoutedPage {
  const parameters: Readonly<Record<string, string>> = {
    project: shop.project,
    flag: 'new-checkout',
    segment: 'early-adopters',
  }
  const path = PATHS[name].replace(/\$(\w+)/g, (_, parameter: string) => {
    const value = parameters[parameter]
    if (value === undefined) throw new Error(`The test has no value for $${parameter}.`)
    return value
  })
  const address = `${shop.url}/dashboard${path === '/' ? '' : path}`
  return { name, address, isPublic: PUBLIC.includes(PATHS[name]) }
}
