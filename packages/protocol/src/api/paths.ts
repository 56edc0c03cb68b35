import type * as z from 'zod'
import { camelCaseRecord } from './record.ts'
import { id, idOrKey, wholeNumber } from './scalars.ts'

/** The path of one organization. */
export const ORGANIZATION = '/organizations/{orgId}'
/** The path of one project. */
export const PROJECT = '/projects/{projectId}'
/** The path of one environment. */
export const ENVIRONMENT = `${PROJECT}/envs/{envId}` as const
/** The path of the flags of a project. */
export const FLAGS = `${PROJECT}/flags` as const
/** The path of one flag. */
export const FLAG = `${FLAGS}/{flagId}` as const
/** The path of the state of one flag in one environment. */
export const FLAG_STATE = `${ENVIRONMENT}/flags/{flagId}` as const

/**
 * The parameters in the braces of a path: `version` is a number, all others are ids. A resource of
 * a project, and the project itself, can also be named by its key.
 */
export type PathParams<Path extends string> = {
  [Name in ParamIn<Path> as Name extends 'envId' ? 'environmentId' : Name]: Name extends 'version'
    ? number
    : string
}

type ParamIn<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamIn<Rest>
  : never

/** Returns the codec of the parameters of a path. */
export function pathParams<Path extends string>(path: Path): z.ZodType<PathParams<Path>> {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const isInProject = names.includes('projectId')
  const shape = names.map((name) => [
    name === 'envId' ? 'environmentId' : name,
    (isInProject ? NAMED_BY_KEY[name] : undefined) ?? paramOf(name),
  ])
  return camelCaseRecord(Object.fromEntries(shape), { environmentId: 'envId' }) as never
}

/** The parameters of resources that have a key. Only a project has a key outside of a project. */
const NAMED_BY_KEY: Readonly<Record<string, z.ZodType>> = {
  projectId: named('project'),
  envId: named('environment'),
  flagId: named('flag'),
  segmentId: named('segment'),
}

function named(resource: string) {
  return idOrKey.meta({ description: `The id or the key of the ${resource}.` })
}

function paramOf(name: string): z.ZodType {
  return name === 'version' ? wholeNumber(1, 2_147_483_647) : id
}
