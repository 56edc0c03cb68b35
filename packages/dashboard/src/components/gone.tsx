import type { ReactNode } from 'react'
import { type Deletion, useDeletion } from '../live/deletions.ts'
import { gone as texts } from '../messages/en/errors.ts'
import { Button } from './button.tsx'
import { Page } from './page.tsx'
import { RelativeTime } from './relative-time.tsx'

/** The properties of `Gone`. */
export interface GoneProps {
  /** What does not exist, as a sentence. */
  readonly title: string
  /** The id under which the record was open; `undefined` if it never was. */
  readonly recordId: string | undefined
  /** Links to what exists. */
  readonly children?: ReactNode
  /** Discards the unpublished changes of the record; `undefined` if there are none. */
  readonly onDiscard?: (() => void) | undefined
}

/** The page in place of a record that was deleted, or never existed. It has no other controls. */
export function Gone({ title, recordId, children, onDiscard }: GoneProps) {
  const deletion = useDeletion(recordId)
  return (
    <Page title={title}>
      <p role="status">{deletion === undefined ? texts.hint : <DeletedBy {...deletion} />}</p>
      {onDiscard !== undefined && (
        <>
          <p>{texts.draft}</p>
          <div>
            <Button onPress={onDiscard}>{texts.discard}</Button>
          </div>
        </>
      )}
      {children}
    </Page>
  )
}

function DeletedBy({ name, at }: Deletion) {
  return (
    <>
      {texts.deletedBy(name)} <RelativeTime time={at} />.
    </>
  )
}
