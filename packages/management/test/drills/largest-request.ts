import { type EndpointName, endpoints } from '@ff/protocol/management'
import type { Json } from '../world/world.ts'
import type { LargeEnvironment } from './large-environment.ts'

/** A complete request. */
export interface LargestRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array | undefined
}

/** The records that the requests refer to, and a function to create more records. */
export interface BodyScene extends LargeEnvironment {
  /** Sends a request. Returns the `data` of the response. */
  readonly ask: (request: LargestRequest) => Promise<Json>
}

/** The content of a request. The scene provides the path parameters that are absent. */
interface Sent {
  readonly body?: Json
  readonly params?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
}

/** The largest accepted request to one endpoint. */
export interface LargestCase {
  readonly name: string
  /** A name from the endpoint table or a path of the SDK endpoints. */
  readonly endpoint: EndpointName | `/${string}`
  /** Creates the request of an attempt. Each attempt makes a different change. */
  readonly send: (scene: BodyScene, attempt: number) => Promise<LargestRequest>
}

const encoder = new TextEncoder()
const encode = (body: Json) =>
  encoder.encode(typeof body === 'string' ? body : JSON.stringify(body))

/** Returns a request to an endpoint of the endpoint table. */
function requestTo(scene: BodyScene, name: EndpointName, sent: Sent): LargestRequest {
  const { tenant, flagId, segmentId, rolloutId } = scene
  const params: Readonly<Record<string, string>> = {
    ...{ orgId: tenant.orgId, projectId: tenant.project.id, envId: tenant.live.id },
    ...{ flagId, segmentId, rolloutId, ruleId: scene.ruleIds[0] ?? '' },
    ...{ variationId: scene.variationIds[1] ?? '', ...sent.params },
  }
  const { method, path, permission } = endpoints[name]
  const isPlatform = permission === 'plans.write' || permission === 'organizations.create'
  const token = isPlatform ? tenant.tokens.platform : tenant.tokens.owner
  const isOpen = permission === 'anyone'
  return {
    method,
    path: path.replace(/\{(\w+)\}/g, (_, param: string) => params[param] ?? ''),
    headers: {
      'content-type': 'application/json',
      ...(!isOpen && { authorization: `Bearer ${token}` }),
      ...sent.headers,
    },
    body: sent.body === undefined ? undefined : encode(sent.body),
  }
}

/** Creates a record that another request needs. Returns the `data` of the response. */
export async function made(scene: BodyScene, name: EndpointName, sent: Sent): Promise<Json> {
  return scene.ask(requestTo(scene, name, sent))
}

/** Creates the content of the request of an attempt. */
type Make = (scene: BodyScene, attempt: number) => Sent | Promise<Sent>

/** Returns the case of an endpoint of the endpoint table. */
export function to(endpoint: EndpointName, make: Make, name: string = endpoint): LargestCase {
  const send: LargestCase['send'] = async (scene, attempt) =>
    requestTo(scene, endpoint, await make(scene, attempt))
  return { name, endpoint, send }
}

/** Returns the case of an SDK endpoint. */
export function toSdk(
  path: `/${string}`,
  make: (scene: BodyScene, attempt: number) => Json,
): LargestCase {
  const send: LargestCase['send'] = async (scene, attempt) => {
    const headers = { 'content-type': 'application/json', 'x-api-key': scene.sdkKey }
    return { method: 'POST', path, headers, body: encode(make(scene, attempt)) }
  }
  return { name: path, endpoint: path, send }
}
