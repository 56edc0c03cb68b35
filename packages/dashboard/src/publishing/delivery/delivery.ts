import type { Convergence } from '@ff/protocol/management'

/** The live clients of an environment. */
export interface ClientCounts {
  readonly ws: number
  readonly poll: number
  readonly behind: number
}

/** What is known about the delivery of the newest version. */
export interface DeliveryReport {
  readonly version: number
  readonly total: ClientCounts
  /** `true` if the delivery of `version` has begun at every instance with clients. */
  readonly isBegun: boolean
}

/** The delivery of one version. */
export type Delivery =
  | { readonly status: 'waiting' }
  | { readonly status: 'sending'; readonly sent: number; readonly all: number }
  | { readonly status: 'done'; readonly all: number }
  | { readonly status: 'replaced'; readonly version: number }

/** Returns the report in a response of `getConvergence`. */
export function reportOf({ version, total, instances }: Convergence): DeliveryReport {
  // An instance that has not seen the version yet does not count its clients as behind.
  const isBegun = instances.every((each) => each.version >= version || each.ws + each.poll === 0)
  return { version, total, isBegun }
}

/** Returns the delivery of a version, as a report shows it. */
export function deliveryOf(version: number, report: DeliveryReport | undefined): Delivery {
  if (report === undefined || report.version < version) return { status: 'waiting' }
  if (report.version > version) return { status: 'replaced', version: report.version }
  const { ws, poll, behind } = report.total
  const all = ws + poll
  if (all === 0) return { status: 'done', all }
  if (!report.isBegun) return { status: 'waiting' }
  return behind === 0 ? { status: 'done', all } : { status: 'sending', sent: all - behind, all }
}
