import { compileFlagSet } from '@ff/core'
import { evaluateAll, valuesOf } from '@ff/core/all-flags'
import type { Environment } from '@ff/protocol/management'
import { type Answer, addressesOf, type Json, World } from '../world/world.ts'

/**
 * Creates a world with a flag of three variations, and functions that edit, promote and evaluate
 * the flag in the environments `staging` and `live`.
 */
export async function createPromotionScene() {
  const world = await World.create()
  const tenant = await world.addTenant('Acme')
  const as = (method: string, path: string, body?: Json): Promise<Answer> =>
    world.call(method, path, { token: tenant.tokens.editor, body })
  const variations = ['x', 'y', 'z'].map((key) => ({ key, value: key }))
  const body = { key: 'theme', type: 'string', variations }
  const flag: Json = (await as('POST', addressesOf(tenant).flags, body)).data

  /** Returns the path of the flag in an environment. */
  const at = (environment: Environment, path = '') =>
    `/projects/${tenant.project.id}/envs/${environment.id}/flags/${flag.id}${path}`
  const promote = (fields: Json = {}) => {
    const environments = { from_env_id: tenant.staging.id, to_env_id: tenant.live.id }
    return as('POST', `${addressesOf(tenant).flag(flag.id)}/promote`, {
      ...environments,
      ...fields,
    })
  }
  const idOf = (key: string) => flag.variations.find((each: Json) => each.key === key).id
  const addRollout = async (environment: Environment, fields: Json = {}): Promise<Json> => {
    const half = { strategy: 'percentage', variation_id: idOf('y'), percentage: 50 }
    const rollout = { name: 'Half', ...half, ...fields }
    return (await as('POST', at(environment, '/rollouts'), rollout)).data
  }
  const addRule = async (environment: Environment, fields: Json = {}): Promise<Json> => {
    const rule = { name: 'Everybody', conditions: [], ...fields }
    return (await as('POST', at(environment, '/targeting-rules'), rule)).data
  }
  const listed = async (environment: Environment, what: string): Promise<Json[]> =>
    (await as('GET', at(environment, `/${what}?limit=100`))).data.data
  const answersIn = (environment: Environment) => answersOf(world, environment)
  return { world, tenant, flag, as, at, promote, idOf, addRollout, addRule, listed, answersIn }
}

async function answersOf(world: World, { id }: Environment) {
  const definition = await world.storage.loadFlagSet(id)
  if (definition === undefined) throw new Error('nothing is published')
  const flagSet = compileFlagSet(definition)
  return Array.from({ length: 200 }, (_, index) => {
    const context = { kind: 'user', key: `user-${index}`, plan: ['pro', 'free'][index % 2] ?? '' }
    return { ...valuesOf(evaluateAll(flagSet, context, world.clock.now())) }
  })
}
