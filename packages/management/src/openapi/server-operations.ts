import { errorRefs, jsonContent } from './answers.ts'
import { envelopeFields, type Json, openObject } from './schemas.ts'

/** The schema of the data of a probe, and an example of its status. */
interface Probe {
  readonly data: Json
  readonly status: string
}

const HEALTH: Probe = {
  data: openObject({ status: { type: 'string', const: 'ok' } }),
  status: 'ok',
}

const READINESS: Probe = {
  data: {
    type: 'object',
    properties: {
      status: {
        type: 'string',
        enum: ['ready', 'stale', 'read-only'],
        description:
          'stale: the store is unavailable, and the loaded flags are evaluated. read-only: the store accepts no changes.',
      },
      since: {
        type: 'string',
        format: 'date-time',
        description:
          'The last time at which the store was read, or the time since which it accepts no changes. Absent if the status is ready.',
      },
    },
    required: ['status'],
  },
  status: 'ready',
}

/** The operations of the server itself: path → method → operation. */
export const serverPaths: Json = {
  '/health': {
    get: probe('getHealth', 'Check that the process is running', HEALTH, []),
  },
  '/ready': {
    get: probe('getReadiness', 'Check that the server can serve requests', READINESS, [503]),
  },
  '/metrics': {
    get: {
      operationId: 'getMetrics',
      summary: 'Get the metrics of the server',
      description:
        'Responds in the text format of Prometheus. Requires the role platform unless metrics are public.',
      tags: ['Server'],
      responses: {
        200: {
          description: 'The metrics.',
          content: { 'text/plain': { schema: { type: 'string' }, example: 'up 1\n' } },
        },
        ...errorRefs('Management', [401, 403, 429, 503]),
      },
    },
  },
  '/openapi.json': {
    get: {
      operationId: 'getOpenApi',
      summary: 'Get the OpenAPI document',
      tags: ['Server'],
      security: [],
      responses: {
        200: { description: 'This document.', ...jsonContent({ type: 'object' }) },
        304: { description: 'Nothing has changed.' },
      },
    },
  },
}

function probe(
  operationId: string,
  summary: string,
  { data, status }: Probe,
  errors: readonly number[],
): Json {
  const schema = openObject(envelopeFields(200, data))
  const example = { statusCode: 200, message: 'OK', data: { status } }
  return {
    operationId,
    summary,
    tags: ['Server'],
    security: [],
    responses: {
      200: { description: 'The check succeeded.', ...jsonContent(schema, example) },
      ...errorRefs('Management', errors),
    },
  }
}
