import { type Endpoint, type EndpointName, endpoints } from '@ff/protocol/management'
import { expect } from 'vitest'
import { NAMES } from './scene.ts'
import type { Answer } from './world.ts'

export const table: Readonly<Record<EndpointName, Endpoint>> = endpoints
/** Those whose bodies have fields. */
export const WITH_BODY = NAMES.filter(
  (name) => table[name].body.def.type !== 'undefined' && !table[name].rawBody,
)
export const READS = NAMES.filter((name) => table[name].method === 'GET')
/** Those that ask for credentials. */
export const GUARDED = NAMES.filter((name) => table[name].permission !== 'anyone')
/** Those about nothing but who asks: not about what an organization has. */
export const PERSONAL = NAMES.filter((name) => /^(anyone|oneself)$/.test(table[name].permission))
/** Those whose query is another's, who may add to it; of that, nothing is taken over. */
export const OPEN_QUERIES: readonly EndpointName[] = ['finishOidcLogIn']
export const PROTOTYPE_NAMES = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
] as const

/** What a word of the inside of a server looks like. */
const INTERNALS = /\bat \/|node_modules|\.ts:|sqlite|\bselect\b|TypeError|\[object/i
const LONGEST_ANSWER = 4000

/** One of these statuses, in few words, none of them from the inside. */
export function expectRefused(
  answer: Answer,
  what: unknown,
  statuses: readonly number[] = [400],
): void {
  expect([what, answer.status]).toEqual([what, expect.toBeOneOf([...statuses])])
  expect(answer.text.length).toBeLessThan(LONGEST_ANSWER)
  expect(answer.text).not.toMatch(INTERNALS)
}

/** The parameters that stand in an endpoint's path. */
export function paramsIn(name: EndpointName): readonly string[] {
  return [...table[name].path.matchAll(/\{(\w+)\}/g)].map(([, param = '']) => param)
}
