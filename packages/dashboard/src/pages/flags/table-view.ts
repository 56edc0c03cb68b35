import type { Environment } from '@ff/protocol/management'
import { useState } from 'react'
import * as z from 'zod'

/** How the user wants to see the list of flags. */
export interface TableView {
  /** The columns that are not shown: names of columns, and ids of environments. */
  readonly hidden: readonly string[]
  readonly isCompact: boolean
}

/** The columns that can be hidden, besides those of environments. */
export const OPTIONAL_COLUMNS = ['type', 'tags', 'updated'] as const

const NAME = 'ff-flag-list'
const DEFAULT: TableView = { hidden: ['updated'], isCompact: false }
const schema = z.object({ hidden: z.array(z.string()), isCompact: z.boolean() })

/** Returns the remembered view, and a function that changes and remembers it. */
export function useTableView(): readonly [TableView, (view: TableView) => void] {
  const [view, setView] = useState(readTableView)
  const change = (changed: TableView) => {
    setView(changed)
    try {
      localStorage.setItem(NAME, JSON.stringify(changed))
    } catch {
      // The view applies until the page is closed.
    }
  }
  return [view, change]
}

/** Returns the remembered view; the default if there is none or it is damaged. */
export function readTableView(): TableView {
  try {
    const parsed = schema.safeParse(JSON.parse(localStorage.getItem(NAME) ?? 'null'))
    return parsed.data ?? DEFAULT
  } catch {
    return DEFAULT
  }
}

/** Returns environments in the order of the columns: production first, then by their positions. */
export function sortedEnvironments(environments: readonly Environment[]): readonly Environment[] {
  const rank = ({ isProduction }: Environment) => (isProduction ? 0 : 1)
  return environments.toSorted(
    (one, other) => rank(one) - rank(other) || one.orderIndex - other.orderIndex,
  )
}
