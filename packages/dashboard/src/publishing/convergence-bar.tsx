import type { Environment } from '@ff/protocol/management'
import { messages } from '../messages/messages.ts'
import { type DeliveryProgress, useDelivery } from './delivery/use-delivery.ts'
import styles from './publishing.module.css'

const { convergence } = messages.publishing

/** The properties of `ConvergenceBar`. */
export interface ConvergenceBarProps {
  readonly projectId: string
  readonly environment: Environment
  /** The version whose delivery is shown. */
  readonly version: number
}

/** The delivery of a version to its live clients, until no client is behind or 60 seconds have passed. */
export function ConvergenceBar({ projectId, environment, version }: ConvergenceBarProps) {
  const place = { projectId, environmentId: environment.id, version }
  return <DeliveryOf key={`${environment.id} ${version}`} {...place} />
}

interface DeliveryOfProps {
  readonly projectId: string
  readonly environmentId: string
  readonly version: number
}

function DeliveryOf(place: DeliveryOfProps) {
  const progress = useDelivery(place)
  const sentence = finalSentence(place.version, progress)
  return (
    <section className={styles.delivery} aria-label={convergence.region}>
      {sentence === undefined && <Running version={place.version} progress={progress} />}
      <span role="status">{sentence}</span>
    </section>
  )
}

interface RunningProps {
  readonly version: number
  readonly progress: DeliveryProgress
}

function Running({ version, progress: { delivery, elapsedMs } }: RunningProps) {
  const isSending = delivery.status === 'sending'
  const { sent, all } = isSending ? delivery : { sent: 0, all: 0 }
  return (
    <>
      <span className={styles.strong}>{convergence.version(version)}</span>
      {isSending ? (
        <>
          <progress
            className={styles.progress}
            max={all}
            value={sent}
            aria-label={convergence.region}
          />
          <span>{convergence.sent(sent, all)}</span>
          <span>{convergence.behind(all - sent)}</span>
        </>
      ) : (
        <span>{convergence.waiting}</span>
      )}
      <span className={styles.muted}>{convergence.duration(elapsedMs)}</span>
    </>
  )
}

/** Returns the sentence about a delivery that is no longer followed. */
function finalSentence(version: number, progress: DeliveryProgress): string | undefined {
  const { delivery, reachedMs, isTimeOver, hasFailed } = progress
  if (delivery.status === 'replaced') return convergence.newer(version, delivery.version)
  if (delivery.status === 'done') {
    const { all } = delivery
    if (all === 0) return convergence.noClients(version)
    return reachedMs === undefined
      ? convergence.done(version, all)
      : convergence.doneIn(version, all, reachedMs)
  }
  if (isTimeOver && delivery.status === 'sending') {
    return convergence.stillBehind(version, delivery.all - delivery.sent)
  }
  return isTimeOver || hasFailed ? convergence.unknown(version) : undefined
}
