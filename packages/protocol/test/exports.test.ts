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
    'auditVerificationCodec',
    'changedRolloutCodec',
    'condition',
    'conditionInput',
    'endpoints',
    'envelope',
    'environmentChangesCodec',
    'environmentCodec',
    'evaluationQuestionCodec',
    'explainedEvaluationCodec',
    'flagChangesCodec',
    'flagCodec',
    'flagSetCodec',
    'flagStateChangesCodec',
    'flagStateCodec',
    'flagViewCodec',
    'inUseCodec',
    'issuedAccessTokenCodec',
    'issuedSdkKeyCodec',
    'memberChangesCodec',
    'memberCodec',
    'newAccessTokenCodec',
    'newEnvironmentCodec',
    'newFlagCodec',
    'newMemberCodec',
    'newOrganizationCodec',
    'newProjectCodec',
    'newPromotionCodec',
    'newRolloutCodec',
    'newSdkKeyCodec',
    'newSegmentCodec',
    'newTargetingRuleCodec',
    'newVariationCodec',
    'noBody',
    'organizationChangesCodec',
    'organizationCodec',
    'pageOf',
    'projectChangesCodec',
    'projectCodec',
    'projectViewCodec',
    'promotedFlagCodec',
    'promotionCodec',
    'record',
    'reorderCodec',
    'restorationCodec',
    'restoredVersionCodec',
    'rolloutChangesCodec',
    'rolloutCodec',
    'rotatedSdkKeyCodec',
    'sdkKeyCodec',
    'sdkKeyRotationCodec',
    'segmentChangesCodec',
    'segmentCodec',
    'segmentKeysCodec',
    'targetingRuleChangesCodec',
    'targetingRuleCodec',
    'targetingRuleViewCodec',
    'userCodec',
    'variationChangesCodec',
    'variationCodec',
    'versionCodec',
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
