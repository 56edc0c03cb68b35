import type { Environment, FlagSummary } from '@ff/protocol/management'
import { describe, expect, it } from 'vitest'
import { commandsFor } from './commands.ts'
import { matches, parseQuestion } from './question.ts'

const place = (id: string, name: string) => ({ id, key: id, name }) as Environment
const environments = [place('live', 'Live'), place('staging', 'Staging')]
const flag = (key: string, active: readonly string[]) =>
  ({
    id: key,
    key,
    name: key,
    environments: environments.map(({ id }) => ({
      environmentId: id,
      isActive: active.includes(id),
    })),
  }) as unknown as FlagSummary
const source = { hasProject: true, environments, flags: [] as FlagSummary[], maySwitch: true }

describe('the question in the command bar', () => {
  it('"why" asks about the whole rest of the text.', () => {
    expect(parseQuestion('why user 42 in live')).toEqual({ kind: 'why', key: 'user 42 in live' })
    expect(parseQuestion('why')).toEqual({ kind: 'find', text: 'why' })
  })

  it('A switch names a flag, and optionally an environment after the last "in".', () => {
    expect(parseQuestion('switch off checkout')).toMatchObject({
      flag: 'checkout',
      environment: '',
    })
    expect(parseQuestion('Switch ON sign in page in live')).toEqual({
      kind: 'switch',
      isActive: true,
      flag: 'sign in page',
      environment: 'live',
    })
  })

  it('Every word must be the start of a word.', () => {
    expect(matches('go pl', 'Go to Playground')).toBe(true)
    expect(matches('ground', 'Go to Playground')).toBe(false)
  })
})

describe('the commands', () => {
  const names = (text: string, flags: FlagSummary[] = []) =>
    commandsFor(parseQuestion(text), { ...source, flags }).map(({ name }) => name)

  it('Only environments in the other state are offered for a switch.', () => {
    const flags = [flag('checkout', ['live'])]
    expect(names('switch off check', flags)).toEqual(['Switch off checkout in Live'])
    expect(names('switch on check', flags)).toEqual(['Switch on checkout in Staging'])
    expect(names('switch off check in stag', flags)).toEqual([])
  })

  it('Without the permission, there is no command that switches.', () => {
    const question = parseQuestion('switch off check')
    const flags = [flag('checkout', ['live'])]
    expect(commandsFor(question, { ...source, flags, maySwitch: false })).toEqual([])
  })

  it('Flags whose name begins with the text come before the others.', () => {
    expect(names('pay', [flag('old-pay', []), flag('pay-later', [])])).toEqual([
      'pay-later',
      'old-pay',
    ])
  })

  it('Without a project, there are only the settings.', () => {
    const found = commandsFor(parseQuestion(''), { ...source, hasProject: false })
    expect(new Set(found.map(({ target }) => target.kind))).toEqual(new Set(['theme']))
  })
})
