export { type Actor, type AuthenticateBearer, tokenAuthenticator } from './access/actors.ts'
export type { EnvironmentScope } from './access/sdk-keys.ts'
export { type Cancel, type Clock, systemClock } from './clock.ts'
export { createFlagServer, type EnvironmentRef, type FlagServer } from './flag-server.ts'
export type { Exchange, Reply } from './http/exchange.ts'
export type { EndReason, FlagUpdate } from './live/flag-session.ts'
export type { SocketConnection, SocketLike } from './live/socket-connection.ts'
export { type LogFields, type Logger, silentLogger } from './logger.ts'
export { createAccessToken } from './management/access-tokens.ts'
export { createEnvironment } from './management/environments.ts'
export { getFlagState, updateFlagState } from './management/flag-states.ts'
export { createFlag, deleteFlag, getFlag, listFlags, updateFlag } from './management/flags.ts'
export type { Management } from './management/management.ts'
export { createOrganization } from './management/organizations.ts'
export { type CreatedProject, createProject } from './management/projects.ts'
export { createRollout } from './management/rollouts.ts'
export { createSdkKey } from './management/sdk-keys.ts'
export { createSegment } from './management/segments.ts'
export {
  createTargetingRule,
  deleteTargetingRule,
  getTargetingRule,
  listTargetingRules,
  reorderTargetingRules,
  updateTargetingRule,
} from './management/targeting-rules.ts'
export {
  createVariation,
  deleteVariation,
  listVariations,
  reorderVariations,
  updateVariation,
} from './management/variations.ts'
export type { FlagServerOptions } from './options.ts'
