import type { Environment, FlagView } from '@ff/protocol/management'
import { lazyRouteComponent } from '@tanstack/react-router'
import { Suspense } from 'react'
import { EnvironmentDot } from '../../components/environment-dot.tsx'
import { Skeleton } from '../../components/states.tsx'
import { Tabs } from '../../components/tabs.tsx'
import { messages } from '../../messages/messages.ts'
import { useConfiguration } from '../../queries/use-queries.ts'
import { useChangedPlaces } from '../../user-drafts/use-user-drafts.ts'
import { ChangedDot } from './editing/changed-mark.tsx'
import { useChangedTabs } from './fields/use-changed-tabs.ts'
import styles from './flag-page.module.css'
import { TargetingPanel } from './targeting-panel.tsx'

const CodeTab = lazyRouteComponent(() => import('./code/code-tab.tsx'), 'CodeTab')
const FlagHistory = lazyRouteComponent(() => import('./history/flag-history.tsx'), 'FlagHistory')
const SettingsTab = lazyRouteComponent(() => import('./settings/settings-tab.tsx'), 'SettingsTab')
const VariationsTab = lazyRouteComponent(
  () => import('./variations/variations-tab.tsx'),
  'VariationsTab',
)

/** A subject of the page. */
export type FlagTab = 'targeting' | 'variations' | 'history' | 'code' | 'settings'

/** The properties of `EnvironmentTabs`. */
export interface EnvironmentTabsProps {
  readonly flag: FlagView
  /** The `ETag` of `flag`. */
  readonly flagEtag: string | undefined
  readonly environments: readonly Environment[]
  readonly environment: Environment
  readonly tab: FlagTab
  readonly onChoose: (search: { readonly env?: string; readonly tab?: FlagTab }) => void
}

const TABS: readonly FlagTab[] = ['targeting', 'variations', 'history', 'code', 'settings']

/** One tab for each environment with its state, and within it one for each subject. */
export function EnvironmentTabs(props: EnvironmentTabsProps) {
  const { flag, environments, environment, tab, onChoose } = props
  const changedTabs: readonly FlagTab[] = useChangedTabs(flag)
  const subjects = (
    <Tabs
      label={messages.flag.subjects}
      selected={tab}
      onSelect={(id) => onChoose({ tab: id as FlagTab })}
      items={TABS.map((id) => ({
        id,
        name: <SubjectName tab={id} isChanged={changedTabs.includes(id)} />,
        content: id === tab && (
          <Suspense fallback={<Skeleton rows={4} />}>
            <Subject {...props} />
          </Suspense>
        ),
      }))}
    />
  )
  return (
    <Tabs
      label={messages.flag.environments}
      selected={environment.key}
      onSelect={(env) => onChoose({ env })}
      items={environments.map((each) => ({
        id: each.key,
        name: <EnvironmentTab flag={flag} environment={each} />,
        content: each.id === environment.id ? subjects : null,
      }))}
    />
  )
}

function Subject({ flag, flagEtag, environment, tab }: EnvironmentTabsProps) {
  switch (tab) {
    case 'targeting':
      return <TargetingPanel flag={flag} environment={environment} />
    case 'variations':
      return <VariationsTab flag={flag} flagEtag={flagEtag} />
    case 'history':
      return <FlagHistory flag={flag} environment={environment} />
    case 'code':
      return <CodeTab flag={flag} environment={environment} />
    case 'settings':
      return <SettingsTab flag={flag} flagEtag={flagEtag} />
  }
}

interface SubjectNameProps {
  readonly tab: FlagTab
  readonly isChanged: boolean
}

function SubjectName({ tab, isChanged }: SubjectNameProps) {
  return (
    <>
      {messages.flag.tabs[tab]}
      {isChanged && <ChangedDot />}
    </>
  )
}

interface EnvironmentTabProps {
  readonly flag: FlagView
  readonly environment: Environment
}

function EnvironmentTab({ flag, environment }: EnvironmentTabProps) {
  const { id: environmentId, name, isProduction } = environment
  const place = { projectId: flag.projectId, environmentId, flagId: flag.id }
  const isActive = useConfiguration(place).data?.data.state.isActive
  const hasDraft = useChangedPlaces().some((each) => {
    return each.flagId === flag.id && each.environmentId === environmentId
  })
  return (
    <>
      <EnvironmentDot name={name} isProduction={isProduction} />
      <span className={isActive ? styles.on : styles.off}>
        {isActive === undefined ? '…' : messages.flag.states[isActive ? 'on' : 'off']}
      </span>
      {hasDraft && <ChangedDot />}
    </>
  )
}
