import { type EndpointName, endpoints } from '@ff/protocol/management'
import * as z from 'zod'
import { messages } from '../messages/messages.ts'
import { ApiError, type FieldIssue } from './api-error.ts'
import { toFieldIssues } from './field-issues.ts'

const CODES: Readonly<Record<number, string>> = {
  400: 'INVALID_REQUEST',
  401: 'UNAUTHENTICATED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  409: 'CONFLICT',
  413: 'PAYLOAD_TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
  429: 'RATE_LIMITED',
  503: 'UNAVAILABLE',
}

const envelope = z.object({ message: z.string(), data: z.unknown() })
const details = z.object({
  code: z.string().optional().catch(undefined),
  seconds: z.number().optional().catch(undefined),
  issues: z
    .array(z.object({ path: z.string(), message: z.string() }))
    .optional()
    .catch(undefined),
})

/** Returns the data of a successful response. Throws an `ApiError` for every other response. */
export async function readReply(name: EndpointName, response: Response): Promise<unknown> {
  const parsed = envelope.safeParse(await jsonOf(response))
  if (!response.ok) throw errorOf(name, response, parsed.data)
  const result = parsed.success
    ? z.safeDecode(endpoints[name].response as z.ZodType, parsed.data.data as never)
    : undefined
  if (result?.success !== true) throw unexpectedReply(response)
  return result.data
}

/** Returns the JSON value of a body; `undefined` if the body is not JSON. */
async function jsonOf(response: Response): Promise<unknown> {
  const text = await response.text()
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function errorOf(
  name: EndpointName,
  response: Response,
  body: z.output<typeof envelope> | undefined,
): ApiError {
  const { code, issues = [], seconds } = details.safeParse(body?.data).data ?? {}
  const { status } = response
  const retryAfter = secondsOf(response.headers.get('Retry-After')) ?? seconds
  const isLimited = status === 429 && retryAfter !== undefined
  return new ApiError({
    status,
    code: code ?? CODES[status] ?? 'INTERNAL',
    message: isLimited
      ? messages.errors.rateLimited(retryAfter)
      : (body?.message ?? messages.errors.unknown),
    issues: fieldIssues(name, issues),
    data: body?.data,
    requestId: requestIdOf(response),
    retryAfter,
  })
}

function fieldIssues(name: EndpointName, issues: readonly FieldIssue[]): readonly FieldIssue[] {
  const { body, query } = endpoints[name]
  return toFieldIssues(query, toFieldIssues(body, issues))
}

function unexpectedReply(response: Response): ApiError {
  return new ApiError({
    status: response.status,
    code: 'UNEXPECTED_REPLY',
    message: messages.errors.unexpectedReply,
    requestId: requestIdOf(response),
  })
}

function requestIdOf({ headers }: Response): string | undefined {
  return headers.get('X-Request-Id') ?? undefined
}

function secondsOf(header: string | null): number | undefined {
  return header !== null && /^\d{1,6}$/.test(header) ? Number(header) : undefined
}
