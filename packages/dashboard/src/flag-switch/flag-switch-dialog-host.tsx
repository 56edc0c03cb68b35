import { lazy, type ReactNode, Suspense, useCallback, useEffect, useMemo, useState } from 'react'
import { useMay } from '../session/use-session.ts'
import { FlagSwitchContext, type FlagSwitchQuestion } from './flag-switch-context.ts'

const loadDialog = () => import('./flag-switch-dialog.tsx')
const FlagSwitchDialog = lazy(async () => ({ default: (await loadDialog()).FlagSwitchDialog }))
/** The time after which the dialog is loaded in advance, so that it opens at once in an incident. */
const PRELOAD_MS = 2000

/** The only dialog of all switches in the page, and their access to it. */
export function FlagSwitchDialogHost({ children }: { readonly children: ReactNode }) {
  const [asked, setAsked] = useState<{
    readonly question: FlagSwitchQuestion
    readonly id: number
  }>()
  const { reason } = useMay('flags.write')
  const ask = useCallback(
    (question: FlagSwitchQuestion) => {
      if (reason === undefined) setAsked((last) => ({ question, id: (last?.id ?? 0) + 1 }))
    },
    [reason],
  )
  const access = useMemo(() => ({ ask, refusal: reason }), [ask, reason])
  useEffect(() => {
    // A failure is shown when the dialog is opened.
    const preload = () => void loadDialog().catch(() => undefined)
    const timer = setTimeout(preload, PRELOAD_MS)
    return () => clearTimeout(timer)
  }, [])
  return (
    <FlagSwitchContext value={access}>
      {children}
      {asked !== undefined && (
        <Suspense>
          <FlagSwitchDialog
            key={asked.id}
            question={asked.question}
            onClose={() => setAsked(undefined)}
          />
        </Suspense>
      )}
    </FlagSwitchContext>
  )
}
