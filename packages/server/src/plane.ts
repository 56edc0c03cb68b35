/** What a management plane is built with. Applications do not need this entry. */
export { addressOf, assertOwnOrigin, type Client, isByHttps } from './access/client.ts'
export { LastUse } from './access/last-use.ts'
export { RequestLimiter, tooManyRequests } from './access/rate-limit.ts'
export { equalSecrets, hashSecret, newId, newSecret, sha256 } from './access/secrets.ts'
export { extensions } from './evaluation/flag-set-cache.ts'
export { assertJson, type Exchange, type Headers, JSON_TYPE, type Reply } from './http/exchange.ts'
export { METRICS_PATH, type Metrics, metricsReply } from './http/metrics.ts'
export { answerGet, methodNotAllowed, methodOf, privateReply } from './http/private-reply.ts'
export { type RateLimitHeaders, setRateLimitHeaders } from './http/sdk-reply.ts'
export type { Instance } from './instance.ts'
export type {
  ConnectedManagementPlane,
  ManagementPlane,
  ServerServices,
} from './management-plane.ts'
export { assertLimit } from './options.ts'
export { type Cancel, type Clock, timestampAt } from './runtime/clock.ts'
export { CoalescedTask } from './runtime/coalesced-task.ts'
export type { Job } from './runtime/jobs.ts'
export { type LogFields, type Logger, silentLogger } from './runtime/logger.ts'
export { runInTimeSlices, TimeSlice, TimeSliceQueue } from './runtime/time-slice.ts'
export { isLongerJson } from './usage/json-length.ts'
export { countUniqueUsers } from './usage/user-sketches.ts'
