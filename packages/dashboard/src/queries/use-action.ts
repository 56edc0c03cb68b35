import { useRef, useState } from 'react'
import { ApiError } from '../api/api-error.ts'

/** An action that the user starts, such as a submitted form. */
export interface Action {
  /** Runs an action. While one is running, a further one is ignored. */
  readonly run: (action: () => Promise<void>) => Promise<void>
  readonly isPending: boolean
  /** The refusal of the last action; `undefined` if it succeeded. */
  readonly error: ApiError | undefined
  /** Returns the fault of a field, or of a field inside it. */
  readonly faultOf: (path: string) => string | undefined
}

/** Keeps the state of an action. Errors other than an `ApiError` are thrown. */
export function useAction(): Action {
  const [error, setError] = useState<ApiError>()
  const [isPending, setPending] = useState(false)
  const isRunning = useRef(false)
  const run = async (action: () => Promise<void>) => {
    if (isRunning.current) return
    isRunning.current = true
    setPending(true)
    setError(undefined)
    try {
      await action()
    } catch (caught) {
      if (!(caught instanceof ApiError)) throw caught
      setError(caught)
    } finally {
      isRunning.current = false
      setPending(false)
    }
  }
  const faultOf = (path: string) => {
    const issues = error?.issues ?? []
    return issues.find((issue) => issue.path === path || issue.path.startsWith(`${path}.`))?.message
  }
  return { run, isPending, error, faultOf }
}
