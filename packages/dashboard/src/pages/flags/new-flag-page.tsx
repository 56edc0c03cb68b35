import type { Environment } from '@ff/protocol/management'
import { useParams } from '@tanstack/react-router'
import { type FormEvent, useEffect, useRef } from 'react'
import { Button } from '../../components/button.tsx'
import { EnvironmentDot } from '../../components/environment-dot.tsx'
import { Page } from '../../components/page.tsx'
import { Select } from '../../components/select.tsx'
import { ErrorState, Skeleton } from '../../components/states.tsx'
import { Switch } from '../../components/switch.tsx'
import { TextField } from '../../components/text-field.tsx'
import { messages } from '../../messages/messages.ts'
import { useProject } from '../../queries/use-queries.ts'
import { useMay } from '../../session/use-session.ts'
import {
  COMMENT_PATH,
  type FlagForm,
  type FlagType,
  keyOf,
  withType,
} from './new-flag/flag-form.ts'
import styles from './new-flag/new-flag.module.css'
import { PartlyCreated } from './new-flag/partly-created.tsx'
import { isOnIn, useNewFlag } from './new-flag/use-new-flag.ts'
import { VariationFields } from './new-flag/variation-fields.tsx'
import { sortedEnvironments } from './table-view.ts'

const texts = messages.newFlag
const TYPES = ['boolean', 'string', 'number', 'json'] as const
const typeOptions = TYPES.map((id) => ({ id, name: messages.flags.types[id] }))

/** The form of a new flag. */
export function NewFlagPage() {
  const { project: projectId } = useParams({ from: '/layout/p/$project/new-flag' })
  const project = useProject(projectId)
  const retry = () => void project.refetch()
  return (
    <Page title={messages.flags.newTitle}>
      {project.data !== undefined ? (
        <Form projectId={projectId} environments={sortedEnvironments(project.data.environments)} />
      ) : project.error !== null ? (
        <ErrorState title={messages.errors.pageFailed} error={project.error} onRetry={retry} />
      ) : (
        <Skeleton />
      )}
    </Page>
  )
}

interface FormProps {
  readonly projectId: string
  readonly environments: readonly Environment[]
}

function Form({ projectId, environments }: FormProps) {
  const state = useNewFlag(projectId, environments)
  const { form, change, issues, partly, isPending } = state
  const { reason } = useMay('flags.write')
  const element = useFirstFault(issues)
  const faultOf = (path: string) => issues.find((issue) => issue.path === path)?.message
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!isPending) void state.submit()
  }
  if (partly !== undefined) {
    const onOpen = () => state.open(partly.flag)
    const onTryAgain = () => void state.tryAgain(partly)
    return <PartlyCreated {...{ partly, isPending, onOpen, onTryAgain }} />
  }
  return (
    <form ref={element} className={styles.form} onSubmit={submit} noValidate>
      <Identity form={form} onChange={change} onForm={state.setForm} faultOf={faultOf} />
      {form.type !== 'boolean' && <VariationFields {...{ form, faultOf }} onChange={change} />}
      <Served form={form} onChange={change} />
      <States form={form} onChange={change} environments={environments} />
      {state.isCommentRequired && (
        <TextField
          label={texts.comment}
          hint={texts.commentHint}
          value={form.comment}
          onChange={(comment) => change({ comment })}
          error={faultOf(COMMENT_PATH)}
          maxLength={1000}
          isRequired
        />
      )}
      {state.error !== undefined && <ErrorState title={texts.failed} error={state.error} />}
      <div>
        <Button type="submit" variant="primary" isPending={isPending} disabledReason={reason}>
          {texts.create}
        </Button>
        {state.isChanged && (
          <Button variant="ghost" onPress={state.discard} isDisabled={isPending}>
            {texts.discard}
          </Button>
        )}
      </div>
    </form>
  )
}

/** Moves the focus to the first field that is not valid. */
function useFirstFault(issues: readonly unknown[]) {
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => {
    if (issues.length === 0) return
    form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }, [issues])
  return form
}

interface PartProps {
  readonly form: FlagForm
  readonly onChange: (changes: Partial<FlagForm>) => void
}

interface IdentityProps extends PartProps {
  readonly onForm: (form: FlagForm) => void
  readonly faultOf: (path: string) => string | undefined
}

function Identity({ form, onChange, onForm, faultOf }: IdentityProps) {
  return (
    <>
      <TextField
        label={texts.name}
        value={form.name}
        onChange={(name) => onChange({ name })}
        error={faultOf('name')}
        maxLength={256}
        isRequired
        autoFocus
      />
      <TextField
        label={texts.key}
        hint={texts.keyHint}
        value={keyOf(form)}
        onChange={(ownKey) => onChange({ ownKey: ownKey === '' ? undefined : ownKey })}
        error={faultOf('key')}
        maxLength={128}
        isMonospace
        isRequired
      />
      <div className={styles.states}>
        <Select
          label={texts.type}
          options={typeOptions}
          value={form.type}
          onChange={(type) => onForm(withType(form, type as FlagType))}
        />
        <p className={styles.hint}>{texts.typeHints[form.type]}</p>
      </div>
    </>
  )
}

function Served({ form, onChange }: PartProps) {
  return (
    <div className={styles.states}>
      <Select
        label={texts.served}
        options={form.variations.map(({ id, key }) => ({ id, name: key }))}
        value={form.servedId}
        onChange={(servedId) => onChange({ servedId })}
      />
      <p className={styles.hint}>{texts.servedHint}</p>
    </div>
  )
}

interface StatesProps extends PartProps {
  readonly environments: readonly Environment[]
}

function States({ form, onChange, environments }: StatesProps) {
  const toggle = (id: string) => {
    const others = form.toggled.filter((each) => each !== id)
    onChange({ toggled: form.toggled.includes(id) ? others : [...others, id] })
  }
  return (
    <fieldset className={styles.states}>
      <legend className={styles.legend}>{texts.states}</legend>
      {environments.map((environment) => (
        <Switch
          key={environment.id}
          isSelected={isOnIn(form, environment)}
          onChange={() => toggle(environment.id)}
        >
          <EnvironmentDot name={environment.name} isProduction={environment.isProduction} />
        </Switch>
      ))}
      <p className={styles.hint}>{texts.statesHint}</p>
    </fieldset>
  )
}
