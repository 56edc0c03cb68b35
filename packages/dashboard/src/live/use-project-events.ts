import type { ProjectEvent } from '@ff/protocol/management'
import { createContext, use, useEffect, useRef } from 'react'

/** A listener to the events of the open project. */
export type ProjectEventListener = (event: ProjectEvent) => void

/** The listeners to the events of the open project. */
export const ProjectEventsContext = createContext<Set<ProjectEventListener>>(new Set())

/** Calls a listener for every event of the open project, such as a version or its convergence. */
export function useProjectEvents(listener: ProjectEventListener): void {
  const listeners = use(ProjectEventsContext)
  const latest = useRef(listener)
  useEffect(() => {
    latest.current = listener
  })
  useEffect(() => {
    const call: ProjectEventListener = (event) => latest.current(event)
    listeners.add(call)
    return () => {
      listeners.delete(call)
    }
  }, [listeners])
}
