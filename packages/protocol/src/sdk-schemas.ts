import { MAX_EVENT_COUNT, MAX_EVENTS, MAX_REPORT_ID_LENGTH } from './sdk/events.ts'

const refTo = (name: string) => ({ $ref: `#/components/schemas/${name}` })

const context = {
  description: 'The evaluation context: one entity, several entities by kind, or none.',
  anyOf: [refTo('SingleContext'), refTo('MultiContext'), refTo('EmptyContext')],
}

/**
 * The JSON schemas of the messages of evaluation clients. The schemas refer to each other by
 * `#/components/schemas`. They are written by hand, because the messages have no codecs.
 */
export const sdkSchemas = {
  SingleContext: {
    type: 'object',
    properties: { kind: { type: 'string', minLength: 1 }, key: { type: 'string' } },
    required: ['kind'],
    additionalProperties: refTo('JsonValue'),
  },
  MultiContext: {
    type: 'object',
    properties: {
      kind: { type: 'string', const: 'multi' },
      user: refTo('MemberContext'),
      organization: refTo('MemberContext'),
    },
    required: ['kind'],
    additionalProperties: refTo('MemberContext'),
  },
  MemberContext: {
    type: 'object',
    properties: { kind: { type: 'string' }, key: { type: 'string' } },
    additionalProperties: refTo('JsonValue'),
  },
  EmptyContext: { type: 'object', maxProperties: 0 },
  FlagValues: {
    type: 'object',
    description: 'The values of flags by flag key.',
    additionalProperties: { type: ['boolean', 'string', 'number', 'object', 'array', 'null'] },
  },
  EvaluateRequest: {
    type: 'object',
    properties: { context },
    required: ['context'],
  },
  EventsRequest: {
    type: 'object',
    properties: {
      id: {
        type: 'string',
        minLength: 1,
        maxLength: MAX_REPORT_ID_LENGTH,
        description:
          'A random text. For an hour, another request with the same SDK key and id counts nothing and receives the same response.',
      },
      events: { type: 'array', maxItems: MAX_EVENTS, items: refTo('ReportedEvaluation') },
    },
    required: ['events'],
  },
  ReportedEvaluation: {
    type: 'object',
    properties: {
      flag_key: { type: 'string', minLength: 1, maxLength: 1024 },
      variation_key: { type: ['string', 'null'], minLength: 1, maxLength: 1024 },
      reason: { enum: ['TARGETING_MATCH', 'SPLIT', 'STATIC', 'DEFAULT', 'DISABLED', 'ERROR'] },
      count: { type: 'integer', minimum: 1, maximum: MAX_EVENT_COUNT },
      micros: {
        type: 'integer',
        minimum: 0,
        description: 'The total duration of these evaluations in microseconds.',
      },
      from: { type: 'string', format: 'date-time' },
      context_keys: { type: 'array', items: { type: 'string', minLength: 1, maxLength: 1024 } },
    },
    required: ['flag_key', 'reason', 'count', 'from'],
  },
  EventsAnswer: {
    type: 'object',
    properties: { accepted: { type: 'integer' }, ignored: { type: 'integer' } },
    required: ['accepted', 'ignored'],
    additionalProperties: false,
  },
  FlagSetPollRequest: {
    type: 'object',
    properties: {
      since: {
        type: ['integer', 'null'],
        minimum: 0,
        description: 'The version that the client has. Without it, the server responds at once.',
      },
    },
  },
  PollRequest: {
    type: 'object',
    properties: {
      context,
      since: {
        type: ['string', 'null'],
        description:
          'The `ETag` of the last response. The server responds at once if the values have changed.',
      },
    },
    required: ['context'],
  },
}
