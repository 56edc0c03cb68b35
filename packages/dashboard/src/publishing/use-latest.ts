import { useEffect, useRef } from 'react'

/** Returns the value of the last rendering, for functions that are called later. */
export function useLatest<T>(value: T): { readonly current: T } {
  const latest = useRef(value)
  useEffect(() => {
    latest.current = value
  })
  return latest
}
