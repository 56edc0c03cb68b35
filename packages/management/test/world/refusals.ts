import { type Endpoint, type EndpointName, endpoints } from '@ff/protocol/management'
import { expect } from 'vitest'
import { KEYS, NAMES } from './scene.ts'
import type { Answer } from './world.ts'

/** The endpoint table with its general type. */
export const table: Readonly<Record<EndpointName, Endpoint>> = endpoints
/** The endpoints with a body that has fields. */
export const WITH_BODY = NAMES.filter(
  (name) => table[name].body.def.type !== 'undefined' && !table[name].rawBody,
)
/** The endpoints with the method GET. */
export const READS = NAMES.filter((name) => table[name].method === 'GET')
/** The endpoints that require authentication. */
export const GUARDED = NAMES.filter((name) => table[name].permission !== 'anyone')
/** The endpoints that concern the actor and not the data of an organization. */
export const PERSONAL = NAMES.filter((name) => /^(anyone|oneself)$/.test(table[name].permission))
/** The endpoints that ignore unknown query parameters, because another party defines the query. */
export const OPEN_QUERIES: readonly EndpointName[] = ['finishOidcLogIn']
/** The path parameters that accept a key in the path of a project. */
export const KEYED_PARAMS: readonly string[] = Object.keys(KEYS)
/** Names of members of JavaScript prototypes. */
export const PROTOTYPE_NAMES = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
] as const

/** Matches text that reveals internals of the server. */
const INTERNALS = /\bat \/|node_modules|\.ts:|sqlite|\bselect\b|TypeError|\[object/i
const LONGEST_ANSWER = 4000

/** Asserts one of `statuses` and a short response that reveals no internals. */
export function expectRefused(
  answer: Answer,
  what: unknown,
  statuses: readonly number[] = [400],
): void {
  expect([what, answer.status]).toEqual([what, expect.toBeOneOf([...statuses])])
  expect(answer.text.length).toBeLessThan(LONGEST_ANSWER)
  expect(answer.text).not.toMatch(INTERNALS)
}

/** Returns the parameter names in an endpoint's path. */
export function paramsIn(name: EndpointName): readonly string[] {
  return [...table[name].path.matchAll(/\{(\w+)\}/g)].map(([, param = '']) => param)
}
