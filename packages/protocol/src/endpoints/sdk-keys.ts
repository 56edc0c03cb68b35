import { pageOf } from '../envelope.ts'
import { record } from '../record.ts'
import {
  issuedSdkKeyCodec,
  newSdkKeyCodec,
  sdkKeyCodec,
  sdkKeyRotationCodec,
} from '../resources/sdk-key.ts'
import { id } from '../scalars.ts'
import {
  creating,
  deleting,
  type Endpoint,
  environmentParams,
  inEnvironment,
  pathNames,
  reading,
  searchQuery,
} from './endpoint.ts'
import { ENVIRONMENT } from './environments.ts'

const SDK_KEYS = `${ENVIRONMENT}/sdk-keys` as const
const sdkKeyParams = record({ ...inEnvironment, keyId: id }, pathNames)
const permission = 'projects.write'

export const sdkKeyEndpoints = {
  listSdkKeys: {
    ...reading,
    path: SDK_KEYS,
    params: environmentParams,
    query: searchQuery,
    response: pageOf(sdkKeyCodec),
  },
  createSdkKey: {
    ...creating,
    permission,
    path: SDK_KEYS,
    params: environmentParams,
    body: newSdkKeyCodec,
    response: issuedSdkKeyCodec,
  },
  /** Ends the key at once; it stays in lists. */
  revokeSdkKey: { ...deleting, permission, path: `${SDK_KEYS}/{keyId}`, params: sdkKeyParams },
  rotateSdkKey: {
    ...creating,
    permission,
    path: `${SDK_KEYS}/{keyId}/rotate`,
    params: sdkKeyParams,
    body: sdkKeyRotationCodec,
    response: issuedSdkKeyCodec,
  },
} as const satisfies Record<string, Endpoint>
