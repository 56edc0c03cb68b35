import { errorRefs, jsonContent } from './answers.ts'
import { envelopeFields, type Json, openObject } from './schemas.ts'

/** What may be asked of the server itself, without credentials. */
export const serverPaths: Json = {
  '/health': {
    get: probe('getHealth', 'Tell whether the process runs', 'ok', []),
  },
  '/ready': {
    get: probe('getReadiness', 'Tell whether requests can be answered', 'ready', [503]),
  },
  '/metrics': {
    get: {
      operationId: 'getMetrics',
      summary: 'Tell how the server does',
      description:
        'For Prometheus. For the role platform, unless the installation has made it public.',
      tags: ['Server'],
      responses: {
        200: {
          description: 'Metrics as text.',
          content: { 'text/plain': { schema: { type: 'string' }, example: 'up 1\n' } },
        },
        ...errorRefs('Management', [401, 403, 429, 503]),
      },
    },
  },
  '/openapi.json': {
    get: {
      operationId: 'getOpenApi',
      summary: 'Describe all of this',
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
      200: { description: 'It is.', ...jsonContent(schema, example) },
      ...errorRefs('Management', errors),
    },
  }
}
