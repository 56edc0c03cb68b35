import { flagSetDefinitionSchema } from '@ff/core/schema'
import {
  MAX_CLIENT_REPORTED_COUNT,
  MAX_CLIENT_REPORTED_MICROS,
  MAX_EVENTS,
  SDK_PATHS,
} from '@ff/protocol/sdk'
import { errorRefs, headersOf, jsonContent, rateLimitHeaders } from './answers.ts'
import { exampleOf } from './examples.ts'
import { type Json, refTo, type WireSchemas } from './schemas.ts'

/** One operation of applications. A further one is a further row of `operationsOf`. */
interface SdkOperation {
  readonly operationId: string
  readonly method: 'get' | 'post'
  readonly path: string
  readonly summary: string
  readonly description: string
  readonly body?: Json
  readonly response: Json
  /** Answers 304 to the `ETag` the caller has. */
  readonly isConditional?: true
  readonly errors: readonly number[]
}

/** What has a schema that is not written by hand. */
export const sdkCodecs = { flagSetDefinitionSchema }

const ifNoneMatch: Json = {
  name: 'If-None-Match',
  in: 'header',
  description: 'The `ETag` of the last answer: 304 while it still holds.',
  schema: { type: 'string' },
}

const EVALUATE_DESCRIPTION =
  'A change of a flag is visible here within 10 seconds. A key of the kind `client` receives only ' +
  'the flags that are visible to clients.'

const REPORT_DESCRIPTION =
  `At most ${MAX_EVENTS} events; those of longer than a day ago are not counted. With a client key, ` +
  `a request counts at most ${MAX_CLIENT_REPORTED_COUNT} evaluations of each flag, and at most ` +
  `${MAX_CLIENT_REPORTED_MICROS} µs for each.`

const operationsOf = (schemas: WireSchemas): readonly SdkOperation[] => [
  {
    operationId: 'evaluate',
    method: 'post',
    path: SDK_PATHS.evaluate,
    summary: 'Evaluate every flag for a context',
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
    summary: 'Wait for the values of a context to change',
    description: 'Held until they change, or 60 to 61 seconds have passed.',
    body: refTo('PollRequest'),
    response: refTo('FlagValues'),
    errors: [400, 401, 413, 429, 500],
  },
  {
    operationId: 'getFlagSet',
    method: 'get',
    path: SDK_PATHS.flagSet,
    summary: 'Fetch all that is needed to evaluate elsewhere',
    description: 'For keys of the kind `server` only.',
    response: schemas.of(flagSetDefinitionSchema),
    isConditional: true,
    errors: [401, 403, 429, 500],
  },
  {
    operationId: 'reportEvents',
    method: 'post',
    path: SDK_PATHS.events,
    summary: 'Report what was evaluated elsewhere',
    description: REPORT_DESCRIPTION,
    body: refTo('EventsRequest'),
    response: refTo('EventsAnswer'),
    errors: [400, 401, 413, 429, 500],
  },
]

/** Path → method → operation, of what applications call with an SDK key. */
export function sdkPaths(schemas: WireSchemas): Json {
  const paths = operationsOf(schemas).map((operation) => {
    return [operation.path, { [operation.method]: toOperation(operation) }]
  })
  return Object.fromEntries(paths)
}

function toOperation(operation: SdkOperation): Json {
  const { operationId, summary, description, body, response, errors, isConditional } = operation
  const example = exampleOf(operationId)
  const headers = { ...headersOf('ETag', 'X-FF-Version'), ...rateLimitHeaders() }
  return {
    operationId,
    summary,
    description,
    tags: ['Evaluation'],
    security: [{ sdkKey: [] }],
    parameters: isConditional ? [ifNoneMatch] : [],
    ...(body && { requestBody: { required: true, ...jsonContent(body, example.body) } }),
    responses: {
      200: { description: 'Done.', headers, ...jsonContent(response, example.response) },
      ...(isConditional && { 304: { description: 'Nothing has changed.', headers } }),
      ...errorRefs('Evaluation', errors),
    },
  }
}
