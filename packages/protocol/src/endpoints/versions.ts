import { pageOf } from '../envelope.ts'
import { record } from '../record.ts'
import { evaluationQuestionCodec, explainedEvaluationCodec } from '../resources/explanation.ts'
import { flagSetCodec } from '../resources/flag-set.ts'
import { restorationCodec, versionCodec } from '../resources/version.ts'
import {
  creating,
  type Endpoint,
  environmentParams,
  inEnvironment,
  noBody,
  noQuery,
  pageQuery,
  pathNames,
  reading,
  wholeNumber,
} from './endpoint.ts'

const ENVIRONMENT = '/projects/{projectId}/envs/{envId}'
const VERSIONS = `${ENVIRONMENT}/versions` as const
const versionParams = record(
  { ...inEnvironment, version: wholeNumber(1, 2_147_483_647) },
  pathNames,
)

export const versionEndpoints = {
  listVersions: {
    ...reading,
    path: VERSIONS,
    params: environmentParams,
    query: pageQuery,
    response: pageOf(versionCodec),
  },
  getVersion: {
    ...reading,
    path: `${VERSIONS}/{version}`,
    params: versionParams,
    query: noQuery,
    response: flagSetCodec,
  },
  restoreVersion: {
    ...creating,
    path: `${VERSIONS}/{version}/restore`,
    params: versionParams,
    body: noBody,
    status: 200,
    response: restorationCodec,
  },
  /** Writes nothing and counts nothing: a question too long for a query. */
  explainEvaluation: {
    ...reading,
    method: 'POST',
    path: `${ENVIRONMENT}/evaluate`,
    params: environmentParams,
    query: noQuery,
    body: evaluationQuestionCodec,
    response: explainedEvaluationCodec,
  },
} as const satisfies Record<string, Endpoint>
