import { act, type ReactNode, StrictMode } from 'react'
import { createRoot, hydrateRoot, type Root } from 'react-dom/client'
import { renderToString } from 'react-dom/server'

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true })

/** A tree of React in the document. */
export interface Tree {
  readonly container: HTMLElement
  /** The text of the tree. */
  readonly text: string
  render(next: ReactNode): Promise<void>
  unmount(): Promise<void>
}

/** Renders a tree into the document. */
export async function render(node: ReactNode): Promise<Tree> {
  const container = document.createElement('div')
  const root = createRoot(container)
  await act(async () => root.render(node))
  return treeOf(container, root)
}

/** Renders a tree as a server does, and then in a page with this HTML. */
export async function hydrate(
  onServer: ReactNode,
  inPage: ReactNode = onServer,
): Promise<Tree & { readonly html: string; readonly faults: readonly string[] }> {
  const container = document.createElement('div')
  const html = renderToString(onServer)
  container.innerHTML = html
  const faults: string[] = []
  const note = (error: unknown) => void faults.push(String(error))
  // React 18 writes warnings about hydration to the console.
  const { error } = console
  console.error = (...words: readonly unknown[]) => note(words.join(' '))
  try {
    let root: Root | undefined
    await act(async () => {
      root = hydrateRoot(container, inPage, { onRecoverableError: note })
    })
    if (root === undefined) throw new Error('The tree was not rendered.')
    return Object.assign(treeOf(container, root), { html, faults })
  } finally {
    console.error = error
  }
}

function treeOf(container: HTMLElement, root: Root): Tree {
  return {
    container,
    get text() {
      return container.textContent ?? ''
    },
    render: (next) => act(async () => root.render(next)),
    unmount: () => act(async () => root.unmount()),
  }
}

/** Returns a node in Strict Mode, in which React renders and mounts everything twice. */
export function strict(node: ReactNode): ReactNode {
  return <StrictMode>{node}</StrictMode>
}
