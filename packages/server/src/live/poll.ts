import type { EvaluationContext, FlagSet } from '@ff/core'
import { POLL_HOLD_MS, POLL_SPREAD_MS } from '@ff/protocol/sdk'
import { type EnvironmentScope, keyRefused } from '../access/sdk-keys.ts'
import type { Clock } from '../clock.ts'
import { asEntityTag, type EntityTag } from '../evaluation/entity-tag.ts'
import type { Answer, Evaluator } from '../evaluation/evaluator.ts'
import type { FlagSetCache } from '../evaluation/flag-set-cache.ts'
import { type EndReason, FlagSession } from './flag-session.ts'
import type { SessionRegistry } from './session-registry.ts'

export interface PollParts {
  readonly cache: FlagSetCache
  readonly evaluator: Evaluator
  readonly sessions: SessionRegistry
  readonly clock: Clock
}

export interface Poll {
  readonly scope: EnvironmentScope
  readonly context: EvaluationContext
  /** The entity tag of the answer that the caller has; absent: wait for the next change. */
  readonly since?: string
  /** Aborted when the caller goes away, which frees its place. */
  readonly signal: AbortSignal
}

/**
 * The values of the context, as soon as they differ from those the caller has, or after the hold
 * time. Throws `UNAUTHENTICATED` when the key is revoked meanwhile, and `UNAVAILABLE` when the
 * caller has newer values than this process can get.
 */
export async function waitForChange(parts: PollParts, poll: Poll): Promise<Answer> {
  const { cache, evaluator } = parts
  const { scope, context } = poll
  const since = poll.since === undefined ? undefined : asEntityTag(poll.since)
  const loaded = await cache.get(scope.environmentId)
  if (since !== undefined) await cache.refresh(scope.environmentId, since.version)
  // Nothing is awaited from here until the session is registered, so that it misses no change.
  const flagSet = cache.find(scope.environmentId) ?? loaded
  const present = evaluator.answer(flagSet, context)
  if (poll.since === undefined) return hold({ parts, poll, flagSet, known: present })
  if (since === undefined || !isUpToDate(since, present.tag, flagSet)) return present
  return hold({ parts, poll, flagSet, known: { ...present, tag: since } })
}

/** Whether the caller has what this process would answer, or something newer. */
function isUpToDate(since: EntityTag, present: EntityTag, flagSet: FlagSet): boolean {
  if (since.version > present.version) return false
  if (since.valuesHash === present.valuesHash) return true
  return (
    since.version === present.version &&
    since.contextHash === present.contextHash &&
    since.step >= present.step &&
    since.step <= flagSet.instants.length
  )
}

interface Hold {
  readonly parts: PollParts
  readonly poll: Poll
  readonly flagSet: FlagSet
  /** What the caller has; its tag is what differences are judged by. */
  readonly known: Answer
}

function hold({ parts, poll, flagSet, known }: Hold): Promise<Answer> {
  const { evaluator, sessions, clock } = parts
  const { scope, context, signal } = poll
  if (signal.aborted) return Promise.resolve(known)
  return new Promise((resolve, reject) => {
    const present = () => evaluator.answer(session.flagSet, context)
    const settle = (outcome: () => void) => {
      sessions.remove(session)
      cancelTimer()
      signal.removeEventListener('abort', leave)
      outcome()
    }
    const answer = (made: Answer) => settle(() => resolve(made))
    const leave = () => answer(known)
    const deliver = () => {
      const made = present()
      if (made.tag.valuesHash !== known.tag.valuesHash) answer(made)
      return true
    }
    const end = (reason: EndReason) => {
      if (reason === 'goingAway') answer(present())
      else settle(() => reject(keyRefused()))
    }
    const sink = { transport: 'poll', deliver, end } as const
    const session = new FlagSession({ scope, context, flagSet, now: clock.now(), sink })
    const holdMs = POLL_HOLD_MS + Math.random() * POLL_SPREAD_MS
    const cancelTimer = clock.schedule(holdMs, () => answer(present()))
    signal.addEventListener('abort', leave, { once: true })
    sessions.add(session)
  })
}
