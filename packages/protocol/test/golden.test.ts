import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import {
  accessTokenCodec,
  auditEventCodec,
  auditEvents,
  convergenceCodec,
  type Endpoint,
  type EndpointName,
  endpoints,
  envelope,
  environmentCodec,
  flagCodec,
  flagMetricsCodec,
  flagStateCodec,
  flagSummaryCodec,
  invoiceCodec,
  memberCodec,
  noBody,
  observedContextCodec,
  organizationCodec,
  planCodec,
  projectCodec,
  rolloutCodec,
  scheduledChangeCodec,
  sdkKeyCodec,
  segmentCodec,
  targetingRuleCodec,
  userCodec,
  variationCodec,
  webhookCodec,
  webhookDeliveryCodec,
  webhookMessageCodec,
} from '../src/management.ts'

const GOLDEN = new URL('golden/', import.meta.url)

const resources: Readonly<Record<string, z.ZodType>> = {
  'access-token': accessTokenCodec,
  'audit-event': auditEventCodec,
  convergence: convergenceCodec,
  environment: environmentCodec,
  flag: flagCodec,
  'flag-metrics': flagMetricsCodec,
  'flag-state': flagStateCodec,
  'flag-summary': flagSummaryCodec,
  invoice: invoiceCodec,
  member: memberCodec,
  'observed-context': observedContextCodec,
  organization: organizationCodec,
  plan: planCodec,
  project: projectCodec,
  rollout: rolloutCodec,
  'scheduled-change': scheduledChangeCodec,
  'sdk-key': sdkKeyCodec,
  segment: segmentCodec,
  'targeting-rule': targetingRuleCodec,
  user: userCodec,
  variation: variationCodec,
  webhook: webhookCodec,
  'webhook-delivery': webhookDeliveryCodec,
  'webhook-message': webhookMessageCodec,
}

function read(path: string) {
  return JSON.parse(readFileSync(new URL(`${path}.json`, GOLDEN), 'utf8'))
}

function namesIn(folder: string): string[] {
  return readdirSync(new URL(folder, GOLDEN))
    .map((file) => file.replace(/\.json$/, ''))
    .sort()
}

function roundTrip(codec: z.ZodType, wire: unknown): unknown {
  return JSON.parse(JSON.stringify(z.encode(codec, z.decode(codec, wire))))
}

describe('golden wire examples', () => {
  it('Each resource and each endpoint has exactly one golden file', () => {
    expect(namesIn('resources/')).toEqual(Object.keys(resources).sort())
    expect(namesIn('endpoints/')).toEqual(Object.keys(endpoints).sort())
  })

  it.each(Object.entries(resources))(
    'The golden %s is equal after decoding and encoding, and its fields are in camelCase',
    (name, codec) => {
      const wire = read(`resources/${name}`)
      expect(roundTrip(codec, wire)).toEqual(wire)
      const names = Object.keys(z.decode(codec, wire) as object)
      expect(names.filter((each) => each.includes('_'))).toEqual([])
      expect(names.length).toBe(Object.keys(wire).length)
    },
  )

  it.each(Object.keys(endpoints) as EndpointName[])(
    'The codecs of %s accept the golden request and response',
    (name) => {
      const { params, query, body, response } = read(`endpoints/${name}`)
      const endpoint: Endpoint = endpoints[name]
      expect(roundTrip(endpoint.params, params)).toEqual(params)
      expect(roundTrip(endpoint.query, query)).toEqual(query)
      expect(body === undefined).toBe(endpoint.body === noBody)
      // A cleared field is encoded as its default value instead of `null`, which means the same.
      const decoded = z.decode(endpoint.body, body)
      expect(z.decode(endpoint.body, z.encode(endpoint.body, decoded))).toEqual(decoded)
      const isLines = endpoint.lines === true || endpoint.events === true
      const answer = isLines ? z.array(endpoint.response) : envelope(endpoint.response)
      expect(roundTrip(answer, response)).toEqual(response)
      if (!isLines) expect(response.statusCode).toBe(endpoint.status)
    },
  )

  it.each(Object.keys(endpoints) as EndpointName[])(
    'The golden file of %s has exactly the parameters of its path',
    (name) => {
      const { params } = read(`endpoints/${name}`)
      const inPath = [...endpoints[name].path.matchAll(/\{(\w+)\}/g)].map(([, param]) => param)
      expect(Object.keys(params)).toEqual(inPath)
    },
  )

  it('Each audit event is named after a resource and a verb in the past tense', () => {
    for (const type of Object.keys(auditEvents)) {
      if (type === 'user.login_success') continue
      expect(type).toMatch(/^[a-z]+(_[a-z]+)*\.(paid|[a-z_]+(ed|en))$/)
    }
  })
})
