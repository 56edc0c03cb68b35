import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { Braces, CircleUser, Flag, FlaskConical, History, KeyRound, Users } from 'lucide-react'
import { Button } from '../components/button.tsx'
import { Menu } from '../components/menu.tsx'
import { Select } from '../components/select.tsx'
import { showToast } from '../components/toast.tsx'
import { messages } from '../messages/messages.ts'
import { useOrganizations, useProjects } from '../queries/use-queries.ts'
import { useSession, useSessionState } from '../session/use-session.ts'
import { chooseTheme, type Theme } from '../theme/theme.ts'
import { useTheme } from '../theme/use-theme.ts'
import { keepEnvironment } from './keep-environment.ts'
import styles from './layout.module.css'
import { useLogOut } from './use-log-out.tsx'

const shell = messages.shell
const PAGES = [
  { to: '/p/$project/flags', name: shell.flags, icon: Flag },
  { to: '/p/$project/segments', name: shell.segments, icon: Users },
  { to: '/p/$project/playground', name: shell.playground, icon: FlaskConical },
  { to: '/p/$project/history', name: shell.history, icon: History },
  { to: '/p/$project/settings/keys', name: shell.sdkKeys, icon: KeyRound },
] as const

/** The properties of `SideBarContent`. */
export interface SideBarContentProps {
  /** Called when a page or a project is opened. */
  readonly onOpen: () => void
}

/** The content of the side bar, beside the page and in the sheet. */
export function SideBarContent({ onOpen }: SideBarContentProps) {
  const { project } = useParams({ strict: false })
  return (
    <>
      <Choices project={project} onOpen={onOpen} />
      {project !== undefined && <Pages project={project} onOpen={onOpen} />}
      <Settings />
    </>
  )
}

interface PagesProps extends SideBarContentProps {
  readonly project: string
}

function Pages({ project, onOpen }: PagesProps) {
  const { api } = useSession()
  return (
    <nav aria-label={shell.navigation} className={styles.pages}>
      {PAGES.map(({ to, name, icon: Icon }) => (
        <Link
          key={to}
          to={to}
          params={{ project }}
          search={keepEnvironment}
          activeOptions={{ includeSearch: false }}
          className={styles.link}
          onClick={onOpen}
        >
          <Icon size={16} aria-hidden="true" />
          {name}
        </Link>
      ))}
      <a href={api.docsAddress} className={styles.link} target="_blank" rel="noreferrer">
        <Braces size={16} aria-hidden="true" />
        {shell.apiReference}
      </a>
    </nav>
  )
}

interface ChoicesProps extends SideBarContentProps {
  readonly project: string | undefined
}

function Choices({ project, onOpen }: ChoicesProps) {
  const session = useSession()
  const organizationId = useSessionState().organizationId
  const organizations = useOrganizations()
  const projects = useProjects()
  const navigate = useNavigate()
  const chooseOrganization = async (id: string) => {
    await session.selectOrganization(id)
    await navigate({ to: '/' })
    onOpen()
  }
  const chooseProject = async (id: string) => {
    await navigate({ to: '/p/$project/flags', params: { project: id }, search: keepEnvironment })
    onOpen()
  }
  return (
    <div className={styles.choices}>
      {organizations.length > 1 && (
        <Select
          label={shell.organization}
          options={organizations}
          value={organizationId}
          placeholder={shell.chooseOrganization}
          onChange={chooseOrganization}
        />
      )}
      {organizationId !== null && (
        <Select
          label={shell.project}
          options={projects.data?.map(({ id, name }) => ({ id, name })) ?? []}
          value={project ?? null}
          placeholder={shell.chooseProject}
          onChange={chooseProject}
        />
      )}
    </div>
  )
}

function Settings() {
  const session = useSession()
  const { logIn } = useSessionState()
  const theme = useTheme()
  const leave = () => void session.logOut().catch(() => showToast(messages.session.logOutFailed))
  const logOut = useLogOut(leave)
  const { name = '', email = '' } = logIn?.user ?? {}
  const account = name || email || messages.session.account
  const action = { id: 'logOut', name: messages.session.logOut, onAction: logOut.ask }
  return (
    <div className={styles.settings}>
      <Select
        label={shell.theme}
        value={theme}
        onChange={(id) => chooseTheme(id as Theme)}
        options={[
          { id: 'system', name: shell.themeSystem },
          { id: 'light', name: shell.themeLight },
          { id: 'dark', name: shell.themeDark },
        ]}
      />
      <Menu
        label={messages.session.account}
        trigger={
          <Button variant="ghost">
            <CircleUser size={16} aria-hidden="true" />
            <bdi className={styles.account}>{account}</bdi>
          </Button>
        }
        actions={[{ ...action, isDisabled: logIn?.csrfToken == null }]}
      />
      {logOut.question}
    </div>
  )
}
