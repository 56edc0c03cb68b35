import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useFlagSwitch } from '../flag-switch/flag-switch-context.ts'
import { offerContextKey } from '../pages/playground/playground-context.ts'
import { queryKeys } from '../queries/query-keys.ts'
import { useProject } from '../queries/use-queries.ts'
import { useApi } from '../session/use-session.ts'
import { chooseTheme } from '../theme/theme.ts'
import { type Command, type CommandTarget, commandsFor } from './commands.ts'
import { parseQuestion } from './question.ts'

const MOST_FLAGS = 8

/** The commands for a text. */
export interface FoundCommands {
  readonly commands: readonly Command[]
  /** `true` while the flags are searched. */
  readonly isSearching: boolean
  readonly hasFailed: boolean
}

/** Returns the commands for the text of the command bar. */
export function useCommands(text: string): FoundCommands {
  const { project = '' } = useParams({ strict: false })
  const environments = useProject(project).data?.environments ?? []
  const { refusal } = useFlagSwitch()
  const question = parseQuestion(text)
  const search =
    question.kind === 'switch' ? question.flag : question.kind === 'find' ? question.text : ''
  const found = useFoundFlags(project, search)
  const flags = search === '' ? [] : (found.data ?? [])
  const source = { environments, flags, maySwitch: refusal === undefined }
  const commands = commandsFor(question, { ...source, hasProject: project !== '' })
  return { commands, isSearching: found.isFetching, hasFailed: found.isError }
}

function useFoundFlags(projectId: string, text: string) {
  const api = useApi()
  const search = text.slice(0, 256)
  return useQuery({
    queryKey: [...queryKeys.flagSummaries(projectId), 'commands', search],
    enabled: projectId !== '' && search !== '',
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const query = { search, archived: false, limit: MOST_FLAGS }
      const input = { params: { projectId }, query, signal }
      return (await api.call('listFlagSummaries', input)).data.data
    },
  })
}

/** Returns a function that does what a command says. */
export function useRunCommand(): (target: CommandTarget) => void {
  const { project = '' } = useParams({ strict: false })
  const navigate = useNavigate()
  const { ask } = useFlagSwitch()
  const params = { project }
  return (target) => {
    switch (target.kind) {
      case 'page':
        return void navigate({ to: target.to, params })
      case 'environment':
        return void navigate({
          to: '/p/$project/flags',
          params,
          search: { env: target.environment.key },
        })
      case 'flag':
        return void navigate({
          to: '/p/$project/flags/$flag',
          params: { project, flag: target.flag.id },
        })
      case 'switch':
        return ask(target)
      case 'why':
        offerContextKey(target.key)
        return void navigate({ to: '/p/$project/playground', params })
      case 'theme':
        return chooseTheme(target.theme)
    }
  }
}
