export { ENTITY_TAG_SUFFIX, isTagNamedIn } from './sdk/entity-tags.ts'
export {
  asEvaluateRequest,
  type EvaluateRequest,
  type FlagValues,
  type SdkErrorBody,
} from './sdk/evaluate.ts'
export {
  asEventsRequest,
  type EventsAnswer,
  type EventsRequest,
  eventsText,
  findEventsFault,
  MAX_CLIENT_REPORTED_COUNT,
  MAX_CLIENT_REPORTED_MICROS,
  MAX_EVENT_COUNT,
  MAX_EVENTS,
  type ReportedEvaluation,
  type SentEvaluation,
} from './sdk/events.ts'
export {
  asFlagSetMessage,
  asFlagSetPollRequest,
  asFlagSetUpdate,
  type FlagSetDiff,
  type FlagSetMessage,
  type FlagSetPollRequest,
  type FlagSetUpdate,
  isFlagSetDiff,
  type WholeFlagSet,
} from './sdk/flag-set.ts'
export {
  fromOpenFeatureContext,
  OFREP_PATHS,
  OFREP_POSITION_PARAMETER,
  OFREP_TOKEN_PARAMETER,
} from './sdk/ofrep.ts'
export {
  DEFAULT_RATE_LIMIT,
  FLAG_SET_VERSION_HEADER,
  INIT_WITHIN_MS,
  MAX_BODY_BYTES,
  MAX_HELD_CONTEXT_BYTES,
  MAX_MESSAGE_BYTES,
  MAX_POLL_BODY_BYTES,
  POLL_HOLD_MS,
  POLL_SPREAD_MS,
  RATE_LIMIT_HEADERS,
  RATE_WINDOW_MS,
  RESTORED_HEADER,
  SDK_KEY_HEADER,
  SDK_KEY_PREFIX,
  SDK_PATHS,
} from './sdk/paths.ts'
export { asPollRequest, type PollRequest } from './sdk/poll.ts'
export {
  asClientMessage,
  asServerMessage,
  CLOSE_CODES,
  type ClientMessage,
  type ContextMessage,
  type ErrorMessage,
  type FlagSetInitMessage,
  type FlagsMessage,
  type InitMessage,
  type PingMessage,
  type PongMessage,
  type ServerMessage,
} from './sdk/socket.ts'
