import { errorRefs, jsonContent } from './answers.ts'
import { envelopeFields, type Json, openObject } from './schemas.ts'

/** The operations of the server itself: path → method → operation. */
export const serverPaths: Json = {
  '/health': {
    get: probe('getHealth', 'Check that the process is running', 'ok', []),
  },
  '/ready': {
    get: probe('getReadiness', 'Check that the server can serve requests', 'ready', [503]),
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
  status: string,
  errors: readonly number[],
): Json {
  const data = openObject({ status: { type: 'string', const: status } })
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
