import { Button } from '../../components/button.tsx'
import { Page } from '../../components/page.tsx'
import { EmptyState, ErrorState, Skeleton } from '../../components/states.tsx'
import { showToast } from '../../components/toast.tsx'
import { messages } from '../../messages/messages.ts'
import { useAllOrganizations, useOrganizations } from '../../queries/use-queries.ts'
import { useApi, useSession, useSessionState } from '../../session/use-session.ts'
import styles from './projects.module.css'

/** The choice of an organization, for a user who has not selected one. */
export function OrganizationChoice() {
  const isPlatform = useSessionState().logIn?.user.role === 'platform'
  const shell = messages.shell
  const all = useAllOrganizations(isPlatform)
  if (all.isError) {
    const title = messages.errors.loadFailed(shell.organizations)
    return (
      <Page title={shell.chooseOrganization}>
        <ErrorState title={title} error={all.error} onRetry={() => all.refetch()} />
      </Page>
    )
  }
  return (
    <Page title={shell.chooseOrganization}>
      {isPlatform && all.data === undefined ? <Skeleton /> : <Organizations />}
    </Page>
  )
}

function Organizations() {
  const session = useSession()
  const organizations = useOrganizations()
  const select = (id: string) =>
    void session
      .selectOrganization(id)
      .catch(() => showToast(messages.errors.loadFailed(messages.shell.organizations)))
  if (organizations.length === 0) return <NoOrganization />
  return (
    <ul className={styles.list}>
      {organizations.map(({ id, name }) => (
        <li key={id}>
          <Button onPress={() => select(id)}>
            <bdi className={styles.name}>{name}</bdi>
          </Button>
        </li>
      ))}
    </ul>
  )
}

function NoOrganization() {
  const api = useApi()
  const session = messages.session
  const shell = messages.shell
  const isPlatform = useSessionState().logIn?.user.role === 'platform'
  const sentence = isPlatform ? session.noOrganizations : session.noOrganization
  return (
    <EmptyState
      sentence={sentence}
      action={
        <a href={api.docsAddress} target="_blank" rel="noreferrer">
          {shell.apiReference}
        </a>
      }
    />
  )
}
