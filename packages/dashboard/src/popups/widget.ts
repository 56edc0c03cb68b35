import { type ComponentType, useCallback, useEffect, useRef, useState } from 'react'
import { whenIdle } from './when-idle.ts'

/** A component that is loaded after the first paint, with its popup and its selection. */
export class Widget<Props> {
  readonly #import: () => Promise<ComponentType<Props>>
  #component: ComponentType<Props> | undefined
  #pending: Promise<ComponentType<Props>> | undefined

  constructor(load: () => Promise<ComponentType<Props>>) {
    this.#import = load
  }

  /** The component; `undefined` until it is loaded. */
  get component(): ComponentType<Props> | undefined {
    return this.#component
  }

  /** Loads the component once. A failed load is tried again by the next call. */
  load(): Promise<ComponentType<Props>> {
    this.#pending ??= this.#import().then(
      (component) => {
        this.#component = component
        return component
      },
      (error: unknown) => {
        this.#pending = undefined
        throw error
      },
    )
    return this.#pending
  }
}

/** Returns the component of a widget, which is loaded when the browser is idle, or at once by `load`. */
export function useWidget<Props>(widget: Widget<Props>) {
  // A function in a state is a component here, not the computation of the next state.
  const [Component, setComponent] = useState(() => widget.component)
  const isMounted = useRef(true)
  const load = useCallback(() => {
    const show = (loaded: ComponentType<Props>) => {
      if (isMounted.current) setComponent(() => loaded)
    }
    // A failed load is tried again by the next press or the next widget.
    widget.load().then(show, () => undefined)
  }, [widget])
  useEffect(() => {
    isMounted.current = true
    return () => {
      isMounted.current = false
    }
  }, [])
  useEffect(() => (Component === undefined ? whenIdle(load) : undefined), [Component, load])
  return { Component, load }
}
