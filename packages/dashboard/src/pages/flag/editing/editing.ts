import { createContext, use } from 'react'
import type { Option } from '../../../components/select.tsx'
import type { Names } from '../../../draft/sentence.ts'
import type { FieldIssue } from '../../../draft/validate.ts'
import type { Warning } from '../../../draft/warnings.ts'
import type { FlagDraftHandle } from '../../../user-drafts/flag-draft-handle.ts'

/** What the parts of the editor need. */
export interface Editing {
  readonly handle: FlagDraftHandle
  readonly names: Names
  readonly issues: readonly FieldIssue[]
  readonly warnings: readonly Warning[]
  readonly segments: readonly Option[]
  /** The attributes to suggest. */
  readonly attributes: readonly string[]
  /** `undefined` if the user may change the configuration; else the reason. */
  readonly refusal: string | undefined
  /** Epoch milliseconds. */
  readonly now: number
}

/** The draft that the page edits. */
export const EditingContext = createContext<Editing | undefined>(undefined)

/** Returns the draft that the page edits. */
export function useEditing(): Editing {
  const editing = use(EditingContext)
  if (editing === undefined) throw new Error('EditingContext is missing')
  return editing
}

/** Returns the fault of the field with a path. `undefined` if there is none. */
export function faultAt(issues: readonly FieldIssue[], path: string): string | undefined {
  return issues.find((issue) => issue.path === path)?.message
}

/** Returns the fault of a field or of a part of it. `undefined` if there is none. */
export function faultBelow(issues: readonly FieldIssue[], path: string): string | undefined {
  return issues.find((issue) => issue.path === path || issue.path.startsWith(`${path}.`))?.message
}
