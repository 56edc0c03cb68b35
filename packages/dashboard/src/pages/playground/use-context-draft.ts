import { useEffect, useState } from 'react'
import { type UserDrafts, useUserDrafts } from '../../user-drafts/use-user-drafts.ts'
import {
  type AttributeDraft,
  type ContextDraft,
  newRowId,
  type PartDraft,
  partsOf,
  startContextDraft,
  withMode,
} from './context-draft.ts'
import { acceptContextKeys } from './playground-context.ts'

/** The context of the playground and its edits. */
export interface ContextEditor {
  readonly draft: ContextDraft
  readonly setMode: (mode: ContextDraft['mode']) => void
  readonly setJson: (json: string) => void
  /** Replaces the context, for example by an observed one. */
  readonly use: (context: object) => void
  readonly addPart: () => void
  readonly removePart: (id: string) => void
  readonly setPart: (id: string, changes: Partial<Omit<PartDraft, 'id'>>) => void
  readonly addAttribute: (partId: string) => void
  readonly setAttribute: (partId: string, attribute: AttributeDraft) => void
  readonly removeAttribute: (partId: string, id: string) => void
}

/** The edited contexts. A log-out removes the drafts of the user, and the context with them. */
const kept = new WeakMap<UserDrafts, ContextDraft>()

/**
 * Keeps the edited context in memory until the user logs out. A key that the command bar hands over
 * replaces it.
 */
export function useContextDraft(): ContextEditor {
  const drafts = useUserDrafts()
  const [draft, setDraft] = useState(() => kept.get(drafts) ?? startContextDraft(''))
  useEffect(() => void kept.set(drafts, draft), [drafts, draft])
  useEffect(() => acceptContextKeys((key) => setDraft(startContextDraft(key))), [])
  const setParts = (change: (parts: readonly PartDraft[]) => readonly PartDraft[]) =>
    setDraft((current) => ({ ...current, parts: change(current.parts) }))
  const setPart: ContextEditor['setPart'] = (id, changes) =>
    setParts((parts) => parts.map((part) => (part.id === id ? { ...part, ...changes } : part)))
  const setAttributes = (partId: string, change: (all: Attributes) => Attributes) =>
    setParts((parts) =>
      parts.map((part) => {
        return part.id === partId ? { ...part, attributes: change(part.attributes) } : part
      }),
    )
  return {
    draft,
    setMode: (mode) => setDraft((current) => withMode(current, mode)),
    setJson: (json) => setDraft((current) => ({ ...current, json })),
    use: (context) =>
      setDraft({
        mode: draft.mode,
        parts: partsOf(context),
        json: JSON.stringify(context, null, 2),
      }),
    addPart: () => setParts((parts) => [...parts, newPart(parts)]),
    removePart: (id) => setParts((parts) => parts.filter((part) => part.id !== id)),
    setPart,
    addAttribute: (partId) => setAttributes(partId, (all) => [...all, newAttribute()]),
    setAttribute: (partId, attribute) =>
      setAttributes(partId, (all) =>
        all.map((each) => (each.id === attribute.id ? attribute : each)),
      ),
    removeAttribute: (partId, id) =>
      setAttributes(partId, (all) => all.filter((each) => each.id !== id)),
  }
}

type Attributes = PartDraft['attributes']

function newAttribute(): AttributeDraft {
  return { id: newRowId(), name: '', type: 'text', text: '' }
}

const KINDS = ['user', 'organization', 'device']

function newPart(parts: readonly PartDraft[]): PartDraft {
  const kind = KINDS.find((name) => parts.every((part) => part.kind !== name)) ?? ''
  return { id: newRowId(), kind, key: '', attributes: [] }
}
