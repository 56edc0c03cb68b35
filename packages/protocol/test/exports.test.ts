import { expect, it } from 'vitest'
import manifest from '../package.json' with { type: 'json' }
import * as management from '../src/management.ts'
import * as sdk from '../src/sdk.ts'

it('the package has exactly these entries', () => {
  const entries = ['./sdk', './management', './package.json']
  expect(Object.keys(manifest.exports)).toEqual(entries)
  expect(Object.keys(manifest.publishConfig.exports)).toEqual(entries)
})

it('@ff/protocol/management exports exactly these names', () => {
  expect(Object.keys(management).sort()).toEqual([
    'accessTokenCodec',
    'auditEventCodec',
    'auditEvents',
    'condition',
    'conditionInput',
    'endpoints',
    'envelope',
    'environmentCodec',
    'flagChangesCodec',
    'flagCodec',
    'flagStateChangesCodec',
    'flagStateCodec',
    'flagViewCodec',
    'inUseCodec',
    'newAccessTokenCodec',
    'newEnvironmentCodec',
    'newFlagCodec',
    'newOrganizationCodec',
    'newProjectCodec',
    'newRolloutCodec',
    'newSdkKeyCodec',
    'newSegmentCodec',
    'newTargetingRuleCodec',
    'newVariationCodec',
    'noBody',
    'organizationCodec',
    'pageOf',
    'projectCodec',
    'record',
    'reorderCodec',
    'rolloutCodec',
    'sdkKeyCodec',
    'segmentCodec',
    'targetingRuleChangesCodec',
    'targetingRuleCodec',
    'targetingRuleViewCodec',
    'variationChangesCodec',
    'variationCodec',
  ])
})

it('@ff/protocol/sdk exports exactly these names', () => {
  expect(Object.keys(sdk).sort()).toEqual([
    'CLOSE_CODES',
    'DEFAULT_RATE_LIMIT',
    'FLAG_SET_VERSION_HEADER',
    'INIT_WITHIN_MS',
    'MAX_BODY_BYTES',
    'MAX_MESSAGE_BYTES',
    'POLL_HOLD_MS',
    'POLL_SPREAD_MS',
    'RATE_LIMIT_HEADERS',
    'RATE_WINDOW_MS',
    'SDK_KEY_HEADER',
    'SDK_KEY_PREFIX',
    'SDK_PATHS',
    'asClientMessage',
    'asEvaluateRequest',
    'asPollRequest',
    'asServerMessage',
  ])
})
