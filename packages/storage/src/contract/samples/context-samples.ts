import type { ContextSample } from '../../ports/storage.ts'
import { newId } from './sample-fields.ts'
import { sample } from './samples.ts'

/** Returns a context sample with a new id. `fields` override its defaults. */
export function newContextSample(fields: Partial<ContextSample> = {}): ContextSample {
  const { deletedAt: _, ...contextSample } = sample('observedContext', fields)
  return contextSample
}

/**
 * Returns one sample of the context. Each field that a later sample can change depends on `minute`.
 */
export function seenAt(context: ContextSample, minute: number): ContextSample {
  return {
    ...context,
    id: newId(),
    firstSeen: timeAt(minute),
    lastSeen: timeAt(minute),
    seenCount: 1,
    contextJson: { minute },
    kind: `kind ${minute}`,
    key: `key ${minute}`,
    orgId: `organization ${minute}`,
    evaluationSuccess: minute % 2 === 0,
    source: minute === 3 ? 'ws' : 'rest',
    reducedBy: minute === 2 ? null : minute,
    settingsRevision: minute + 1,
  }
}

/** Returns the timestamp of a minute from 0 to 9. */
export function timeAt(minute: number): string {
  return `2026-03-01T10:0${minute}:00.000Z`
}
