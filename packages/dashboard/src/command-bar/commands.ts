import type { Environment, FlagSummary } from '@ff/protocol/management'
import { messages } from '../messages/messages.ts'
import { matches, type Question } from './question.ts'

const commandBar = messages.commandBar
const shell = messages.shell

/** What a command does, as data. */
export type CommandTarget =
  | { readonly kind: 'page'; readonly to: ProjectPage }
  | { readonly kind: 'environment'; readonly environment: Environment }
  | { readonly kind: 'flag'; readonly flag: FlagSummary }
  | {
      readonly kind: 'switch'
      readonly flag: FlagSummary
      readonly environment: Environment
      /** The state before. */
      readonly isActive: boolean
    }
  | { readonly kind: 'why'; readonly key: string }
  | { readonly kind: 'theme'; readonly theme: 'system' | 'light' | 'dark' }

/** A page of a project that the command bar can open. */
export type ProjectPage = (typeof PAGES)[number]['to']

/** One line of the command bar. */
export interface Command {
  readonly id: string
  readonly group: string
  readonly name: string
  /** A second name, such as the key of a flag. */
  readonly detail: string
  readonly target: CommandTarget
}

/** What commands are made from. */
export interface CommandSource {
  /** Without a project, there are only settings. */
  readonly hasProject: boolean
  readonly environments: readonly Environment[]
  /** The flags that the server has found. */
  readonly flags: readonly FlagSummary[]
  readonly maySwitch: boolean
}

const PAGES = [
  { to: '/p/$project/flags', name: shell.flags },
  { to: '/p/$project/segments', name: shell.segments },
  { to: '/p/$project/playground', name: shell.playground },
  { to: '/p/$project/history', name: shell.history },
  { to: '/p/$project/settings/keys', name: shell.sdkKeys },
  { to: '/p/$project/new-flag', name: '' },
] as const
const THEMES = [
  ['system', shell.themeSystem],
  ['light', shell.themeLight],
  ['dark', shell.themeDark],
] as const
/** The maximum number of commands. */
const MOST = 12

/** Returns the commands for a question, the best first. */
export function commandsFor(question: Question, source: CommandSource): readonly Command[] {
  if (question.kind === 'why') return source.hasProject ? [whyCommand(question.key)] : []
  if (question.kind === 'switch') return switchCommands(question, source).slice(0, MOST)
  const { text } = question
  const fixed = fixedCommands(source).filter(({ name, group }) => matches(text, `${name} ${group}`))
  return [...flagCommands(text, source), ...fixed].slice(0, MOST)
}

function whyCommand(key: string): Command {
  const { groups, why } = commandBar
  return { id: 'why', group: groups.why, name: why(key), detail: '', target: { kind: 'why', key } }
}

function flagCommands(text: string, { flags }: CommandSource): readonly Command[] {
  if (text === '') return []
  const starts = ({ key, name }: FlagSummary) =>
    [key, name].some((each) => each.toLowerCase().startsWith(text.toLowerCase())) ? 0 : 1
  const found = flags.toSorted((one, other) => starts(one) - starts(other))
  return found.map((flag) => ({
    id: `flag ${flag.id}`,
    group: commandBar.groups.flag,
    name: flag.name,
    detail: flag.key,
    target: { kind: 'flag', flag },
  }))
}

function switchCommands(
  { isActive, environment: start }: Extract<Question, { kind: 'switch' }>,
  { flags, environments, maySwitch }: CommandSource,
): readonly Command[] {
  if (!maySwitch) return []
  const places = environments.filter(({ key, name }) => matches(start, `${key} ${name}`))
  return flags.flatMap((flag) =>
    places.flatMap((environment) => {
      const state = flag.environments.find((each) => each.environmentId === environment.id)
      if (state === undefined || state.isActive === isActive) return []
      const name = isActive ? commandBar.switchOn : commandBar.switchOff
      return {
        id: `switch ${flag.id} ${environment.id}`,
        group: commandBar.groups.switch,
        name: name(flag.name, environment.name),
        detail: flag.key,
        target: { kind: 'switch', flag, environment, isActive: state.isActive } as const,
      }
    }),
  )
}

function fixedCommands({ hasProject, environments }: CommandSource): readonly Command[] {
  const { groups } = commandBar
  const pages = PAGES.map(({ to, name }) => ({
    id: to,
    group: groups.page,
    name: name === '' ? commandBar.newFlag : commandBar.goTo(name),
    detail: '',
    target: { kind: 'page', to } as const,
  }))
  const places = environments.map((environment) => ({
    id: environment.id,
    group: groups.environment,
    name: commandBar.environment(environment.name),
    detail: environment.key,
    target: { kind: 'environment', environment } as const,
  }))
  const themes = THEMES.map(([theme, name]) => ({
    id: `theme ${theme}`,
    group: groups.setting,
    name: commandBar.theme(name),
    detail: '',
    target: { kind: 'theme', theme } as const,
  }))
  return [...(hasProject ? [...pages, ...places] : []), ...themes]
}
