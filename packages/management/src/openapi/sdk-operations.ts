import {
  MAX_CLIENT_REPORTED_COUNT,
  MAX_CLIENT_REPORTED_MICROS,
  MAX_EVENTS,
  SDK_PATHS,
} from '@ff/protocol/sdk'
import { errorRefs, headersOf, jsonContent, rateLimitHeaders } from './answers.ts'
import { exampleOf } from './examples.ts'
import { type Json, refTo, type WireSchemas } from './schemas.ts'
import { sdkCodecs } from './sdk-codecs.ts'

/** An operation of evaluation clients. */
interface SdkOperation {
  readonly operationId: string
  readonly method: 'get' | 'post'
  readonly path: string
  readonly summary: string
  readonly description: string
  readonly body?: Json
  readonly response: Json
  /** The parameters in the query. */
  readonly query?: readonly Json[]
  /** Set if the response is 304 when `If-None-Match` contains the current `ETag`. */
  readonly isConditional?: true
  readonly errors: readonly number[]
}

const ifNoneMatch: Json = {
  name: 'If-None-Match',
  in: 'header',
  description: 'The `ETag` of the last response. The response is 304 if nothing has changed.',
  schema: { type: 'string' },
}

const since: Json = {
  name: 'since',
  in: 'query',
  description: 'The version that the client has. The response contains only the changes since it.',
  schema: { type: 'integer', minimum: 0 },
}

const FLAG_SET_DESCRIPTION =
  'Requires an SDK key of kind `server`. Without `since`, the response is the whole flag set. It is ' +
  'also the whole flag set if `since` is too old or not in the store, or if the changes are larger.'

const EVALUATE_DESCRIPTION =
  'Changes of flags take effect within 10 seconds. An SDK key of kind `client` receives only the ' +
  'flags that are visible to clients.'

const REPORT_DESCRIPTION =
  `A request contains at most ${MAX_EVENTS} events. Events older than a day are not counted. With a ` +
  `client key, at most ${MAX_CLIENT_REPORTED_COUNT} evaluations of each flag are counted per ` +
  `request, and at most ${MAX_CLIENT_REPORTED_MICROS} µs for each evaluation.`

const operationsOf = (schemas: WireSchemas): readonly SdkOperation[] => [
  {
    operationId: 'evaluate',
    method: 'post',
    path: SDK_PATHS.evaluate,
    summary: 'Evaluate all flags for a context',
    description: EVALUATE_DESCRIPTION,
    body: refTo('EvaluateRequest'),
    response: refTo('FlagValues'),
    isConditional: true,
    errors: [400, 401, 413, 429, 500],
  },
  {
    operationId: 'poll',
    method: 'post',
    path: SDK_PATHS.poll,
    summary: 'Wait until the values of a context change',
    description: 'Responds when the values change, or after 60 to 61 seconds.',
    body: refTo('PollRequest'),
    response: refTo('FlagValues'),
    errors: [400, 401, 413, 429, 500],
  },
  ...flagSetOperationsOf(schemas),
  {
    operationId: 'reportEvents',
    method: 'post',
    path: SDK_PATHS.events,
    summary: 'Report local evaluations',
    description: REPORT_DESCRIPTION,
    body: refTo('EventsRequest'),
    response: refTo('EventsAnswer'),
    errors: [400, 401, 413, 429, 500],
  },
]

const flagSetOperationsOf = (schemas: WireSchemas): readonly SdkOperation[] => [
  {
    operationId: 'getFlagSet',
    method: 'get',
    path: SDK_PATHS.flagSet,
    summary: 'Get the flag set for local evaluation',
    description: FLAG_SET_DESCRIPTION,
    query: [since],
    response: schemas.of(sdkCodecs.flagSetUpdateSchema),
    isConditional: true,
    errors: [400, 401, 403, 429, 500],
  },
  {
    operationId: 'pollFlagSet',
    method: 'post',
    path: SDK_PATHS.flagSetPoll,
    summary: 'Wait until the flag set changes',
    description:
      'Requires an SDK key of kind `server`. Responds when the version differs from `since`, or after 60 to 61 seconds.',
    body: refTo('FlagSetPollRequest'),
    response: schemas.of(sdkCodecs.flagSetUpdateSchema),
    errors: [400, 401, 403, 413, 429, 500],
  },
]

/** Returns the operations of evaluation clients: path → method → operation. */
export function sdkPaths(schemas: WireSchemas): Json {
  const paths = operationsOf(schemas).map((operation) => {
    return [operation.path, { [operation.method]: toOperation(operation) }]
  })
  return Object.fromEntries(paths)
}

function toOperation(operation: SdkOperation): Json {
  const { operationId, summary, description, body, response, errors, isConditional } = operation
  const { query = [] } = operation
  const example = exampleOf(operationId)
  const headers = { ...headersOf('ETag', 'X-FF-Version', 'X-FF-Restored'), ...rateLimitHeaders() }
  return {
    operationId,
    summary,
    description,
    tags: ['Evaluation'],
    security: [{ sdkKey: [] }],
    parameters: [...query, ...(isConditional ? [ifNoneMatch] : [])],
    ...(body && { requestBody: { required: true, ...jsonContent(body, example.body) } }),
    responses: {
      200: { description: 'Success.', headers, ...jsonContent(response, example.response) },
      ...(isConditional && { 304: { description: 'Nothing has changed.', headers } }),
      ...errorRefs('Evaluation', errors),
    },
  }
}
